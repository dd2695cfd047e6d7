// Names that do not overlap: which of them are shown at a zoom, and where.
// Not for: painting them (overlay.js, scene.js).

export const AT_REST = 25;
const GAP = 3;

/**
 * Return [{node, text, x, y, width, height}] (x and y: middle) for the most important names that fit.
 * spots: [{x, y, radius, text, weight, keep}] in screen pixels, keep: shown wherever there is room before all others;
 * measure: text -> width; most: at most so many; bounds: {width, height} of the drawing; taken: boxes to keep free.
 */
export function placeLabels(spots, { measure, most, bounds, taken = [], height = 14 }) {
  const order = spots.map((_, node) => node).sort((a, b) => rank(spots[b]) - rank(spots[a]) || a - b);
  const grid = new Grid(40);
  spots.forEach((spot) => grid.add(boxAround(spot.x, spot.y, 2 * spot.radius, 2 * spot.radius)));
  taken.forEach((box) => grid.add(boxAround(box.x, box.y, box.width, box.height)));
  const placed = [];
  for (const node of order) {
    if (placed.length >= most) break;
    const spot = spots[node];
    if (!spot.text || outside(spot, bounds)) continue;
    const width = measure(spot.text) + 4;
    const free = around(spot, width, height).find(([x, y]) => {
      const box = boxAround(x, y, width, height);
      return inside(box, bounds) && grid.free(box);
    });
    if (!free) continue;
    const [x, y] = free;
    grid.add(boxAround(x, y, width, height));
    placed.push({ node, text: spot.text, x, y, width, height });
  }
  return placed;
}

const rank = (spot) => (spot.keep ? 1e9 : 0) + spot.weight;

/** Return the middles of a label next to a spot: the outer side first, then all others. */
function around(spot, width, height) {
  const side = spot.radius + GAP;
  const right = [spot.x + side + width / 2, spot.y];
  const left = [spot.x - side - width / 2, spot.y];
  const above = [spot.x, spot.y - side - height / 2];
  const below = [spot.x, spot.y + side + height / 2];
  const slant = 0.75 * spot.radius + GAP;
  const corners = [1, -1].flatMap((down) =>
    [1, -1].map((across) => [spot.x + across * (slant + width / 2), spot.y + down * (slant + height / 2)]),
  );
  return spot.outward >= 0 ? [right, above, below, ...corners, left] : [left, above, below, ...corners, right];
}

const boxAround = (x, y, width, height) => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});
const outside = (spot, bounds) => spot.x < 0 || spot.y < 0 || spot.x > bounds.width || spot.y > bounds.height;
const inside = (box, bounds) =>
  box.left >= 0 && box.top >= 0 && box.right <= bounds.width && box.bottom <= bounds.height;

/** Boxes by the squares that they touch, so that a test does not look at all of them. */
class Grid {
  constructor(size) {
    this.size = size;
    this.squares = new Map();
  }

  *keys(box) {
    for (let column = Math.floor(box.left / this.size); column <= Math.floor(box.right / this.size); column++)
      for (let row = Math.floor(box.top / this.size); row <= Math.floor(box.bottom / this.size); row++)
        yield `${column} ${row}`;
  }

  add(box) {
    for (const key of this.keys(box)) {
      if (!this.squares.has(key)) this.squares.set(key, []);
      this.squares.get(key).push(box);
    }
  }

  free(box) {
    for (const key of this.keys(box))
      for (const other of this.squares.get(key) ?? [])
        if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)
          return false;
    return true;
  }
}
