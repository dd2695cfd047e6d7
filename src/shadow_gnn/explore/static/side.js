// One side of the page: a scope that is asked for, drawn, hovered, focused and edited.
// Not for: the panels next to the drawing (explorer.js).

import { ask, newest } from "./api.js";
import { showCard, spoken } from "./card.js";
import { el, say } from "./dom.js";
import { legend, legendOf } from "./legend.js";
import { refOf, scopeOf } from "./model.js";
import { Stage } from "./stage.js";
import { edgeMenu, nodeMenu } from "./whatif.js";

export class Side {
  /** page: the explorer, with about, looks, state and act. */
  constructor(page, title) {
    this.page = page;
    this.next = newest();
    this.answer = null;
    this.scope = null;
    /** Places of the nodes that were dragged, by target and by key of the node. */
    this.held = new Map();
    this.board = el("div", {
      class: "board",
      tabindex: 0,
      role: "application",
      "aria-label": title,
      "aria-roledescription": "drawing of a scope",
      "aria-describedby": "said",
    });
    this.card = el("div", { class: "card", hidden: true, "aria-hidden": "true" });
    this.menu = el("div", { class: "node-menu", role: "dialog", "aria-label": "What if", hidden: true });
    this.legend = el("ul", { class: "legend", "aria-label": "Legend" });
    this.heading = el("h3", { class: "heading", hidden: true });
    this.box = el(
      "div",
      { class: "stage" },
      this.heading,
      el("div", { class: "frame" }, this.board, this.card, this.menu),
      this.legend,
    );
    this.board.addEventListener("keydown", (event) => this.key(event));
    this.board.addEventListener("blur", () => this.hover(null));
    this.board.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Make the stage once its element is on the page. */
  open() {
    this.stage ??= new Stage(this.board, {
      walk: (place) => this.walk(place),
      edit: (place, spot) => this.openMenu(place, spot),
      editEdge: (place, spot) => this.openEdgeMenu(place, spot),
      hover: (place, spot) => this.hover(place, spot),
      leave: () => this.closeMenu(),
      describe: (place) => this.describe(place),
      hold: (place, at) => this.hold(place, at),
    });
  }

  /** Ask for the scope of a body and return whether it came; a newer question ends an older one. */
  load(body) {
    const question = JSON.stringify(body);
    if (question !== this.question) {
      this.question = question;
      this.coming = this.ask(body);
    }
    return this.coming;
  }

  async ask(body) {
    const { question } = this;
    this.box.classList.add("waiting");
    try {
      const answer = await ask("scope", { body, signal: this.next() });
      performance.mark("answer");
      this.answer = answer;
      this.scope = scopeOf(answer, this.page.about, this.page.looks, this.page.state.edits);
      this.fresh = true;
      return true;
    } catch (fault) {
      if (fault.name === "AbortError") return false;
      this.question = null;
      throw fault;
    } finally {
      if (question === this.question || this.question === null) this.box.classList.remove("waiting");
    }
  }

  /** Draw the scope; given: {mode, shared, hints, title}; heading: shown over a drawing of two. */
  draw(given, heading) {
    this.heading.hidden = !heading;
    this.heading.textContent = heading ?? "";
    this.open();
    this.closeMenu();
    this.hover(null);
    const entries = legendOf(this.scope, given.mode);
    this.board.setAttribute(
      "aria-label",
      `${given.title}: ${this.scope.nodes.length} nodes. Arrow keys move between nodes, Enter walks, E edits.`,
    );
    const held = this.held.get(this.target);
    const all = { ...given, held, legend: entries, directed: this.page.about.graph.directed };
    // Before the drawing, whose height depends on it.
    this.legend.replaceChildren(...legend(entries, (test) => this.stage.lightWhere(test)));
    if (this.fresh) this.stage.show(this.scope, all);
    else this.stage.recolor(all);
    this.fresh = false;
    this.drawn = this.question;
  }

  /** Begin a drawing of a target; return the angles of the one before, if it had the same: what stays keeps its place. */
  anglesOf(target) {
    const before = this.target === target ? this.angles() : null;
    this.target = target;
    return before;
  }

  hold(place, at) {
    if (!this.held.has(this.target)) this.held.set(this.target, new Map());
    this.held.get(this.target).set(this.scope.nodes[place].key, at);
    this.page.showHeld();
  }

  get holds() {
    return this.held.has(this.target);
  }

  /** Let the next drawing place all nodes by itself. */
  release() {
    this.held.delete(this.target);
    this.target = null;
    this.fresh = true;
  }

  /** Return the angle of each drawn node by key, as hints for another drawing. */
  angles() {
    return new Map(this.stage.scope.nodes.map((node, place) => [node.key, this.stage.layout.places[place].angle]));
  }

  walk(place) {
    const node = this.scope.nodes[place];
    if (!node.isTarget) this.page.act.walkFrom(refOf(node));
  }

  hover(place, spot) {
    const node = place === null ? null : this.scope.nodes[place];
    showCard(this.card, this.menu.hidden ? node : null, spot, this.page.about, bounds(this.board));
  }

  /** Say the facts of the focused node, and show them. */
  describe(place) {
    say(spoken(this.scope.nodes[place], this.page.about));
    this.hover(place, this.stage.spots()[place]);
  }

  openMenu(place, spot) {
    const node = this.scope.nodes[place];
    const near = this.stage.nearby(place);
    const targets = [...near].map((other) => this.scope.nodes[other]).filter((other) => other.isTarget);
    this.place(spot, () =>
      nodeMenu(this.menu, node, { about: this.page.about, state: this.page.state, act: this.acts(), targets }),
    );
  }

  openEdgeMenu(place, spot) {
    const { source, target } = this.scope.edges[place];
    this.place(spot, () => edgeMenu(this.menu, this.scope.nodes[source], this.scope.nodes[target], this.acts()));
  }

  acts() {
    const { act } = this.page;
    const close = (work) => {
      this.closeMenu();
      work();
    };
    return { close, edit: act.edit, walk: (refs) => act.walkFrom(refs[0]) };
  }

  place(spot, filled) {
    this.hover(null);
    filled();
    this.menu.hidden = false;
    const { width, height } = this.menu.getBoundingClientRect();
    const room = bounds(this.board);
    this.menu.style.left = `${Math.max(4, Math.min(room.width - width - 4, spot.x + 8))}px`;
    this.menu.style.top = `${Math.max(4, Math.min(room.height - height - 4, spot.y - 8))}px`;
    this.menu.querySelector("button")?.focus();
  }

  closeMenu() {
    if (this.menu.hidden) return;
    const inside = this.menu.contains(document.activeElement);
    this.menu.hidden = true;
    if (inside) this.board.focus();
  }

  key(event) {
    if (!this.scope || event.ctrlKey || event.metaKey || event.altKey) return;
    const { focused } = this.stage;
    if (event.key.startsWith("Arrow")) this.stage.move(event.key);
    else if (event.key === "Enter" && focused !== null) this.walk(focused);
    else if (event.key.toLowerCase() === "e" && focused !== null) this.openMenu(focused, this.stage.spots()[focused]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  close() {
    this.next();
    this.stage?.close();
    this.box.remove();
  }
}

const bounds = (board) => ({ width: board.clientWidth, height: board.clientHeight });
