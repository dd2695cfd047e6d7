// Names and captions painted over a drawing, and the mark of the focus.
// Not for: which names fit, and where (labels.js).

import { write } from "./paint.js";

const FONT = "600 12px system-ui, sans-serif";
const MOST_WIDTHS = 5000;

export const cut = (name) => (name.length > 28 ? `${name.slice(0, 27)}\u2026` : name);

/** Widths of texts, measured once each. */
export class TextWidths {
  constructor() {
    this.known = new Map();
  }

  of(pen, text) {
    if (!this.known.has(text)) {
      if (this.known.size > MOST_WIDTHS) this.known.clear();
      pen.font = FONT;
      this.known.set(text, pen.measureText(text).width);
    }
    return this.known.get(text);
  }
}

/** Return the captions of rings at their lower edge, or elsewhere on it where no node is; middle: {x, y, scale}. */
export function ringCaptions(edges, spots, middle) {
  const found = [];
  edges.forEach((edge, ring) => {
    if (ring === 0) return;
    const free = TURNS.map((turn) => captionAt(edge, ring, turn, middle)).find((one) =>
      [...spots, ...found].every((other) => apart(one, other)),
    );
    if (free) found.push(free);
  });
  return found;
}

/** Degrees from the bottom, the nearest first. */
const TURNS = [0, ...Array.from({ length: 11 }, (_, step) => [-15 * (step + 1), 15 * (step + 1)]).flat(), 180];

function captionAt(edge, ring, turn, middle) {
  const angle = ((90 + turn) * Math.PI) / 180;
  const radius = edge * middle.scale - 9;
  const [x, y] = [middle.x + radius * Math.cos(angle), middle.y + radius * Math.sin(angle)];
  return { x, y, width: 44, height: 14, ring, text: `hop ${ring}` };
}

/** Tell whether a caption is apart from another one, or from a spot with a radius. */
function apart(one, { x, y, radius, width = 2 * radius, height = 2 * radius }) {
  return 2 * Math.abs(one.x - x) >= one.width + width || 2 * Math.abs(one.y - y) >= one.height + height;
}

export function paintCaptions(pen, captions, theme) {
  const look = { anchor: "middle", size: 11, bold: false, color: theme.quiet };
  for (const caption of captions) write(pen, { ...caption, ...look }, theme.ring[caption.ring % 2]);
}

/** Paint labels; own: whether the name of a node stands out. */
export function paintNames(pen, labels, own, theme) {
  const look = { anchor: "middle", size: 12, color: theme.text };
  for (const label of labels) write(pen, { ...label, ...look, bold: own(label.node) }, theme.background);
}

export function paintFocus(pen, spot, theme) {
  pen.strokeStyle = theme.focus;
  pen.lineWidth = 3;
  pen.beginPath();
  pen.arc(spot.x, spot.y, spot.radius + 5, 0, 2 * Math.PI);
  pen.stroke();
}
