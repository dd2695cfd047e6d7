// The panels next to the drawing, filled from the answers of both sides.
// Not for: the contents of one panel (prediction.js, why.js, whatif.js, table.js).

import { byId, el, fill } from "./dom.js";
import { runOf, sideText } from "./model.js";
import { outcome } from "./outcome.js";
import { prediction } from "./prediction.js";
import { nodeTable } from "./table.js";
import { editText, whatIf } from "./whatif.js";
import { strongestNodes, why } from "./why.js";

/** Fill the prediction, and of the other panels the one that is shown; page: the explorer. */
export function fillPanels(page) {
  const makers = {
    prediction: predictions,
    why: reasons,
    "what-if": ({ about, state, act }) => [whatIf(about, state, act)],
    table: tables,
  };
  for (const [id, make] of Object.entries(makers)) {
    if (id === "prediction" || !byId(id).hidden) fill(byId(id), ...make(page));
    else byId(id).replaceChildren();
  }
}

function predictions(page) {
  const { state } = page;
  const explain = (number) => page.change({ explained: state.explained === String(number) ? null : String(number) });
  const count = state.sides.length > 1 ? 3 : 8;
  return page.sides.map((side, number) => {
    const { answer, scope } = side;
    const carried = answer.explanation ? strongestNodes("What carried it", scope, actsOf(page, side), count) : null;
    return prediction(answer, { heading: heading(page, number), explain, edited: state.edits.length > 0, carried });
  });
}

function reasons(page) {
  return page.sides.map((side, number) => {
    const methods = runOf(page.about, page.state.sides[number].run)?.methods ?? [];
    return why(side.answer, side.scope, { heading: heading(page, number), methods, act: actsOf(page, side) });
  });
}

function tables(page) {
  return page.sides.map((side, number) => nodeTable(side.scope, heading(page, number), (place) => side.walk(place)));
}

/** Return which side a part of a panel is about; null if there is one side. */
function heading({ about, state }, number) {
  return state.sides.length > 1 ? `${number ? "Right" : "Left"}: ${sideText(about, state.sides[number])}` : null;
}

function actsOf(page, side) {
  return {
    walk: (place) => side.walk(place),
    light: (place) => side.stage.light(place),
    method: (method) => page.change({ method }),
  };
}

/** Return what the edits did to the answer of each side: [{text, changed}]; none for a new node or without a run. */
export function outcomes({ sides, state }) {
  const known = sides.map(({ answer }) =>
    answer?.prediction && answer.before ? outcome(answer.prediction, answer.before) : null,
  );
  const names = sides.length > 1 ? ["Left: ", "Right: "] : [""];
  if (!state.edits.length) return [];
  return known.flatMap((one, number) => (one ? [{ ...one, text: names[number] + one.text }] : []));
}

/** Show the edits over the drawing, and their outcome. */
export function fillChips(page) {
  const { about, state, act } = page;
  const { edits } = state;
  const box = byId("edit-chips");
  box.hidden = !edits.length;
  const chips = edits.slice(-4).map((edit) => el("span", { class: "chip", text: editText(edit, about, edits) }));
  const undo = el("button", { type: "button", text: "Undo", onclick: () => act.edits(edits.slice(0, -1)) });
  const reset = el("button", { type: "button", text: "Reset", onclick: () => act.edits([]) });
  const lines = outcomes(page).map(({ text, changed }) =>
    el("p", { class: `outcome ${changed ? "changed" : ""}`, text }),
  );
  fill(box, el("span", { class: "what", text: "What if:" }), ...chips, undo, reset, ...lines);
}
