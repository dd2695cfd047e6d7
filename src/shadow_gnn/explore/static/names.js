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

/** Return the captions of rings at their lower edge, except where a node is; middle: {x, y, scale} of the rings. */
export function ringCaptions(edges, spots, middle) {
  const captions = edges.map((edge, ring) => {
    const y = middle.y + edge * middle.scale - 9;
    return { x: middle.x, y, width: 44, height: 14, ring, text: `hop ${ring}` };
  });
  const free = ({ x, y }) => spots.every((spot) => Math.hypot(spot.x - x, spot.y - y) > spot.radius + 22);
  return captions.slice(1).filter(free);
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
