// A text field that offers nodes as you type (the ARIA pattern of an editable combobox with a list).
// Not for: what a choice does (main.js, whatif.js).

import { ask, newest } from "./api.js";
import { el, later } from "./dom.js";
import { labelText } from "./model.js";

let count = 0;

/** Return an element; given: {label, about, chosen(ref), placeholder}; chosen gets a name, or an id without names. */
export function nodeField({ label, about, chosen, placeholder = "", id }) {
  const list = el("ul", {
    role: "listbox",
    id: `offers-${++count}`,
    class: "offers",
    hidden: true,
    "aria-label": label,
  });
  const input = el("input", {
    ...{ type: "search", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder, id },
    ...{ "aria-label": label, "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list" },
  });
  const field = new Field(input, list, about, chosen);
  input.addEventListener("input", field.searchLater);
  input.addEventListener("keydown", (event) => field.key(event));
  input.addEventListener("blur", () => setTimeout(() => field.close(), 150));
  return el("div", { class: "node-field" }, input, list);
}

class Field {
  constructor(input, list, about, chosen) {
    Object.assign(this, { input, list, about, chosen, nodes: [], active: -1, next: newest() });
    this.searchLater = later(60, () => this.search());
  }

  async search() {
    const text = this.input.value.trim();
    if (!text) return this.close();
    try {
      const answer = await ask(`find?text=${encodeURIComponent(text)}&limit=20`, { signal: this.next() });
      this.offer(answer.nodes);
    } catch (fault) {
      if (fault.name !== "AbortError") this.offer([]);
    }
  }

  offer(nodes) {
    this.nodes = nodes;
    this.active = -1;
    this.list.replaceChildren(
      ...nodes.map((node, place) =>
        el(
          "li",
          { role: "option", id: `${this.list.id}-${place}`, onmousedown: (event) => this.pick(place, event) },
          el("span", { text: node.name ?? String(node.id) }),
          el("span", { class: "quiet", text: labelText(node.label, this.about.graph.classes) }),
        ),
      ),
    );
    if (!nodes.length) this.list.append(el("li", { class: "quiet", text: "No node has a name like this." }));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.input.removeAttribute("aria-activedescendant");
  }

  async key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (step && !this.list.hidden && this.nodes.length) {
      event.preventDefault();
      this.mark((this.active + step + this.nodes.length) % this.nodes.length);
    } else if (event.key === "Enter" && this.input.value.trim()) {
      event.preventDefault();
      this.searchLater.cancel();
      if (this.active < 0) await this.search();
      if (this.nodes.length) this.pick(Math.max(0, this.active));
    }
  }

  mark(place) {
    this.active = place;
    [...this.list.children].forEach((row, number) => row.setAttribute("aria-selected", String(number === place)));
    this.input.setAttribute("aria-activedescendant", `${this.list.id}-${place}`);
    this.list.children[place].scrollIntoView({ block: "nearest" });
  }

  pick(place, event) {
    event?.preventDefault();
    const node = this.nodes[place];
    this.input.value = "";
    this.close();
    this.chosen(node.name ?? node.id);
  }

  close() {
    this.list.hidden = true;
    this.list.replaceChildren();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
