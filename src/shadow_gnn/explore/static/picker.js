// Picking targets: at random, by class, by wrong and certain, by low confidence, or those of a cell of the split.
// Not for: finding a node by its name (combobox.js).

import { askUntilDone, newest } from "./api.js";
import { pickedText } from "./card.js";
import { el } from "./dom.js";
import { runOf } from "./model.js";
import { percent, plural } from "./numbers.js";

const PAGE = 20;

const WAYS = {
  random: "at random",
  wrong: "wrong and most certain",
  unsure: "least certain",
  class: "of a class",
  degree: "most neighbors",
};
const NEED_RUN = ["wrong", "unsure", "confused", "calibration"];

/** Return what a pick asks for in words. */
export function pickText(pick, classes) {
  const name = (number) => classes[number] ?? number;
  if (pick.by === "confused") return `${name(pick.true)} predicted as ${name(pick.predicted)}`;
  if (pick.by === "calibration") return `probability in bin ${pick.bin + 1}`;
  if (pick.by === "degree" && pick.bin !== undefined) return `neighbors in bin ${pick.bin + 1}`;
  if (pick.by === "class") return `of class ${name(pick.class)}`;
  return WAYS[pick.by];
}

export class Picker {
  /** form, list: elements; act: {pick(record), walk(refs)}. */
  constructor(about, form, list, act) {
    Object.assign(this, { about, form, list, act, next: newest(), shown: null, seed: 0 });
  }

  /** Show the form and the targets for a state; they are asked for only if the question changed. */
  show(state) {
    const run = runOf(this.about, state.sides[0].run);
    this.run = run;
    this.classes = run?.classes.length ? run.classes : this.about.graph.classes;
    this.fields(state.pick);
    const body = state.pick && this.body(state.pick, run);
    const question = JSON.stringify(body);
    this.target = state.target;
    if (question === this.shown) return this.mark();
    this.shown = question;
    if (body) return this.load(body);
    return this.list.replaceChildren();
  }

  body(pick, run) {
    const body = { limit: PAGE, ...pick };
    if (run) body.run = run.name;
    if (!body.split && run) body.split = run.splits.includes("test") ? "test" : run.splits[0];
    return NEED_RUN.includes(pick.by) && !run ? null : body;
  }

  fields(pick) {
    const ways = Object.entries(WAYS).filter(
      ([by]) => (this.run || !NEED_RUN.includes(by)) && (by !== "class" || this.classes.length),
    );
    const by = el("select", { "data-key": "pick by", "aria-label": "Pick targets" });
    by.append(
      el("option", { value: "", text: "pick targets\u2026" }),
      ...ways.map(([name, text]) => el("option", { value: name, text })),
    );
    if (pick && !ways.some(([name]) => name === pick.by))
      by.append(el("option", { value: pick.by, text: pickText(pick, this.classes) }));
    by.value = pick?.by ?? "";
    const first = this.classes.length ? 0 : undefined;
    by.addEventListener("change", () =>
      this.act.pick(
        by.value
          ? {
              by: by.value,
              ...(by.value === "class" ? { class: first } : {}),
              ...(by.value === "random" ? { seed: this.seed } : {}),
            }
          : null,
      ),
    );
    const parts = [by];
    if (pick?.by === "class") {
      const which = el("select", {
        "data-key": "pick class",
        "aria-label": "Class",
        onchange: () => this.act.pick({ ...pick, class: Number(which.value), offset: undefined }),
      });
      which.append(...this.classes.map((name, number) => el("option", { value: number, text: name })));
      which.value = String(pick.class);
      parts.push(which);
    }
    if (pick?.by === "random") {
      const again = () => this.act.pick({ by: "random", seed: (this.seed = (pick.seed ?? 0) + 1) });
      parts.push(el("button", { type: "button", "data-key": "pick again", text: "others", onclick: again }));
    }
    if (this.form.dataset.shown !== JSON.stringify([pick, this.run?.name])) {
      this.form.dataset.shown = JSON.stringify([pick, this.run?.name]);
      const key = this.form.contains(document.activeElement) && document.activeElement.dataset.key;
      this.form.replaceChildren(...parts);
      if (key) [...this.form.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus();
    }
  }

  async load(body) {
    const wait = el("p", { class: "quiet", role: "status", text: "Looking\u2026" });
    this.list.replaceChildren(wait);
    const told = (share) => (wait.textContent = `Predicting the split: ${percent(share)}`);
    try {
      const answer = await askUntilDone("pick", { body, signal: this.next(), told });
      this.fill(answer, body);
    } catch (fault) {
      if (fault.name !== "AbortError")
        this.list.replaceChildren(el("p", { class: "fault", role: "alert", text: fault.message }));
    }
  }

  fill(answer, body) {
    const rows = answer.nodes.map((target) => {
      const refs = [target.name ?? target.id];
      if (target.other_id !== undefined) refs.push(target.other_name ?? target.other_id);
      const text = pickedText(target, this.classes);
      const row = el(
        "button",
        { type: "button", class: "picked", onclick: () => this.act.walk(refs) },
        el("span", { text: refs.join(" \u2013 ") }),
        el("span", { class: "quiet", text }),
      );
      row.dataset.refs = JSON.stringify(refs);
      return el("li", {}, row);
    });
    const offset = body.offset ?? 0;
    const total = `${plural(answer.total, "target")}${answer.total > rows.length ? `, ${offset + 1} to ${offset + rows.length}` : ""}`;
    const page = (to, text) =>
      el("button", {
        type: "button",
        class: "link",
        text,
        onclick: () => this.act.pick({ ...this.without(body), offset: to || undefined }),
      });
    const pages = [
      offset > 0 ? page(Math.max(0, offset - PAGE), "\u2190 before") : null,
      offset + rows.length < answer.total && body.by !== "random" ? page(offset + PAGE, "more \u2192") : null,
    ];
    this.list.replaceChildren(
      el("p", { class: "quiet", text: total }),
      el("ul", { class: "picks" }, ...rows),
      el("p", { class: "pages" }, ...pages.filter(Boolean)),
    );
    this.mark();
  }

  /** Return a question without the parts that are filled in from the run. */
  without({ limit: _limit, run: _run, ...pick }) {
    return pick;
  }

  mark() {
    const now = JSON.stringify(this.target);
    for (const row of this.list.querySelectorAll(".picked")) row.classList.toggle("current", row.dataset.refs === now);
  }
}
