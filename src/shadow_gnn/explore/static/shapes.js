// Outlines of nodes in a circle of radius 1, and by how much a shape grows to look as large as a circle.
// Not for: which node has which (palette.js). The static pictures have the same (studies/drawing/looks.py).

const regular = (corners, start) =>
  Array.from({ length: corners }, (_, corner) => {
    const angle = ((start + (360 * corner) / corners) * Math.PI) / 180;
    return [Math.cos(angle), -Math.sin(angle)];
  });

/** A cross with arms as wide as 0.68, turned by an angle. */
function plus(turn) {
  const thin = 0.34;
  const long = Math.sqrt(1 - thin * thin);
  const arm = [
    [long, -thin],
    [long, thin],
    [thin, thin],
  ];
  return [0, 90, 180, 270].flatMap((quarter) =>
    arm.map(([x, y]) => {
      const angle = ((quarter + turn) * Math.PI) / 180;
      return [x * Math.cos(angle) - y * Math.sin(angle), -(x * Math.sin(angle) + y * Math.cos(angle))];
    }),
  );
}

const LONG = 0.94 / Math.hypot(0.94, 0.34);
const THIN = 0.34 / Math.hypot(0.94, 0.34);

/** Corners of each shape but the circle, in the coordinates of a screen: y points down. */
export const OUTLINES = {
  star: regular(10, 90).map(([x, y], corner) => (corner % 2 ? [0.42 * x, 0.42 * y] : [x, y])),
  diamond: regular(4, 90),
  triangle: regular(3, 90),
  square: regular(4, 45),
  plus: plus(0),
  down: regular(3, -90),
  cross: plus(45),
  bar: [
    [-LONG, THIN],
    [LONG, THIN],
    [LONG, -THIN],
    [-LONG, -THIN],
  ],
};

const MOST_FACTOR = 1.3;

/** Return by how much a shape grows so that its area is nearly that of a circle of the wanted radius. */
export function sizeFactor(shape) {
  const corners = OUTLINES[shape];
  if (!corners) return 1;
  const next = (corner) => corners[(corner + 1) % corners.length];
  const area = Math.abs(
    corners.reduce((sum, [x, y], corner) => sum + x * next(corner)[1] - y * next(corner)[0], 0) / 2,
  );
  return Math.min(MOST_FACTOR, Math.sqrt(Math.PI / area));
}

/** Return the corners of a shape at a place; null for a circle. */
export function outline(shape, x, y, radius) {
  return OUTLINES[shape]?.map(([across, down]) => [x + across * radius, y + down * radius]) ?? null;
}
