// The state of the page, and the address that holds all of it.
// Not for: answers of the server, or what is hovered and focused at the moment.

/** Kinds of edits, as the server names them. */
const EDITS = ["remove_nodes", "remove_edges", "add_edges", "features", "labels", "new_nodes"];
const PLAIN = [
  ["method", null],
  ["explained", null],
  ["color", "class"],
  ["view", "scope"],
  ["split", null],
];

/** Return the state of an empty address. */
export function emptyState() {
  return {
    target: [], // One node or a pair; each a name (text), an id (number) or {new: place of a new node}.
    sides: [{ run: null, kind: null, options: {} }],
    edits: [], // [kind, value] in the order in which they were made.
    method: null,
    explained: null,
    color: "class",
    view: "scope",
    split: null,
    pick: null,
  };
}

/** Write a state as text for the address, without the parts that have their default. */
export function toAddress(state) {
  const words = new URLSearchParams();
  for (const node of state.target) {
    if (typeof node === "object") words.append("new", node.new);
    else words.append(typeof node === "number" ? "id" : "node", node);
  }
  state.sides.forEach((side, number) => {
    const mark = number ? String(number + 1) : "";
    if (number) words.set("sides", String(number + 1));
    if (side.run) words.set(`run${mark}`, side.run);
    if (side.kind) words.set(`kind${mark}`, side.kind);
    if (side.kind && Object.keys(side.options).length) words.set(`options${mark}`, JSON.stringify(side.options));
  });
  if (state.edits.length) words.set("edits", JSON.stringify(state.edits));
  if (state.pick) words.set("pick", JSON.stringify(state.pick));
  for (const [name, usual] of PLAIN) if (state[name] !== usual && state[name] !== null) words.set(name, state[name]);
  return words.toString();
}

/** Read a state from an address; parts that cannot be read have their default. */
export function fromAddress(text) {
  const words = new URLSearchParams(text);
  const state = emptyState();
  state.target = [...words]
    .map(node)
    .filter((ref) => ref !== null)
    .slice(0, 2);
  const count = words.get("sides") === "2" ? 2 : 1;
  state.sides = Array.from({ length: count }, (_, number) => {
    const mark = number ? String(number + 1) : "";
    const options = record(words.get(`options${mark}`)) ?? {};
    return { run: words.get(`run${mark}`), kind: words.get(`kind${mark}`), options };
  });
  const edits = parsed(words.get("edits"));
  state.edits = Array.isArray(edits) ? edits.filter((one) => Array.isArray(one) && EDITS.includes(one[0])) : [];
  state.pick = record(words.get("pick"));
  for (const name of ["method", "explained", "split"]) state[name] = words.get(name);
  state.color = words.get("color") === "why" ? "why" : "class";
  state.view = words.get("view") === "split" ? "split" : "scope";
  return state;
}

/** Return edits as a request has them: a list for each kind. */
export function wireEdits(edits) {
  const lists = {};
  for (const [kind, value] of edits) (lists[kind] ??= []).push(value);
  return lists;
}

function node([name, value]) {
  if (name === "node") return value;
  if (!/^\d{1,15}$/.test(value)) return null;
  if (name === "id") return Number(value);
  return name === "new" ? { new: Number(value) } : null;
}

function record(text) {
  const value = parsed(text);
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
