// A whole split: confusion matrix, accuracy by degree and by class, calibration; each cell leads to its targets.
// Not for: computing them, or the list of targets (picker.js).

import { askUntilDone, newest } from "./api.js";
import { el } from "./dom.js";
import { runOf } from "./model.js";
import { percent, plural, short } from "./numbers.js";

const FEW = 12;

export class SplitView {
  /** box: an element; act: {pick(record), split(name)}. */
  constructor(about, box, act) {
    Object.assign(this, { about, box, act, next: newest(), shown: null, all: false });
  }

  show(state) {
    const run = runOf(this.about, state.sides[0].run);
    const split = state.split ?? (run?.splits.includes("test") ? "test" : run?.splits[0]);
    this.pick = state.pick;
    const question = JSON.stringify([run?.name, split]);
    if (question === this.shown) return this.answer && this.fill(run, split);
    this.shown = question;
    this.answer = null;
    if (!run || !split)
      return this.box.replaceChildren(
        el("p", { class: "quiet", text: "Choose a run to see its predictions of a whole split." }),
      );
    return this.load(run, split);
  }

  async load(run, split) {
    const bar = el("progress", { max: 1, "aria-label": "Predicting the split" });
    this.box.replaceChildren(el("p", { role: "status", text: `Predicting all targets of ${split}\u2026` }), bar);
    try {
      const path = `split?run=${encodeURIComponent(run.name)}&split=${encodeURIComponent(split)}`;
      this.answer = await askUntilDone(path, { signal: this.next(), told: (share) => (bar.value = share) });
      this.fill(run, split);
    } catch (fault) {
      if (fault.name === "AbortError") return;
      this.shown = null;
      this.box.replaceChildren(el("p", { class: "fault", role: "alert", text: fault.message }));
    }
  }

  fill(run, split) {
    const { answer } = this;
    const select = el("select", { "aria-label": "Split", onchange: () => this.act.split(select.value) });
    select.append(...run.splits.map((name) => el("option", { value: name, text: name })));
    select.value = split;
    const value = answer.value === null ? "" : answer.value <= 1 ? percent(answer.value) : short(answer.value);
    this.box.replaceChildren(
      el(
        "header",
        {},
        el("h2", { text: `${run.name} on the split` }),
        select,
        el(
          "p",
          {},
          el("strong", { class: "big", text: value }),
          ` ${answer.metric} of ${plural(answer.count, "target")}`,
        ),
      ),
      el("div", { class: "charts" }, this.confusion(), this.degrees(), this.classes(), this.calibration()),
    );
  }

  button(text, label, pick) {
    const now = this.pick && Object.entries(pick).every(([name, value]) => this.pick[name] === value);
    return el("button", {
      type: "button",
      class: "cell",
      text,
      "aria-label": label,
      "aria-pressed": String(Boolean(now)),
      onclick: () => this.act.pick({ ...pick, split: this.answer.split }),
    });
  }

  confusion() {
    const { confusion, classes } = this.answer;
    if (!confusion) return null;
    const order = [...classes]
      .filter((one) => one.count || one.predicted)
      .sort((a, b) => b.count - a.count || a.number - b.number);
    const kept = this.all ? order : order.slice(0, FEW);
    const head = el(
      "tr",
      {},
      el("th", { scope: "col", text: "true \\ predicted" }),
      ...kept.map((one) => el("th", { scope: "col", class: "slanted" }, el("span", { text: one.name }))),
    );
    const rows = kept.map((row) => {
      const cells = kept.map((column) => {
        const count = confusion[row.number][column.number];
        const cell = el(
          "td",
          {},
          count
            ? this.button(short(count), `${count} of class ${row.name} predicted as ${column.name}`, {
                by: "confused",
                true: row.number,
                predicted: column.number,
              })
            : null,
        );
        const share = count / Math.max(1, row.count);
        if (count)
          cell.style.backgroundColor =
            row === column
              ? `rgb(0 114 178 / ${0.08 + 0.6 * share})`
              : `rgb(213 94 0 / ${Math.min(0.85, 0.06 + 1.6 * share)})`;
        return cell;
      });
      return el("tr", {}, el("th", { scope: "row", text: row.name }), ...cells);
    });
    const toggle = () => {
      this.all = !this.all;
      this.fill(runOf(this.about, this.answer.run), this.answer.split);
    };
    const more =
      order.length > FEW
        ? el("button", {
            type: "button",
            class: "link",
            text: this.all ? `only the ${FEW} largest classes` : `all ${order.length} classes`,
            onclick: toggle,
          })
        : null;
    return el(
      "section",
      { class: "chart wide-chart" },
      el("h3", { text: "Confusion" }),
      el(
        "div",
        { class: "wide" },
        el("table", { class: "confusion" }, el("thead", {}, head), el("tbody", {}, ...rows)),
      ),
      more,
    );
  }

  degrees() {
    const errors = this.answer.kind === "values";
    const measured = { values: "Mean absolute error", multilabel: "F1" }[this.answer.kind] ?? "Accuracy";
    const most = Math.max(...this.answer.by_degree.map((one) => one.value ?? 0), errors ? 1e-12 : 1);
    return chart(
      `${measured} by number of neighbors`,
      this.answer.by_degree
        .filter((one) => one.count)
        .map((one) => this.line(one.name, one.value, most, one.count, { by: "degree", bin: one.bin })),
    );
  }

  classes() {
    const known = this.answer.classes.filter((one) => one.count).sort((a, b) => b.count - a.count);
    if (!known.length) return null;
    return chart(
      "Recall by class",
      known.map((one) => this.line(one.name, one.recall, 1, one.count, { by: "class", class: one.number })),
    );
  }

  calibration() {
    const made = this.answer.calibration;
    if (!made) return null;
    const lines = made.bins
      .filter((one) => one.count)
      .map((one) =>
        this.line(
          `${percent(one.low)}\u2013${percent(one.high)}`.replaceAll(".0%", "%"),
          one.right,
          1,
          one.count,
          { by: "calibration", bin: one.bin },
          one.probability,
        ),
      );
    const note = el("p", {
      class: "quiet",
      text: `Share that is right by the probability of the prediction; the mark is the mean probability. Expected error ${percent(made.error)}.`,
    });
    return chart("Calibration", lines, note);
  }

  /** A bar that leads to its targets; mark: a value to compare with. */
  line(name, value, most, count, pick, mark = null) {
    const filled = el("span", { class: "filled" });
    filled.style.width = `${(100 * (value ?? 0)) / most}%`;
    const track = el("span", { class: "track" }, filled);
    if (mark !== null) {
      const tick = el("span", { class: "tick" });
      tick.style.left = `${(100 * mark) / most}%`;
      track.append(tick);
    }
    const text = value === null ? "" : most === 1 ? percent(value) : short(value);
    const press = this.button("", `${name}: ${text} of ${plural(count, "target")}`, pick);
    press.classList.add("bar");
    press.append(
      el("span", { class: "name" }, name, " ", el("span", { class: "quiet", text: count.toLocaleString("en-US") })),
      track,
      el("span", { class: "number", text }),
    );
    return el("li", {}, press);
  }
}

function chart(title, lines, note = null) {
  return el("section", { class: "chart" }, el("h3", { text: title }), note, el("ul", { class: "bars" }, ...lines));
}
