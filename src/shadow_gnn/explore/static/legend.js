// The legend of a drawing: classes with color and shape, or the scale of contributions.
// Not for: the looks themselves (palette.js, look.js).

import { el } from "./dom.js";
import { classesOf } from "./model.js";
import { cut } from "./names.js";
import { AGAINST, FOR, NO_CLASS, classLook, hopLook } from "./palette.js";
import { outline } from "./shapes.js";

/** Return the entries of a legend: [{name, look, test(node)}]. */
export function legendOf(scope, mode) {
  const classes = classesOf(scope);
  if (mode === "why")
    return [
      { name: "for", look: { color: FOR, shape: "ellipse" }, test: (node) => node.contribution > 0 },
      { name: "against", look: { color: AGAINST, shape: "ellipse" }, test: (node) => node.contribution < 0 },
      ...byShape(classes),
    ];
  if (classes.length)
    return classes.map((one) => ({
      name: `${one.name} (${one.count})`,
      look: classLook(one.rank),
      test: (node) => node.rank === one.rank,
    }));
  const hops = [...new Set(scope.nodes.map((node) => node.hop))].sort((a, b) => a - b);
  return hops.map((hop) => ({
    name: hop === 0 ? "target" : `hop ${hop}`,
    look: hopLook(hop),
    test: (node) => node.hop === hop,
  }));
}

/** Return an entry for each shape with its classes, where colors show contributions. */
function byShape(classes) {
  const groups = new Map();
  for (const one of classes) {
    const { shape } = classLook(one.rank);
    groups.set(shape, [...(groups.get(shape) ?? []), one]);
  }
  return [...groups].map(([shape, members]) => ({
    name: cut(members.map((one) => one.name).join(", ")),
    look: { color: NO_CLASS.color, shape },
    test: (node) => members.some((one) => one.rank === node.rank),
  }));
}

/** Return the legend; light: called with a test of nodes, or null. */
export function legend(entries, light) {
  const items = entries.map(({ name, look, test }) => {
    const [on, off] = [() => light(test), () => light(null)];
    const item = el(
      "button",
      { type: "button", class: "legend-entry", onmouseenter: on, onmouseleave: off, onfocus: on, onblur: off },
      key(look),
      el("span", { text: name }),
    );
    return el("li", {}, item);
  });
  return items;
}

function key({ color, shape }) {
  const canvas = el("canvas", { width: 28, height: 28, class: "key", "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  pen.fillStyle = color;
  pen.beginPath();
  const corners = outline(shape, 14, 14, 11);
  if (corners) corners.forEach(([x, y], corner) => (corner ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  else pen.arc(14, 14, 11, 0, 2 * Math.PI);
  pen.fill();
  return canvas;
}
