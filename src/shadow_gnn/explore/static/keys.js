// The keys of the page.
// Not for: keys inside a drawing (side.js) or a list (combobox.js, tabs.js).

import { byId } from "./dom.js";

/** Listen to the keys; page: the explorer. */
export function listenToKeys(page) {
  const zoom = (factor) => page.sides.forEach((side) => side.stage?.zoom(factor));
  const keys = {
    "/": () => byId("find").focus(),
    "?": () => byId("help-dialog").showModal(),
    r: () => page.random(),
    c: () => page.compare(),
    s: () => page.change({ view: page.state.view === "split" ? "scope" : "split" }),
    w: () => page.change({ color: page.state.color === "why" ? "class" : "why" }),
    u: () => page.setEdits(page.state.edits.slice(0, -1)),
    b: () => page.putBack(),
    "+": () => zoom(1.3),
    "=": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: () => page.sides.forEach((side) => side.stage?.fit()),
    Escape: () => page.sides.forEach((side) => side.closeMenu()),
  };
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, select, textarea, dialog");
    if (event.ctrlKey || event.metaKey || event.altKey || (writing && event.key !== "Escape")) return;
    const work = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!work) return;
    if (event.key !== "Escape") event.preventDefault();
    work();
  });
}
