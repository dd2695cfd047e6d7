// The graph and its scopes as the page sees them: nodes with names and classes in words.
// Not for: drawing (stage.js), or asking (api.js).

/** Return how a request names a node of a scope. */
export function refOf(node) {
  if (node.new !== null && node.new !== undefined) return { new: node.new };
  return node.rawName ?? node.name ?? node.id;
}

export const sameRef = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Return a reference in words; edits: to name new nodes. */
export function refText(ref, edits = []) {
  if (ref === null || typeof ref !== "object") return String(ref);
  const made = edits.filter(([kind]) => kind === "new_nodes")[ref.new];
  return made?.[1].name ?? `new node ${ref.new + 1}`;
}

/** Return a label in words; classes: names by number. */
export function labelText(label, classes) {
  if (label === null || label === undefined) return "";
  if (Array.isArray(label)) return label.map((one) => classes[one] ?? one).join(", ") || "none";
  return classes.length ? (classes[label] ?? String(label)) : String(label);
}

/** Return a scope for drawing: nodes with key, name, class and rank; edges as positions. */
export function scopeOf(answer, about, looks, edits) {
  const single = about.graph.label_kind === "classes";
  const targets = new Set(answer.target);
  if (single) looks.meet(answer.nodes.map((node) => node.label));
  const nodes = answer.nodes.map((node, place) => ({
    ...node,
    rawName: node.name,
    key: node.new !== null && node.new !== undefined ? `new ${node.new}` : `n${node.id}`,
    name: node.name ?? (node.id === null ? refText({ new: node.new }, edits) : String(node.id)),
    className: labelText(node.label, about.graph.classes),
    rank: single && node.label !== null ? looks.rank(node.label) : -1,
    isTarget: targets.has(place),
  }));
  const edges = answer.edges.map((edge) => ({ ...edge, source: edge.from, target: edge.to }));
  return { nodes, edges };
}

/** Return the classes of a scope for a legend: [{number, name, count}], the most frequent first. */
export function classesOf(scope) {
  const counts = new Map();
  for (const node of scope.nodes) {
    if (node.rank < 0) continue;
    const entry = counts.get(node.rank) ?? { rank: node.rank, name: node.className, count: 0 };
    entry.count += 1;
    counts.set(node.rank, entry);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || a.rank - b.rank);
}

/** Return a run by its name; null without runs. */
export const runOf = (about, name) => about.runs.find((run) => run.name === name) ?? null;

/** Return the extractor of a side: its own, or else that of its run, or else the server's default. */
export function extractorOf(about, side) {
  if (side.kind) return { kind: side.kind, options: side.options };
  const run = runOf(about, side.run);
  return run ? run.extractor : about.default_extractor;
}

/** Return the side in words, for headings of a comparison. */
export function sideText(about, side) {
  const made = extractorOf(about, side);
  const size = made?.options.topk ?? made?.options.num_hops;
  return [side.run, made && `${made.kind}${size === undefined ? "" : ` ${size}`}`].filter(Boolean).join(", ");
}
