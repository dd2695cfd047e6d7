// Building the page from elements and text. Data becomes text nodes and attribute values, never markup.
// Not for: what the elements mean (panels), or their look (*.css).

/** Return an element; props: class, text, data-*, aria-*, on* listeners and other attributes; children: nodes or text. */
export function el(kind, props = {}, ...children) {
  const node = document.createElement(kind);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** Replace the children of an element, keeping the focus on the element with the same data-key. */
export function fill(parent, ...children) {
  const key = parent.contains(document.activeElement) && document.activeElement.dataset.key;
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
  if (key) [...parent.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus();
}

/** Say a line to screen readers without showing it. */
export function say(text) {
  byId("said").textContent = text;
}

/** Return a function that runs once after the given pause in its calls; its cancel() ends the waiting. */
export function later(milliseconds, work) {
  let timer;
  const called = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
  called.cancel = () => clearTimeout(timer);
  return called;
}
