// Tabs by the ARIA pattern: arrow keys move between them, one panel is shown.
// Not for: what is in the panels.

/** Make a list of tab buttons work; told: called with the id of the panel that is shown. */
export function makeTabs(list, told = () => {}) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const show = (chosen) => {
    for (const tab of tabs) {
      const now = tab === chosen;
      tab.setAttribute("aria-selected", String(now));
      tab.tabIndex = now ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !now;
    }
    told(chosen.getAttribute("aria-controls"));
  };
  for (const tab of tabs) tab.addEventListener("click", () => show(tab));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    show(next);
  });
  return (panel) => show(tabs.find((tab) => tab.getAttribute("aria-controls") === panel));
}
