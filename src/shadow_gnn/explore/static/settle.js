// Keeping nodes apart: each one takes the free place on its ray that is nearest to the wanted one.
// Not for: the wanted places (layout.js). The static pictures have the same rules (studies/drawing/rings.py).

const GAP = 0.006;
const SHRINK = 0.9;

/**
 * Set the radius of each place ({ring, angle, radius: the wanted one, held: {x, y} or undefined}) so that no two nodes
 * touch, and return the sizes with which this works: the given ones, or smaller ones where a ring is too full.
 */
export function settle(places, sizes, outer) {
  let scale = 1;
  let found;
  while (!(found = settled(places, (node) => scale * sizes[node], scale * GAP, outer))) scale *= SHRINK;
  places.forEach((place, node) => (place.radius = found[node]));
  return sizes.map((size) => scale * size);
}

function settled(places, size, gap, outer) {
  const found = places.map((place) => place.radius);
  const done = [];
  places.forEach(({ held }, node) => held && done.push({ ...held, reach: size(node) + gap / 2 }));
  const order = places.map((_, node) => node).filter((node) => !places[node].held);
  order.sort((a, b) => places[a].radius - places[b].radius || a - b);
  for (const node of order) {
    const { ring, angle, radius: wanted } = places[node];
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    const reach = size(node) + gap / 2;
    const taken = [];
    for (const other of done) {
      const along = other.x * x + other.y * y;
      const across = other.x * other.x + other.y * other.y - along * along;
      const half = (other.reach + reach) ** 2 - across;
      if (half > 0) taken.push([along - Math.sqrt(half), along + Math.sqrt(half)]);
    }
    const low = wanted > 0 ? (ring === 0 ? 0 : outer[ring - 1]) + size(node) : 0;
    const radius = nearestFree(wanted, low, outer[ring] - size(node), taken);
    if (radius === null) return null;
    found[node] = radius;
    done.push({ x: radius * x, y: radius * y, reach });
  }
  return found;
}

/** Return the value nearest to the wanted one from low to high inside of no open interval; null if there is none. */
export function nearestFree(wanted, low, high, taken) {
  if (low > high) return null;
  const tried = [Math.min(high, Math.max(low, wanted)), ...taken.flat()];
  let best = null;
  let least = Infinity;
  for (const value of tried) {
    if (value < low || value > high) continue;
    const away = Number(Math.abs(value - wanted).toFixed(12));
    if (away > least || (away === least && value <= best)) continue;
    // An end of an interval must not count as inside of that interval because of rounding.
    if (taken.some(([start, end]) => value > start + 1e-12 && value < end - 1e-12)) continue;
    [best, least] = [value, away];
  }
  return best;
}
