// What if: edits of the graph that only this page sees, as a list with undo, and the forms that make them.
// Not for: computing their effect (the server does).

import { nodeField } from "./combobox.js";
import { el } from "./dom.js";
import { labelText, refOf, refText, runOf, sameRef } from "./model.js";

/** Return an edit in words. */
export function editText([kind, value], about, edits) {
  const name = (ref) => refText(ref, edits);
  if (kind === "remove_nodes") return `without ${name(value)}`;
  if (kind === "remove_edges") return `without the edge ${name(value.from)} \u2013 ${name(value.to)}`;
  if (kind === "add_edges") return `with an edge ${name(value.from)} \u2013 ${name(value.to)}`;
  if (kind === "features") return `${columnName(about, value.column)} of ${name(value.node)} = ${value.value}`;
  if (kind === "labels")
    return `${name(value.node)} is ${value.class === null ? "of unknown class" : labelText(value.class, about.graph.classes)}`;
  const ends = value.edges.map((edge) => name(edge.to ?? edge.from)).join(", ");
  return `new node ${value.name ?? ""} next to ${ends || "nothing"}`;
}

const columnName = (about, column) => about.graph.columns?.[column] ?? `column ${column}`;

/** Return the edits with one more; an edit of the same thing is replaced. */
export function withEdit(edits, [kind, value]) {
  const same = ([other, old]) =>
    other === kind &&
    ((kind === "labels" && sameRef(old.node, value.node)) ||
      (kind === "features" && sameRef(old.node, value.node) && old.column === value.column) ||
      sameRef(old, value));
  return [...edits.filter((one) => !same(one)), [kind, value]];
}

/** Return the panel; act: {edits(list), edit(edit), walk(refs)}. */
export function whatIf(about, state, act) {
  const { edits } = state;
  const rows = edits.map((edit, place) => {
    const undo = () => act.edits(edits.filter((_, other) => other !== place));
    const text = editText(edit, about, edits);
    const newest = place === edits.length - 1;
    // A new node is known by its place, so only the newest of several edits that name it can go.
    const fixed = edit[0] === "new_nodes" && !newest;
    return el(
      "li",
      {},
      el("span", { text }),
      fixed
        ? null
        : el("button", {
            type: "button",
            class: "quiet-button",
            "aria-label": `Undo: ${text}`,
            text: "\u00d7",
            onclick: undo,
          }),
    );
  });
  const buttons = el(
    "p",
    { class: "buttons" },
    el("button", { type: "button", text: "Undo", "data-key": "undo", onclick: () => act.edits(edits.slice(0, -1)) }),
    el("button", { type: "button", text: "Reset", "data-key": "reset", onclick: () => act.edits([]) }),
  );
  return el(
    "section",
    { class: "what-if", "aria-label": "What if" },
    el("p", {
      class: "quiet",
      text: "Right click a node or an edge of the drawing, or press E on a focused node. The graph itself does not change.",
    }),
    edits.length ? el("ol", { class: "edits" }, ...rows) : null,
    edits.length ? buttons : null,
    addEdge(about, state, act),
    newNode(about, act),
  );
}

function addEdge(about, state, act) {
  const [from] = state.target;
  if (from === undefined) return null;
  const chosen = (to) => act.edit(["add_edges", { from, to }]);
  const label = `Add an edge from ${refText(from, state.edits)} to`;
  return el(
    "div",
    { class: "form" },
    el("h4", { text: label }),
    nodeField({ label, about, chosen, placeholder: "name of a node" }),
  );
}

function newNode(about, act) {
  const edges = [];
  const ends = el("ul", { class: "chips" });
  const name = el("input", { type: "text", placeholder: "name", maxlength: 200, "aria-label": "Name of the new node" });
  const add = (ref) => {
    edges.push({ to: ref, ...(about.graph.weighted ? { weight: 1 } : {}) });
    ends.append(el("li", { text: refText(ref) }));
    make.disabled = false;
  };
  const values = el("input", {
    type: "text",
    placeholder: `${about.graph.columns?.[0] ?? 0}=1`,
    "aria-label": "Features of the new node as column=value, separated by commas",
  });
  const make = el("button", {
    type: "button",
    text: "Make it and predict it",
    disabled: true,
    onclick: () => {
      const features = featuresOf(values.value, about);
      act.made({ ...(name.value.trim() ? { name: name.value.trim() } : {}), ...(features ? { features } : {}), edges });
    },
  });
  const field = nodeField({ label: "Next to", about, chosen: add, placeholder: "add a neighbor" });
  const columns = about.graph.num_columns
    ? el("label", { class: "row" }, el("span", { text: "Features" }), values)
    : null;
  return el(
    "div",
    { class: "form" },
    el("h4", { text: "Make a new node" }),
    el("label", { class: "row" }, el("span", { text: "Name" }), name),
    field,
    ends,
    columns,
    make,
  );
}

/** Read "a=1, b=2", columns by name, or by number if they have no names; other parts are left out. */
function featuresOf(text, about) {
  const { columns, num_columns: count } = about.graph;
  const pairs = text.split(",").map((part) => part.split("=").map((word) => word.trim()));
  const known = (name) => (columns ? columns.includes(name) : /^\d+$/.test(name) && Number(name) < count);
  const given = pairs.filter(([name, value]) => known(name) && value && Number.isFinite(Number(value)));
  if (!given.length) return null;
  if (columns) return Object.fromEntries(given.map(([name, value]) => [name, Number(value)]));
  const all = new Array(count).fill(0);
  for (const [name, value] of given) all[Number(name)] = Number(value);
  return all;
}

/** Fill the menu of a node: what may be changed about it. */
export function nodeMenu(menu, node, { about, state, act, targets }) {
  const ref = refOf(node);
  const isNew = typeof ref === "object";
  const press = (text, work) =>
    el("button", { type: "button", role: "menuitem", text, onclick: () => act.close(work) });
  const linked = targets.filter((one) => !one.isTarget || one.key !== node.key);
  const first = state.target[0];
  const items = [
    press("Walk there", () => act.walk([ref])),
    !node.isTarget && !isNew ? press("Remove it", () => act.edit(["remove_nodes", ref])) : null,
    !node.isTarget && linked.length
      ? press(`Remove its edge with ${refText(first, state.edits)}`, () =>
          act.edit(["remove_edges", { from: ref, to: first }]),
        )
      : null,
    !node.isTarget && !linked.length
      ? press(`Add an edge with ${refText(first, state.edits)}`, () =>
          act.edit(["add_edges", { from: ref, to: first }]),
        )
      : null,
  ];
  const other = nodeField({
    label: "Add an edge to",
    about,
    placeholder: "add an edge to\u2026",
    chosen: (to) => act.close(() => act.edit(["add_edges", { from: ref, to }])),
  });
  menu.replaceChildren(el("strong", { text: node.name }), ...items.filter(Boolean), other);
  const read = state.sides.some((side) => runOf(about, side.run)?.reads_labels);
  if (!isNew && read && about.graph.label_kind === "classes") menu.append(classField(ref, node, about, act));
  if (!isNew && about.graph.num_columns) menu.append(featureField(ref, node, about, act));
}

/** Fill the menu of an edge. */
export function edgeMenu(menu, one, other, act) {
  const remove = () => act.edit(["remove_edges", { from: refOf(one), to: refOf(other) }]);
  menu.replaceChildren(
    el("strong", { text: `${one.name} \u2013 ${other.name}` }),
    el("button", { type: "button", role: "menuitem", text: "Remove this edge", onclick: () => act.close(remove) }),
  );
}

function classField(ref, node, about, act) {
  const select = el("select", {
    "aria-label": "Class",
    onchange: () =>
      act.close(() => act.edit(["labels", { node: ref, class: select.value === "" ? null : Number(select.value) }])),
  });
  select.append(
    el("option", { value: "", text: "unknown" }),
    ...about.graph.classes.map((name, number) => el("option", { value: number, text: name })),
  );
  select.value = node.label === null ? "" : String(node.label);
  return el("label", { class: "row" }, el("span", { text: "Class" }), select);
}

function featureField(ref, node, about, act) {
  const names =
    about.graph.columns ??
    Array.from({ length: Math.min(about.graph.num_columns, 2000) }, (_, column) => `column ${column}`);
  const column = el("select", { "aria-label": "Feature column" });
  column.append(...names.map((name, number) => el("option", { value: number, text: name })));
  const known = () => node.features?.find((one) => one.column === Number(column.value))?.value;
  const value = el("input", { type: "number", step: "any", "aria-label": "Feature value" });
  const strongest = node.features?.[0]?.column;
  if (strongest !== undefined) column.value = String(strongest);
  const show = () => (value.value = known() ?? "");
  column.addEventListener("change", show);
  show();
  const set = () =>
    value.value !== "" &&
    act.close(() => act.edit(["features", { node: ref, column: Number(column.value), value: Number(value.value) }]));
  return el("div", { class: "feature" }, column, value, el("button", { type: "button", text: "Set", onclick: set }));
}
