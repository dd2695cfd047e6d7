// Numbers as people read them.
// Not for: computing them.

/** Return a number with at most four digits that matter. */
export function short(value) {
  if (value === null || value === undefined) return "";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

/** Return a number with its sign; contributions always have one. */
export function signed(value) {
  if (value === null || value === undefined) return "";
  return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + short(Math.abs(value));
}

export const percent = (share) => (share === null || share === undefined ? "" : `${(100 * share).toFixed(1)}%`);

export const plural = (count, word) => `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
