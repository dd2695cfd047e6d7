// The explanation as lists: nodes, edges and columns by signed contribution.
// Not for: the colors of the drawing (look.js).

import { el } from "./dom.js";
import { short, signed } from "./numbers.js";

const SHOWN = 12;

/** Return the panel of one answer; act: {walk(place), light(place or null), method(name)}. */
export function why(answer, scope, { heading, methods, act }) {
  const title = heading ? el("h3", { text: heading }) : null;
  const made = answer.explanation;
  if (!made)
    return el(
      "section",
      {},
      title,
      el("p", { class: "quiet", text: "Choose a run to see what carried its prediction." }),
    );
  const select = el("select", {
    "data-key": `${heading} method`,
    "aria-label": "Method of explanation",
    onchange: () => act.method(select.value),
  });
  select.append(...methods.map((name) => el("option", { value: name, text: name })));
  select.value = made.method;
  const edges = scope.edges.map((edge) => ({
    name: `${scope.nodes[edge.source].name} \u2013 ${scope.nodes[edge.target].name}`,
    value: edge.contribution,
  }));
  const columns = made.columns.map((column) => ({
    name: column.name,
    value: column.contribution,
    note: short(column.value),
  }));
  return el(
    "section",
    { class: "why", "aria-label": "Explanation" },
    title,
    el(
      "p",
      {},
      "For ",
      el("strong", { text: made.text }),
      made.number === null ? ` ${short(made.answer)}` : ` (log-odds ${signed(made.answer)})`,
      " by ",
      select,
    ),
    el(
      "p",
      { class: "quiet scale" },
      el("span", { class: "against", text: "against" }),
      el("span", { class: "for", text: "for" }),
    ),
    strongestNodes("Nodes", scope, act, SHOWN),
    list("Edges", edges, null),
    list("Columns", columns, null),
  );
}

/** Return the nodes with the strongest contributions as a list. */
export function strongestNodes(title, scope, act, count) {
  const rows = scope.nodes.map((node, place) => ({
    name: node.name,
    value: node.contribution,
    note: node.isTarget ? "target" : node.className,
    place,
  }));
  return list(title, rows, act, count);
}

function list(title, rows, act, count = SHOWN) {
  const known = rows.filter((row) => row.value !== null && row.value !== undefined && row.value !== 0);
  known.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  if (!known.length) return null;
  const strongest = Math.abs(known[0].value);
  const items = known.slice(0, count).map((row) => el("li", {}, line(row, strongest, act)));
  return el("div", {}, el("h4", { text: title }), el("ol", { class: "contributions" }, ...items));
}

function line(row, strongest, act) {
  const filled = el("span", { class: `filled ${row.value < 0 ? "against" : "for"}` });
  filled.style.width = `${(50 * Math.abs(row.value)) / strongest}%`;
  const inner = [
    el("span", { class: "name" }, row.name, " ", el("span", { class: "quiet", text: row.note ?? "" })),
    el("span", { class: "track two-sided" }, filled),
    el("span", { class: "number", text: signed(row.value) }),
  ];
  if (!act) return el("div", { class: "bar" }, ...inner);
  const light = () => act.light(row.place);
  const dark = () => act.light(null);
  return el(
    "button",
    {
      type: "button",
      class: "bar",
      onclick: () => act.walk(row.place),
      onmouseenter: light,
      onmouseleave: dark,
      onfocus: light,
      onblur: dark,
    },
    ...inner,
  );
}
