// A picture of a stage for a file: the same places, looks and names, with a title and a legend.
// Not for: the formats (svg.js, paint.js).

const LEGEND_ROW = 20;
const TITLE = 40;

/** Return {width, height, title, background, rings, edges, nodes, texts} of what a stage shows now. */
export function sceneOf({ scope, title, theme, size, rings, spots, nodeLooks, edgeLooks, labels, legend }) {
  const columns = Math.max(1, Math.floor(size.width / 170));
  const rows = Math.ceil(legend.length / columns);
  const down = (y) => y + TITLE;
  const nodes = scope.nodes.map((node, place) => ({
    x: spots[place].x,
    y: down(spots[place].y),
    radius: spots[place].radius,
    color: nodeLooks[place].color,
    shape: nodeLooks[place].shape,
    title: node.name,
  }));
  const edges = scope.edges.map((edge, place) => ({
    x1: spots[edge.source].x,
    y1: down(spots[edge.source].y),
    x2: spots[edge.target].x,
    y2: down(spots[edge.target].y),
    ...edgeLooks[place],
  }));
  const names = labels.map((label) => ({
    ...{ x: label.x, y: down(label.y), text: label.text, anchor: "middle", size: 12, color: theme.text },
    bold: scope.nodes[label.node].isTarget,
  }));
  const heading = { x: size.width / 2, y: 20, text: title, anchor: "middle", size: 16, color: theme.text, bold: true };
  const top = TITLE + size.height + LEGEND_ROW / 2;
  const place = (number) => ({ x: 16 + 170 * (number % columns), y: top + LEGEND_ROW * Math.floor(number / columns) });
  const keys = legend.map((entry, number) => ({ ...place(number), radius: 6, ...entry.look, title: entry.name }));
  const captions = legend.map((entry, number) => ({
    ...{ x: place(number).x + 14, y: place(number).y, text: entry.name, anchor: "start", size: 12, color: theme.text },
    bold: false,
  }));
  return {
    width: size.width,
    height: TITLE + size.height + rows * LEGEND_ROW + LEGEND_ROW / 2,
    title,
    background: theme.background,
    rings: rings.map((ring) => ({ ...ring, y: down(ring.y) })),
    edges,
    nodes: [...nodes, ...keys],
    texts: [heading, ...names, ...captions],
  };
}
