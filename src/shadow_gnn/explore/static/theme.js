// The colors of the page as the drawing needs them, from the style sheet.
// Not for: the colors of classes and contributions (palette.js).

/** Return the colors of the current theme, dark or light. */
export function currentTheme() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    background: color("stage"),
    ring: [color("ring-even"), color("ring-odd")],
    text: color("text"),
    quiet: color("quiet"),
    border: color("border"),
    line: color("edge"),
    faint: color("edge-faint"),
    pale: color("pale"),
    focus: color("accent"),
  };
}

/** Call back when the system changes between dark and light. */
export function onTheme(work) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", work);
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
