// The drawing as a table: every node of the scope with all that the drawing shows, for screen readers and for sorting.
// Not for: the explanation's lists (why.js).

import { el } from "./dom.js";
import { plural, short, signed } from "./numbers.js";

const COLUMNS = [
  ["Node", (node) => node.name, (node) => node.name],
  ["Class", (node) => node.className, (node) => node.className],
  ["Hop", (node) => node.hop, (node) => String(node.hop)],
  ["Score", (node) => node.score, (node) => short(node.score)],
  ["Degree", (node) => node.degree, (node) => short(node.degree)],
  ["Contribution", (node) => node.contribution, (node) => signed(node.contribution)],
];
const order = { column: 3, down: true };

/** Return the table of a scope; walk: called with the place of a node. */
export function nodeTable(scope, heading, walk) {
  const caption = `${heading ? `${heading}: ` : ""}${plural(scope.nodes.length, "node")}, ${plural(scope.edges.length, "edge")}`;
  const table = el("table", { class: "nodes" });
  const show = () => {
    table.replaceChildren(el("caption", { text: caption }), head(show), body(scope, walk));
  };
  show();
  return el("div", { class: "wide" }, table);
}

function head(show) {
  const cells = COLUMNS.map(([name], column) => {
    const sort = () => {
      order.down = order.column === column ? !order.down : column > 1;
      order.column = column;
      show();
    };
    const direction = order.column === column ? (order.down ? "descending" : "ascending") : "none";
    const sign = order.column === column ? (order.down ? " \u2193" : " \u2191") : "";
    return el(
      "th",
      { scope: "col", "aria-sort": direction },
      el("button", { type: "button", text: name + sign, onclick: sort }),
    );
  });
  return el("thead", {}, el("tr", {}, ...cells));
}

function body(scope, walk) {
  const value = COLUMNS[order.column][1];
  const places = scope.nodes.map((_, place) => place);
  places.sort((a, b) => compared(value(scope.nodes[a]), value(scope.nodes[b])) * (order.down ? -1 : 1) || a - b);
  const rows = places.map((place) => {
    const node = scope.nodes[place];
    const [name, ...rest] = COLUMNS.map(([, , text]) => text(node));
    const press = el("button", { type: "button", class: "link", text: name, onclick: () => walk(place) });
    const first = el(
      "th",
      { scope: "row" },
      press,
      node.isTarget ? el("span", { class: "tag", text: "target" }) : null,
    );
    return el("tr", {}, first, ...rest.map((text, column) => el("td", { class: column ? "number" : "", text })));
  });
  return el("tbody", {}, ...rows);
}

function compared(one, other) {
  if (typeof one === "string") return one.localeCompare(other);
  return (one ?? -Infinity) < (other ?? -Infinity) ? -1 : (one ?? -Infinity) > (other ?? -Infinity) ? 1 : 0;
}
