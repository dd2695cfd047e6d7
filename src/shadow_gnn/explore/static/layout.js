// Places of the nodes of a scope: targets in the middle, a ring for each hop, ordered so that few edges cross.
// Not for: drawing, or keeping nodes apart (settle.js). The static pictures have the same rules (studies/drawing/rings.py).

import { settle } from "./settle.js";

const SWEEPS = 24;
const BAND = 0.76;
const LEAST_WIDTH = 0.12;
const MARGIN = 0.02;
const LEAST_REACH = 0.3;

/**
 * Return {places: [{x, y, ring, angle, radius}], edges: [outer radius of each ring], sizes} in units in which the
 * drawing has radius 1. nodes: [{hop, score}], edges: [{source, target}] as positions in nodes; hints: wanted angle by
 * position, or undefined; sizes: radius of each node in the same units: no two nodes touch, and where a ring is too
 * full all become smaller; held: {x, y} by position of nodes that stay where they are, or undefined.
 */
export function ringLayout(nodes, edges, { hints = [], sizes = [], held = [] } = {}) {
  const rings = ringsOf(nodes);
  const angle = angles(nodes, edges, rings, hints);
  const outer = ringEdges(rings, nodes.length);
  const places = new Array(nodes.length);
  rings.forEach((ring, number) => {
    const order = [...ring].sort((a, b) => (nodes[b].score ?? 0) - (nodes[a].score ?? 0) || a - b);
    order.forEach((node, rank) => {
      const even = number === 0 ? (ring.length === 1 ? 0 : 0.25) : number + BAND * ((rank + 0.5) / ring.length - 0.5);
      places[node] = { ring: number, angle: angle[node], radius: warped(even, outer), held: held[node] };
    });
  });
  const settled = sizes.length ? settle(places, sizes, outer) : sizes;
  places.forEach((place) => put(place));
  if (sizes.length) outer[outer.length - 1] = reachOf(places, settled);
  return { places, edges: outer, sizes: settled };
}

function put(place) {
  if (place.held) {
    Object.assign(place, place.held);
    place.radius = Math.hypot(place.x, place.y);
    place.angle = Math.atan2(place.y, place.x);
  } else {
    place.x = place.radius * Math.cos(place.angle);
    place.y = place.radius * Math.sin(place.angle);
  }
}

/** Return the radius at which the outermost ring ends: just after its last node. */
function reachOf(places, sizes) {
  const ends = places.map((place, node) => (place.held ? 0 : place.radius + sizes[node]));
  return Math.min(1, Math.max(LEAST_REACH, MARGIN + ends.reduce((most, end) => Math.max(most, end), 0)));
}

function ringsOf(nodes) {
  const last = nodes.reduce((most, node) => Math.max(most, node.hop), 0);
  const rings = Array.from({ length: 1 + last }, () => []);
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

/** Return the outer radius of each ring, the last one 1: the area of a ring grows with the number of its nodes. */
function ringEdges(rings, count) {
  let inner = 0;
  const outer = rings.map((ring, number) => {
    // A single target needs no more than the least width.
    const more = number === 0 && ring.length === 1 ? 0 : ring.length / count;
    inner = Math.sqrt((inner + LEAST_WIDTH) ** 2 + more);
    return inner;
  });
  return outer.map((radius) => radius / inner);
}

/** Move a radius from rings of width 1 to those of the given outer radii. */
function warped(radius, outer) {
  const number = Math.floor(radius + 0.5);
  const inner = number === 0 ? 0 : outer[number - 1];
  const from = number === 0 ? 0 : number - 0.5;
  const width = number === 0 ? 0.5 : 1;
  return inner + ((radius - from) / width) * (outer[Math.min(number, outer.length - 1)] - inner);
}
