// Outlines of nodes as points around the middle, for pictures in files.
// Not for: the drawing on the page, where cytoscape has the same shapes.

const regular = (corners, turn = -Math.PI / 2) =>
  Array.from({ length: corners }, (_, corner) => {
    const angle = turn + (2 * Math.PI * corner) / corners;
    return [Math.cos(angle), Math.sin(angle)];
  });

const OUTLINES = {
  star: Array.from({ length: 10 }, (_, corner) => {
    const angle = -Math.PI / 2 + (Math.PI * corner) / 5;
    const radius = corner % 2 ? 0.42 : 1;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  }),
  diamond: regular(4),
  triangle: [
    [0, -1],
    [1, 1],
    [-1, 1],
  ],
  rectangle: [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ],
  hexagon: regular(6, 0),
  vee: [
    [-1, -1],
    [0, -0.33],
    [1, -1],
    [0, 1],
  ],
};

/** Return the corners of a shape at a place; null for a circle. */
export function outline(shape, x, y, radius) {
  return OUTLINES[shape]?.map(([across, down]) => [x + across * radius, y + down * radius]) ?? null;
}
