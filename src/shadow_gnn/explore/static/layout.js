// Places of the nodes of a scope: targets in the middle, a ring for each hop, ordered so that few edges cross.
// Not for: drawing. The rules are those of the static pictures (studies/analysis/scope_drawing.py).

const SWEEPS = 24;
const BAND = 0.62;

/**
 * Return {places: [{x, y, ring, angle}], edges: [outer radius of each ring]} in units in which the drawing has radius 1.
 * nodes: [{hop, score}], edges: [{source, target}] as positions in nodes; hints: wanted angle by position, or undefined;
 * sizes: radius of each node in the same units, to keep nodes apart.
 */
export function ringLayout(nodes, edges, { hints = [], sizes = [] } = {}) {
  const rings = ringsOf(nodes);
  const angle = angles(nodes, edges, rings, hints);
  const outer = ringEdges(rings, nodes.length);
  const places = new Array(nodes.length);
  rings.forEach((ring, number) => {
    const order = [...ring].sort((a, b) => (nodes[b].score ?? 0) - (nodes[a].score ?? 0) || a - b);
    order.forEach((node, rank) => {
      const even = number === 0 ? (ring.length === 1 ? 0 : 0.25) : number + BAND * ((rank + 0.5) / ring.length - 0.5);
      const radius = warped(even, outer);
      const x = radius * Math.cos(angle[node]);
      const y = radius * Math.sin(angle[node]);
      places[node] = { x, y, ring: number, angle: angle[node], radius };
    });
  });
  if (sizes.length) keepApart(places, sizes, outer);
  return { places, edges: outer };
}

/** Move nodes outward within their ring until they do not touch a node further in; where a ring is full they stay. */
function keepApart(places, sizes, outer) {
  const order = places.map((_, node) => node).sort((a, b) => places[a].radius - places[b].radius || a - b);
  const done = [];
  for (const node of order) {
    const place = places[node];
    const start = place.radius;
    const end = outer[place.ring] - sizes[node];
    const touches = () =>
      done.some(
        (other) =>
          Math.hypot(places[other].x - place.x, places[other].y - place.y) < 1.15 * (sizes[other] + sizes[node]),
      );
    for (let step = 1; place.ring > 0 && touches(); step++) {
      const radius = start + step * 0.5 * sizes[node];
      place.radius = radius > end ? start : radius;
      place.x = place.radius * Math.cos(place.angle);
      place.y = place.radius * Math.sin(place.angle);
      if (radius > end) break;
    }
    done.push(node);
  }
}

function ringsOf(nodes) {
  const rings = Array.from({ length: 1 + Math.max(0, ...nodes.map((node) => node.hop)) }, () => []);
  nodes.forEach((node, place) => rings[node.hop].push(place));
  return rings;
}

function angles(nodes, edges, rings, hints) {
  const angle = new Float64Array(nodes.length);
  const ringOf = new Int32Array(nodes.length);
  rings.forEach((ring, number) => {
    ring.forEach((node, rank) => {
      ringOf[node] = number;
      angle[node] = hints[node] ?? even(rank, ring.length);
    });
  });
  // Neighbors on the same ring or an inner one count; outer ones follow.
  const pulls = [];
  for (const { source, target } of edges) {
    if (ringOf[source] <= ringOf[target]) pulls.push([target, source]);
    if (ringOf[target] <= ringOf[source]) pulls.push([source, target]);
  }
  const x = new Float64Array(nodes.length);
  const y = new Float64Array(nodes.length);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    nodes.forEach((_, node) => {
      const own = hints[node] === undefined ? angle[node] : hints[node];
      const weight = hints[node] === undefined ? 0.5 : 50;
      x[node] = weight * Math.cos(own);
      y[node] = weight * Math.sin(own);
    });
    for (const [node, other] of pulls) {
      x[node] += Math.cos(angle[other]);
      y[node] += Math.sin(angle[other]);
    }
    for (const ring of rings.slice(1)) sortRing(ring, angle, x, y);
  }
  return angle;
}

/** Spread a ring evenly in the order of the wanted angles, and turn it to fit them. */
function sortRing(ring, angle, x, y) {
  const wanted = new Map(ring.map((node) => [node, Math.atan2(y[node], x[node])]));
  const order = [...ring].sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
  let sine = 0;
  let cosine = 0;
  order.forEach((node, rank) => {
    const off = wanted.get(node) - even(rank, order.length);
    sine += Math.sin(off);
    cosine += Math.cos(off);
  });
  const turn = Math.atan2(sine, cosine);
  order.forEach((node, rank) => {
    angle[node] = even(rank, order.length) + turn;
  });
}

const even = (rank, count) => -Math.PI + (2 * Math.PI * rank) / count;

/** Return the outer radius of each ring, the last one 1: rings with more nodes are wider. */
function ringEdges(rings, count) {
  let sum = 0;
  const outer = rings.map((ring, number) => (sum += number === 0 ? 0.3 : 0.3 + Math.sqrt(ring.length / count)));
  return outer.map((radius) => radius / sum);
}

/** Move a radius from rings of width 1 to those of the given outer radii. */
function warped(radius, outer) {
  const number = Math.floor(radius + 0.5);
  const inner = number === 0 ? 0 : outer[number - 1];
  const from = number === 0 ? 0 : number - 0.5;
  const width = number === 0 ? 0.5 : 1;
  return inner + ((radius - from) / width) * (outer[Math.min(number, outer.length - 1)] - inner);
}
