// The card of a hovered or focused node with all its facts.
// Not for: changing the node (whatif.js).

import { el } from "./dom.js";
import { percent, plural, short, signed } from "./numbers.js";

/** Return the facts of a node as [name, text]. */
export function factsOf(node, about) {
  const facts = [];
  const add = (name, text) => text !== "" && text !== null && text !== undefined && facts.push([name, text]);
  add("id", node.id === null ? "new" : String(node.id));
  if (about.graph.label_kind) add(about.graph.label_kind === "values" ? "value" : "class", node.className || "unknown");
  add("split", node.split);
  add("hop", node.isTarget ? "0 (target)" : String(node.hop));
  add("score", short(node.score));
  add("neighbors", node.degree === null ? "" : short(node.degree));
  add("contribution", signed(node.contribution));
  for (const feature of node.features ?? []) add(feature.name, short(feature.value));
  if (node.edited) facts.push(["edited", "yes"]);
  return facts;
}

/** Return a line about a node for a screen reader. */
export function spoken(node, about) {
  return [
    node.name,
    ...factsOf(node, about)
      .slice(1, 7)
      .map(([name, text]) => `${name} ${text}`),
  ].join(", ");
}

/** Show the card of a node next to its spot on the stage; null hides it. */
export function showCard(card, node, spot, about, bounds) {
  card.hidden = !node;
  if (!node) return;
  const rows = factsOf(node, about).flatMap(([name, text]) => [el("dt", { text: name }), el("dd", { text })]);
  card.replaceChildren(
    el("strong", { text: node.name }),
    el("dl", {}, ...rows),
    el("p", { class: "quiet", text: "click: walk there \u00b7 right click: what if" }),
  );
  const { width, height } = card.getBoundingClientRect();
  const gap = spot.radius + 12;
  // Away from the middle, where the drawing is dense, if there is room.
  const outward = spot.x < bounds.width / 2 ? spot.x - gap - width : spot.x + gap;
  const room = outward >= 4 && outward + width <= bounds.width - 4;
  const left = room ? outward : spot.x + gap + width > bounds.width ? spot.x - gap - width : spot.x + gap;
  card.style.left = `${Math.max(4, left)}px`;
  card.style.top = `${Math.max(4, Math.min(bounds.height - height - 4, spot.y - height / 2))}px`;
}

/** Return a picked target in words: its known class, the prediction and the probability. */
export function pickedText(target, classes) {
  const name = (number) =>
    Array.isArray(number) ? number.map((one) => classes[one]).join(", ") : (classes[number] ?? short(number));
  const parts = [];
  if (target.label !== null) parts.push(name(target.label));
  if (target.prediction !== null) {
    const same = JSON.stringify(target.prediction) === JSON.stringify(target.label);
    parts.push(`${same ? "\u2713" : "\u2192"} ${same ? "" : name(target.prediction)}`.trim());
  }
  if (target.confidence !== null) parts.push(percent(target.confidence));
  if (!parts.length && target.degree !== null) parts.push(plural(target.degree, "neighbor"));
  return parts.join(" ");
}
