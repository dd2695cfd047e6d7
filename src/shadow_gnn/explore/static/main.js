// The start of the page: it asks what there is to explore, and makes the buttons work.
// Not for: the work behind the buttons (explorer.js).

import { ask, takeToken } from "./api.js";
import { nodeField } from "./combobox.js";
import { byId } from "./dom.js";
import { Explorer } from "./explorer.js";
import { listenToKeys } from "./keys.js";
import { plural } from "./numbers.js";
import { makeTabs } from "./tabs.js";
import { onTheme } from "./theme.js";

async function start() {
  takeToken();
  const about = await ask("about");
  const { graph } = about;
  byId("graph-name").textContent = graph.name;
  byId("graph-name").title = `${plural(graph.nodes, "node")}, ${plural(graph.edges, "edge")}`;
  const page = new Explorer(about);
  const go = (ref) =>
    page.change({
      target: page.wantsPair() && page.state.target.length === 2 ? [ref, page.state.target[1]] : [ref],
      edits: [],
      explained: null,
      view: "scope",
    });
  const label = graph.has_names ? "Find a node by name" : "Find a node by id";
  byId("search").append(nodeField({ label, about, id: "find", placeholder: `${label}  ( / )`, chosen: go }));
  if (about.runs.some((run) => run.kind === "links")) {
    const second = (ref) => page.change({ target: [page.state.target[0], ref], edits: [], view: "scope" });
    byId("search").append(
      nodeField({ label: "Second node of a pair", about, placeholder: "second node of a pair", chosen: second }),
    );
  }
  press("random", () => page.random());
  press("compare", () => page.compare());
  press("split", () => page.change({ view: page.state.view === "split" ? "scope" : "split" }));
  press("by-class", () => page.change({ color: "class" }));
  press("by-why", () => page.change({ color: "why" }));
  press("zoom-in", () => page.sides.forEach((side) => side.stage.zoom(1.3)));
  press("zoom-out", () => page.sides.forEach((side) => side.stage.zoom(1 / 1.3)));
  press("zoom-fit", () => page.sides.forEach((side) => side.stage.fit()));
  press("put-back", () => page.putBack());
  press("help", () => byId("help-dialog").showModal());
  press("copy-address", () => page.guard(copyAddress));
  for (const button of document.querySelectorAll("[data-file]"))
    button.addEventListener("click", () => page.export(button.dataset.file));
  byId("export-sheet").addEventListener("click", () => (byId("export").open = false));
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("drawing").querySelector(".board")?.focus();
  });
  makeTabs(byId("tabs"), () => page.sides[0]?.answer && page.panels());
  listenToKeys(page);
  onTheme(() => page.sides.forEach((side) => side.stage?.recolor({})));
  addEventListener("popstate", () => page.read());
  // For the console, and for tests of the page.
  globalThis.explorer = page;
  await page.guard(() => page.read());
}

/** Put the address into the clipboard, which browsers allow only to this machine's pages and to encrypted ones. */
async function copyAddress() {
  if (!navigator.clipboard)
    throw new Error("This page may not use the clipboard. Copy the address from the browser's bar.");
  await navigator.clipboard.writeText(location.href);
}

const press = (id, work) => byId(id).addEventListener("click", work);

start().catch((fault) => {
  byId("fault").textContent = fault.message;
  byId("fault").hidden = false;
});
