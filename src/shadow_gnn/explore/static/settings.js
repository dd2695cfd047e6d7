// The run, the extractor and its options of one side of the page, from the server's definitions.
// Not for: drawing what they give.

import { el, later } from "./dom.js";
import { extractorOf, runOf } from "./model.js";
import { percent, short } from "./numbers.js";

const SHOWN = 3;

/** Return the form of a side; change: called with the new side. */
export function settings(about, side, change, title) {
  const run = runOf(about, side.run);
  const now = extractorOf(about, side);
  return el(
    "section",
    { class: "settings", "aria-label": title },
    el("h2", { text: title }),
    about.runs.length ? runField(about, side, change, title) : null,
    run ? el("p", { class: "quiet facts", text: runText(run) }) : null,
    run && !run.extractor && !side.kind
      ? el("p", { class: "quiet", text: "This model has scopes of its own; other extractors do not fit it." })
      : extractorFields(about, side, now, change, title),
  );
}

function runText(run) {
  const [metric, value] = Object.entries(run.metrics)[0] ?? [];
  const parts = [`${run.num_layers} layers of ${run.layer}`, `${run.hidden_dim} wide`];
  if (run.branches > 1) parts.push(`${run.branches} branches`);
  if (metric) parts.push(`test ${metric} ${value <= 1 ? percent(value) : short(value)}`);
  return parts.join(", ");
}

function runField(about, side, change, title) {
  const select = el("select", {
    "data-key": `${title} run`,
    onchange: () => change({ ...side, run: select.value || null, kind: null, options: {} }),
  });
  select.append(el("option", { value: "", text: "no run: scopes alone" }));
  select.append(...about.runs.map((run) => el("option", { value: run.name, text: run.name })));
  select.value = side.run ?? "";
  return el("label", { class: "row" }, el("span", { text: "Run" }), select);
}

function extractorFields(about, side, now, change, title) {
  const kind = about.extractors.find((one) => one.kind === now?.kind);
  const select = el("select", {
    "data-key": `${title} kind`,
    onchange: () => change({ ...side, kind: select.value, options: carried(about, select.value, now) }),
  });
  select.append(...about.extractors.map((one) => el("option", { value: one.kind, text: one.kind })));
  if (now) select.value = now.kind;
  const set = (name, value) => {
    const options = { ...now.options, [name]: value };
    if (value === undefined) delete options[name];
    change({ ...side, kind: now.kind, options });
  };
  const fields = (kind?.options ?? []).map((option) => optionField(option, now.options[option.name], set, title));
  const run = runOf(about, side.run);
  const own = { ...side, kind: null, options: {} };
  return el(
    "div",
    { class: "extractor" },
    el("label", { class: "row" }, el("span", { text: "Extractor" }), select),
    kind ? el("p", { class: "quiet facts", text: kind.doc }) : null,
    ...fields.slice(0, SHOWN),
    fields.length > SHOWN ? more(fields.slice(SHOWN), title) : null,
    side.kind
      ? el("button", {
          type: "button",
          class: "link",
          text: run ? "Back to the run's own" : "Back to the default",
          onclick: () => change(own),
        })
      : null,
  );
}

const opened = new Set();

function more(fields, title) {
  const box = el("details", { open: opened.has(title) }, el("summary", { text: "More options" }), ...fields);
  box.addEventListener("toggle", () => (box.open ? opened.add(title) : opened.delete(title)));
  return box;
}

/** Keep the options that another kind has too. */
function carried(about, kind, now) {
  const known = about.extractors.find((one) => one.kind === kind).options.map((option) => option.name);
  return Object.fromEntries(Object.entries(now?.options ?? {}).filter(([name]) => known.includes(name)));
}

function optionField(option, value, set, title) {
  const current = value === undefined ? option.default : value;
  const key = `${title} ${option.name}`;
  const make = { int: number, float: number, bool: box, choice, table, text };
  const inputs = make[option.type](option, current, (given) => set(option.name, given), key);
  return el(
    "div",
    { class: "option", title: option.doc },
    el("label", { class: "row" }, el("span", { text: option.name }), inputs[0]),
    inputs[1],
  );
}

/** A number with a slider under it, if its range can be guessed. */
function number(option, current, set, key) {
  const whole = option.type === "int";
  const least = option.min ?? 0;
  const limit = option.max !== null && option.max <= 1000 ? option.max : Math.max(10, 5 * (option.default ?? 0));
  const send = later(120, (text) => {
    if (text === "") return set(option.optional ? null : undefined);
    const value = Number(text);
    return Number.isFinite(value) && (!whole || Number.isInteger(value)) ? set(value) : undefined;
  });
  const field = el("input", {
    type: "number",
    step: whole ? 1 : "any",
    min: option.min ?? undefined,
    max: option.max ?? undefined,
    "data-key": key,
    value: current ?? "",
    placeholder: option.optional ? "none" : "",
  });
  field.addEventListener("input", () => field.validity.valid && send(field.value));
  if (typeof option.default !== "number" || option.default <= 0 || limit / option.default > 1e4) return [field, null];
  const step = whole ? 1 : (limit - least) / 200;
  const slider = el("input", {
    type: "range",
    min: option.above ? least + step : least,
    max: option.below ? limit - step : limit,
    step,
    "data-key": `${key} slider`,
    "aria-label": `${option.name}, slider`,
  });
  slider.value = current ?? least;
  slider.addEventListener("input", () => {
    field.value = whole ? slider.value : Number(Number(slider.value).toPrecision(4));
    send(field.value);
  });
  field.addEventListener("input", () => (slider.value = field.value));
  return [field, slider];
}

function box(option, current, set, key) {
  const field = el("input", { type: "checkbox", "data-key": key, onchange: () => set(field.checked) });
  field.checked = Boolean(current);
  return [field, null];
}

function choice(option, current, set, key) {
  const field = el("select", { "data-key": key, onchange: () => set(field.value === "" ? null : field.value) });
  if (option.optional) field.append(el("option", { value: "", text: "none" }));
  field.append(...option.choices.map((name) => el("option", { value: name, text: name })));
  field.value = current ?? "";
  return [field, null];
}

function text(option, current, set, key) {
  const field = el("input", {
    type: "text",
    "data-key": key,
    value: current ?? "",
    onchange: () => set(field.value || null),
  });
  return [field, null];
}

/** A table or list is written as JSON. */
function table(option, current, set, key) {
  const shown = current === null || current === undefined ? "" : JSON.stringify(current);
  const field = el("textarea", { "data-key": key, rows: 2, value: shown, spellcheck: "false", placeholder: "JSON" });
  field.addEventListener("change", () => {
    try {
      field.setCustomValidity("");
      set(field.value.trim() ? JSON.parse(field.value) : null);
    } catch (fault) {
      field.setCustomValidity(fault.message);
      field.reportValidity();
    }
  });
  return [field, null];
}
