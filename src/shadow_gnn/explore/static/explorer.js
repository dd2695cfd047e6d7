// The explorer: it turns the state into questions, and the answers into drawings and panels.
// Not for: single panels, or the keys (keys.js).

import { askUntilDone } from "./api.js";
import { byId, fill, say } from "./dom.js";
import { download } from "./exports.js";
import { refText, runOf, sameRef, sideText } from "./model.js";
import { percent, plural } from "./numbers.js";
import { ClassLooks } from "./palette.js";
import { fillChips, fillPanels, outcomes } from "./panels.js";
import { Picker } from "./picker.js";
import { settings } from "./settings.js";
import { Side } from "./side.js";
import { SplitView } from "./splitview.js";
import { emptyState, fromAddress, toAddress, wireEdits } from "./state.js";
import { editText, withEdit } from "./whatif.js";

export class Explorer {
  constructor(about) {
    this.about = about;
    this.looks = new ClassLooks();
    this.sides = [];
    this.state = emptyState();
    this.moved = -Infinity;
    this.act = {
      walkFrom: (ref) => this.walkFrom(ref),
      edit: (edit) => this.setEdits(withEdit(this.state.edits, edit)),
      edits: (edits) => this.setEdits(edits),
      made: (value) => this.made(value),
    };
    const pick = (record) => this.change({ pick: record });
    this.picker = new Picker(about, byId("pick-form"), byId("pick-list"), {
      pick,
      walk: (refs) => this.change({ target: refs, view: "scope", edits: [], explained: null }),
    });
    this.split = new SplitView(about, byId("split-view"), {
      pick,
      split: (split) => this.change({ split, pick: null }),
    });
  }

  /** Take the state from the address; an address without a run means the first one, without a target a random one. */
  async read() {
    const state = fromAddress(location.hash.slice(1));
    const bare = !location.hash.slice(1);
    state.sides = state.sides.map((side) => ({
      ...side,
      run: side.run ?? (bare || !side.kind ? (this.about.runs[0]?.name ?? null) : null),
    }));
    if (!state.target.length && state.view === "scope") state.target = await this.randomTarget(state, 0);
    this.state = state;
    history.replaceState(null, "", `#${toAddress(state)}`);
    await this.render();
  }

  /** Change parts of the state, as a new entry of the history; a slider that is moved makes one entry. */
  async change(parts) {
    const before = toAddress(this.state);
    const moving = parts.sides?.length === this.state.sides.length;
    this.state = { ...this.state, ...parts };
    const now = toAddress(this.state);
    if (now !== before) {
      const again = moving && performance.now() - this.moved < 1000;
      history[again ? "replaceState" : "pushState"](null, "", `#${now}`);
      this.moved = moving ? performance.now() : -Infinity;
    }
    await this.render();
  }

  async randomTarget(state, seed) {
    const run = runOf(this.about, state.sides[0].run);
    const names = this.about.graph.splits.map((one) => one.name);
    const split = (run?.splits ?? names).includes("test") ? "test" : (run?.splits[0] ?? null);
    const body = { by: "random", seed, limit: 1, ...(run ? { run: run.name } : {}), ...(split ? { split } : {}) };
    const told = (share) => (byId("title").textContent = `Predicting the split: ${percent(share)}`);
    const [found] = (await askUntilDone("pick", { body, told })).nodes;
    if (!found) return [];
    const first = found.name ?? found.id;
    return found.other_id === undefined ? [first] : [first, found.other_name ?? found.other_id];
  }

  async random() {
    const seed = Math.floor(Math.random() * 1e9);
    await this.guard(async () =>
      this.change({ target: await this.randomTarget(this.state, seed), edits: [], explained: null, view: "scope" }),
    );
  }

  /** Walk to a node; with a pair, it becomes the first end. Edits stay. */
  walkFrom(ref) {
    const [, second] = this.state.target;
    const pair = this.wantsPair() && second !== undefined && !sameRef(second, ref);
    this.change({ target: pair ? [ref, second] : [ref], explained: null, view: "scope" });
  }

  wantsPair() {
    return runOf(this.about, this.state.sides[0].run)?.kind === "links";
  }

  /** Set the edits; those of new nodes that are gone go with them, and so does a target that is gone. */
  setEdits(edits) {
    const made = edits.filter(([kind]) => kind === "new_nodes").length;
    const gone = (value) =>
      JSON.stringify(value)
        .match(/\{"new":(\d+)\}/g)
        ?.some((ref) => JSON.parse(ref).new >= made) ?? false;
    const kept = edits.filter(([, value]) => !gone(value));
    const lost = this.state.target.some((ref) => gone(ref));
    const last = this.state.edits.filter(([kind]) => kind === "new_nodes").at(-1);
    const target = lost ? [last[1].edges[0].to] : this.state.target;
    this.change({ edits: kept, target });
  }

  /** Make a new node and walk to it. */
  made(value) {
    const place = this.state.edits.filter(([kind]) => kind === "new_nodes").length;
    this.change({ edits: [...this.state.edits, ["new_nodes", value]], target: [{ new: place }], explained: null });
  }

  /** Put a second side next to the first, or take it away. */
  compare() {
    const [first, second] = this.state.sides;
    if (second) return this.change({ sides: [first] });
    const others = this.about.runs.filter((run) => run.name !== first.run);
    const kinds = this.about.extractors.map((one) => one.kind);
    const other = kinds.includes("khop") && first.kind !== "khop" ? "khop" : kinds[0];
    const side = others.length
      ? { run: others[0].name, kind: null, options: {} }
      : { run: first.run, kind: other, options: {} };
    return this.change({ sides: [first, side], view: "scope" });
  }

  body(side) {
    const { target, edits, method, explained } = this.state;
    const run = runOf(this.about, side.run);
    const body = target.length === 2 ? { pair: target } : { node: target[0] };
    if (run) {
      body.run = run.name;
      body.explain = true;
      if (method && run.methods.includes(method)) body.method = method;
      if (explained !== null && run.classes[Number(explained)] !== undefined) body.class = Number(explained);
    }
    if (side.kind) body.extractor = { kind: side.kind, options: side.options };
    // A model that does not read labels cannot see a change of them.
    const seen = edits.filter(([kind]) => kind !== "labels" || run?.reads_labels);
    if (seen.length) body.edits = wireEdits(seen);
    return body;
  }

  /** Show the state: what needs no answer at once, the rest when the answers come. */
  async render() {
    const { state } = this;
    const whole = state.view === "split";
    byId("page").classList.toggle("whole", whole);
    document.querySelector(".middle").hidden = whole;
    document.querySelector(".right").hidden = whole;
    byId("split-view").hidden = !whole;
    byId("split").setAttribute("aria-pressed", String(whole));
    byId("compare").setAttribute("aria-pressed", String(state.sides.length > 1));
    this.showSettings();
    this.picker.show(state);
    await this.guard(async () => {
      if (whole) await this.split.show(state);
      else if (state.target.length) await this.showScopes();
    });
  }

  async showScopes() {
    const { state } = this;
    this.matchSides();
    const came = await Promise.all(this.sides.map((side, number) => side.load(this.body(state.sides[number]))));
    // A newer state came while we waited; it shows itself.
    if (state !== this.state || came.includes(false)) return;
    this.draw();
    this.panels();
    say(this.summary());
  }

  matchSides() {
    while (this.sides.length > this.state.sides.length) this.sides.pop().close();
    while (this.sides.length < this.state.sides.length) {
      const side = new Side(this, "Scope");
      this.sides.push(side);
      byId("drawing").append(side.box);
      side.open();
    }
    byId("drawing").classList.toggle("two", this.sides.length > 1);
  }

  draw() {
    const { state, sides } = this;
    const two = sides.length > 1;
    const keys = sides.map((side) => new Set(side.scope.nodes.map((node) => node.key)));
    const shared = two ? new Set([...keys[0]].filter((key) => keys[1].has(key))) : null;
    const mode = sides.every((side) => side.answer.explanation) ? state.color : "class";
    const name = this.targetText();
    const target = JSON.stringify(state.target);
    // What stands over the drawing comes first: the height of the drawing depends on it.
    fillChips(this);
    byId("shared").hidden = !two;
    if (two)
      byId("shared").textContent =
        `${plural(shared.size, "node")} in both, outlined; ${keys[0].size - shared.size} only left, ${keys[1].size - shared.size} only right.`;
    sides.forEach((side, number) => {
      const heading = two ? sideText(this.about, state.sides[number]) : null;
      const title = two ? `${name}: ${heading}` : `Scope of ${name}`;
      const own = side.anglesOf(target);
      side.draw({ mode, shared, title, hints: number ? sides[0].angles() : own }, heading);
    });
    this.showHeld();
    byId("title").textContent = name;
    document.title = `${name} \u2013 shadow explorer`;
    byId("by-class").setAttribute("aria-pressed", String(mode === "class"));
    byId("by-why").setAttribute("aria-pressed", String(mode === "why"));
    byId("by-why").disabled = !sides.every((side) => side.answer.explanation);
    requestAnimationFrame(() => requestAnimationFrame(measure));
  }

  showHeld() {
    byId("put-back").disabled = !this.sides.some((side) => side.holds);
  }

  /** Put dragged nodes back to where the layout has them. */
  putBack() {
    if (byId("put-back").disabled) return;
    this.sides.forEach((side) => side.release());
    this.draw();
    say("All nodes are back in their places.");
  }

  panels() {
    fillPanels(this);
  }

  showSettings() {
    const { state, about } = this;
    const forms = state.sides.map((side, number) => {
      const title = state.sides.length > 1 ? (number ? "Right scope" : "Left scope") : "Scope";
      return settings(
        about,
        side,
        (changed) => this.change({ sides: state.sides.map((one, place) => (place === number ? changed : one)) }),
        title,
      );
    });
    const shown = JSON.stringify(state.sides);
    if (shown === this.settled) return;
    this.settled = shown;
    // A slider that is being dragged must stay the same element.
    if (document.activeElement?.type === "range" && byId("settings").contains(document.activeElement)) return;
    fill(byId("settings"), ...forms);
  }

  targetText() {
    return this.state.target.map((ref) => refText(ref, this.state.edits)).join(" \u2013 ");
  }

  /** Return the prediction in words; after edits, what they did to it. */
  summary() {
    const { edits } = this.state;
    const found = outcomes(this).map((one) => one.text);
    if (found.length) {
      const last = editText(edits.at(-1), this.about, edits);
      return `${this.targetText()}, ${edits.length > 1 ? `${plural(edits.length, "edit")}, the last one: ` : ""}${last}. ${found.join(" ")}`;
    }
    const parts = this.sides.map(({ answer }) => {
      const { prediction: found, truth } = answer;
      if (!found) return plural(answer.nodes.length, "node");
      const right = truth?.right === null || !truth ? "" : truth.right ? ", right" : `, wrong, it is ${truth.text}`;
      return `predicted ${found.text} ${found.probability === null ? "" : percent(found.probability)}${right}`;
    });
    return `${this.targetText()}: ${parts.join("; ")}`;
  }

  /** Write a file for each side. */
  async export(kind) {
    await this.guard(async () => {
      for (const [number, side] of this.sides.entries()) {
        const more = this.sides.length > 1 ? ` ${sideText(this.about, this.state.sides[number])}` : "";
        if (side.answer) await download(kind, this.targetText() + more, side);
      }
    });
  }

  /** Run a piece of work; a fault is shown as one line. */
  async guard(work) {
    byId("fault").hidden = true;
    try {
      await work();
    } catch (fault) {
      if (fault.name === "AbortError") return;
      byId("fault").textContent = fault.message;
      byId("fault").hidden = false;
    }
  }
}

/** Note how long the last drawing took after its answer, and the first page after the request for it. */
function measure() {
  if (!performance.getEntriesByName("answer").length) return;
  performance.clearMeasures("draw");
  performance.mark("drawn");
  performance.measure("draw", "answer", "drawn");
  if (!performance.getEntriesByName("first page").length) performance.measure("first page", { start: 0, end: "drawn" });
  for (const name of ["answer", "drawn"]) performance.clearMarks(name);
}
