// Edges painted straight on a canvas, and the edge next to a point.
// Not for: nodes (cytoscape draws them, but its thousands of edges would take most of a second).

const NEAR = 5;

/**
 * Paint edges; looks: {color, width, opacity} of each; lit: place of a node whose edges stand out, or null; hover: an
 * edge; directed: edges that stand out have arrows.
 */
export function paintEdges(pen, edges, looks, spots, { zoom, lit, hover, dim, directed }) {
  for (let number = 0; number < edges.length; number++) {
    const { source, target } = edges[number];
    const look = looks[number];
    const near = lit !== null && (source === lit || target === lit);
    const faded = (lit !== null && !near) || dim;
    pen.globalAlpha = number === hover ? 1 : near ? 0.9 : faded ? 0.12 * look.opacity : look.opacity;
    pen.strokeStyle = look.color;
    pen.lineWidth = Math.max(number === hover ? 4 : 0.5, look.width * Math.min(2.5, zoom));
    pen.beginPath();
    pen.moveTo(spots[source].x, spots[source].y);
    pen.lineTo(spots[target].x, spots[target].y);
    pen.stroke();
    if (directed && (near || number === hover)) paintArrow(pen, spots[source], spots[target]);
  }
  pen.globalAlpha = 1;
}

/** Paint the head of an arrow just before the node that an edge leads to. */
function paintArrow(pen, from, to) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const corner = (back, side) => [
    to.x - (to.radius + back) * Math.cos(angle) - side * Math.sin(angle),
    to.y - (to.radius + back) * Math.sin(angle) + side * Math.cos(angle),
  ];
  pen.fillStyle = pen.strokeStyle;
  pen.beginPath();
  pen.moveTo(...corner(1, 0));
  pen.lineTo(...corner(10, 4.5));
  pen.lineTo(...corner(10, -4.5));
  pen.fill();
}

/** Return the edge nearest to a point, at most a few pixels away; null for none. Ends under a node do not count. */
export function edgeAt(point, edges, spots) {
  let best = null;
  let least = NEAR;
  edges.forEach(({ source, target }, number) => {
    const distance = away(point, spots[source], spots[target]);
    if (distance < least) [best, least] = [number, distance];
  });
  return best;
}

function away(point, from, to) {
  const [x, y] = [to.x - from.x, to.y - from.y];
  const length = x * x + y * y || 1;
  const share = Math.max(0, Math.min(1, ((point.x - from.x) * x + (point.y - from.y) * y) / length));
  return Math.hypot(point.x - from.x - share * x, point.y - from.y - share * y);
}
