// The prediction of a target: probabilities as bars, the truth, and the prediction before the edits.
// Not for: why it is so (why.js).

import { el } from "./dom.js";
import { percent, plural } from "./numbers.js";

const SHOWN = 6;

/** Return the panel of one answer; explain: called with the number of a class; heading: of a comparison; carried: a list of nodes. */
export function prediction(answer, { heading, explain, edited, carried }) {
  const found = answer.prediction;
  const parts = [heading ? el("h3", { text: heading }) : null];
  if (!found) parts.push(el("p", { class: "quiet", text: "Choose a run to see a prediction." }));
  else {
    parts.push(verdict(found, answer.truth));
    if (edited && answer.before) parts.push(change(found, answer.before));
    parts.push(found.probabilities.length ? bars(answer, explain) : null);
    if (found.kind === "links") parts.push(bar({ name: "link", probability: found.probability }, answer, null));
  }
  parts.push(carried);
  parts.push(...answer.notes.map((note) => el("p", { class: "note", text: note })));
  parts.push(el("p", { class: "quiet facts", text: sizes(answer) }));
  return el("section", { class: "prediction", "aria-label": heading ?? "Prediction" }, ...parts);
}

function sizes(answer) {
  const { scope, model } = answer.milliseconds;
  const hops = Math.max(...answer.nodes.map((node) => node.hop));
  const text = `${plural(answer.nodes.length, "node")} within ${plural(hops, "hop")}, ${plural(answer.edges.length, "edge")}; scope ${scope.toFixed(1)} ms`;
  return answer.prediction ? `${text}, model ${model.toFixed(1)} ms` : text;
}

function verdict(found, truth) {
  const share = found.probability === null ? "" : percent(found.probability);
  return el(
    "div",
    { class: "verdict" },
    el(
      "p",
      { class: "big" },
      el("span", { class: "answer", text: found.text }),
      " ",
      el("span", { class: "share", text: share }),
    ),
    truth ? truthLine(truth) : el("p", { class: "quiet", text: "The true answer is not known." }),
  );
}

function truthLine(truth) {
  if (truth.right === null) return el("p", { class: "truth", text: `True: ${truth.text}` });
  const text = truth.right ? "\u2713 right" : `\u2717 wrong: it is ${truth.text}`;
  return el("p", { class: `truth ${truth.right ? "good" : "bad"}`, text });
}

function change(found, before) {
  const value = (one) => [one.text, one.probability === null ? "" : percent(one.probability)].join(" ").trim();
  const same = found.number !== null ? found.number === before.number : found.text === before.text;
  const text = `Without your edits: ${value(before)}`;
  return el("p", { class: `change ${same ? "" : "changed"}`, text });
}

const open = new Set();

function bars(answer, explain) {
  const { probabilities } = answer.prediction;
  const truth = answer.truth?.number;
  const first = probabilities.slice(0, SHOWN);
  // The true class is always shown.
  const far = probabilities.slice(SHOWN).find((one) => one.number === truth);
  const rest = probabilities.slice(SHOWN).filter((one) => one !== far);
  const list = (shares) => el("ul", { class: "bars" }, ...shares.map((one) => bar(one, answer, explain)));
  const more = el(
    "details",
    { open: open.has("classes") },
    el("summary", { text: `${rest.length} more classes` }),
    list(rest),
  );
  more.addEventListener("toggle", () => (more.open ? open.add("classes") : open.delete("classes")));
  return el("div", {}, list([...first, ...(far ? [far] : [])]), rest.length ? more : null);
}

function bar(one, answer, explain) {
  const chosen = answer.explanation?.number === one.number && answer.explanation?.number !== null;
  const isTrue = answer.truth && (answer.truth.number === one.number || answer.truth.labels?.includes(one.number));
  const filled = el("span", { class: `filled ${chosen ? "chosen" : ""}` });
  filled.style.width = `${100 * one.probability}%`;
  const inner = [
    el("span", { class: "name" }, one.name, isTrue ? el("span", { class: "tag", text: "true" }) : null),
    el("span", { class: "track" }, filled),
    el("span", { class: "number", text: percent(one.probability) }),
  ];
  if (!explain) return el("div", { class: "bar" }, ...inner);
  const label = `${one.name}, ${percent(one.probability)}${isTrue ? ", true class" : ""}. Explain this class.`;
  const press = el(
    "button",
    {
      type: "button",
      class: "bar",
      "aria-label": label,
      "aria-pressed": String(chosen),
      "data-key": `class ${one.number}`,
      onclick: () => explain(one.number),
    },
    ...inner,
  );
  return el("li", {}, press);
}
