// Colors and shapes: of classes (Okabe and Ito's colors, a shape each), and of contributions (blue for, orange against).
// Not for: the colors of the page itself (theme.css).

const COLORS = ["#0072b2", "#d55e00", "#009e73", "#f0c000", "#56b4e9", "#882255", "#9aa3ad"];
export const SHAPES = ["ellipse", "diamond", "triangle", "square", "plus", "down", "cross", "bar"];
export const NO_CLASS = { color: "#8a949e", shape: "ellipse" };
export const FOR = "#0072b2";
export const AGAINST = "#d55e00";
const HOPS = ["#d55e00", "#440154", "#31688e", "#35b779", "#9fcf3b", "#f0c000"];

/** Return the color and shape of the class with a rank: 56 pairs; neighbors in rank differ in both. */
export function classLook(rank) {
  if (rank === null || rank === undefined || rank < 0) return NO_CLASS;
  return { color: COLORS[rank % COLORS.length], shape: SHAPES[rank % SHAPES.length] };
}

/** Looks of classes for as long as the page is open: the first classes that are seen get the plain colors. */
export class ClassLooks {
  constructor() {
    this.ranks = new Map();
  }

  /** Give ranks to the classes of a scope that have none yet, the most frequent first. */
  meet(numbers) {
    const counts = new Map();
    for (const number of numbers) if (number !== null) counts.set(number, (counts.get(number) ?? 0) + 1);
    const fresh = [...counts.keys()].filter((number) => !this.ranks.has(number));
    fresh.sort((a, b) => counts.get(b) - counts.get(a) || a - b);
    for (const number of fresh) this.ranks.set(number, this.ranks.size);
  }

  rank(number) {
    return this.ranks.get(number) ?? -1;
  }
}

export const hopLook = (hop) => ({ color: HOPS[Math.min(hop, HOPS.length - 1)], shape: "ellipse" });

/** Return the color of a contribution: share is from -1 (against) over 0 (the pale color) to 1 (for). */
export function contributionColor(share, pale) {
  const strength = Math.sqrt(Math.min(1, Math.abs(share)));
  return mix(pale, share < 0 ? AGAINST : FOR, 0.1 + 0.9 * strength);
}

function mix(from, to, share) {
  const part = (color, place) => parseInt(color.slice(place, place + 2), 16);
  const both = [1, 3, 5].map((place) => Math.round(part(from, place) * (1 - share) + part(to, place) * share));
  return `#${both.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
