"""A served explorer on a small graph with hostile names, and pages of Debian's chromium that look at it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.communities import communities, small_recipe

from shadow_gnn.graph.record import Graph, NodeNames
from shadow_gnn.graph.store import open_graph, save_graph

HOSTILE = (
    '<img src=x onerror="window.hit=1">',
    '"><script>window.hit=1</script>',
    "javascript:window.hit=1",
    "a&node=b#c=d+e%20f",
    "100",
    "\u202eevil\u202c",
    "__proto__",
)
CLASSES = ("<b onmouseover=window.hit=1>red</b>", "green", "<img src=x onerror=window.hit=1>")
COLUMNS = ("<svg onload=window.hit=1>", "b", "c")
FILES = ("png", "svg", "json", "recipe", "python")


DRAWN = """title => {
  const page = globalThis.explorer;
  if (!page.sides.length || page.sides.length !== page.state.sides.length) return false;
  const asked = (side, number) => side.drawn === JSON.stringify(page.body(page.state.sides[number]));
  return page.sides.every((side, number) => side.answer && !side.fresh && asked(side, number))
    && (title === null || document.getElementById("title").textContent === title);
}"""
"""Whether the page shows the answer to its own state."""


def chromium() -> str | None:
    """Return the browser of this machine."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass(frozen=True)
class Served:
    """An explorer that answers at an address."""

    url: str
    graph: Graph
    explorer: Any

    def ask(self, **body: Any) -> Any:
        """Return the answer that the page gets for a scope, computed in Python."""
        from shadow_gnn.explore.requests import ScopeBody

        return self.explorer.scope(ScopeBody.model_validate(body)).result(60)


def hostile_graph() -> Graph:
    plain = communities()
    names = [*HOSTILE, *(f"node {number}" for number in range(len(HOSTILE), plain.num_nodes))]
    return replace(plain, node_name=NodeNames.of(names), class_name=NodeNames.of(list(CLASSES)), column_names=COLUMNS)


@contextmanager
def serve(folder: Path, runs: Sequence[str], name: str) -> Iterator[Served]:
    """Serve the graph `g` of a folder with runs of the same folder."""
    import uvicorn

    from shadow_gnn.explore.explorer import Explorer
    from shadow_gnn.explore.routes import create_explorer_app
    from shadow_gnn.explore.runs import open_explored
    from shadow_gnn.graph.changes.live_graph import LiveGraph
    from shadow_gnn.serve.server import listen

    live = LiveGraph(open_graph(folder / "g"))
    explorer = Explorer(live, [open_explored(run, folder / run, live) for run in runs], name=name)
    opened = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_explorer_app(explorer), log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    yield Served(f"http://127.0.0.1:{opened.getsockname()[1]}/", live.stored, explorer)
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread: on models this small a second one only waits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """Serve the graph of hostile names with two trained runs; the second one reads labels."""
    pytest.importorskip("fastapi")
    from shadow_gnn.training.runs.run import RunOptions, train_recipe

    folder: Path = tmp_path_factory.mktemp("explore")
    graph = hostile_graph()
    save_graph(graph, folder / "g")
    for name, topk in (("first", 12), ("second", 20)):
        reads_labels = name == "second"
        recipe = small_recipe(training__num_epochs=6, extractor={"topk": topk}, inputs__labels=reads_labels)
        train_recipe(recipe, folder / name, options=RunOptions(graph=graph))
    with serve(folder, ("first", "second"), "<i>graph</i>") as made:
        yield made


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser, or skip with the reason."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("no chromium: `apt-get install chromium` adds it")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield opened
        opened.close()


class Visit:
    """A page that is open, with what went wrong on it."""

    def __init__(self, page: Any, served: Served) -> None:
        self.page, self.served = page, served
        self.faults: list[str] = []
        self.hosts: set[str] = set()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2] if "//" in request.url else ""))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def open(self, address: str = "", **target: Any) -> Visit:
        """Go to an address of the explorer and wait for its drawing."""
        from urllib.parse import urlencode

        self.page.goto(f"{self.served.url}#{address or urlencode(target)}")
        self.until(lambda: self.page.evaluate("globalThis.explorer !== undefined"))
        return self

    def drawn(self, title: str | None = None) -> Visit:
        """Wait until the page shows an answer, that of a target if its title is given."""
        # Playwright's own waiting evaluates text in the page, which its security policy refuses.
        self.until(lambda: self.page.evaluate(DRAWN, title))
        return self

    def until(self, test: Callable[[], bool], seconds: float = 30) -> None:
        """Wait until a test holds."""
        end = time.monotonic() + seconds
        while not test():
            assert time.monotonic() < end, "it did not happen in time"
            self.page.wait_for_timeout(20)

    @property
    def names(self) -> list[str]:
        """Names of the nodes that are drawn."""
        return self.page.evaluate("explorer.sides[0].scope.nodes.map(node => node.name)")

    @property
    def shown(self) -> str:
        """The predicted class that the panel shows."""
        return self.page.locator("#prediction .answer").first.inner_text()

    def spot(self, name: str) -> tuple[float, float]:
        """Return where a node is on the screen."""
        found = self.page.evaluate(
            "name => { const {stage, scope} = explorer.sides[0]; const spot = stage.spots()[scope.nodes.findIndex("
            "node => node.name === name)]; const box = stage.box.getBoundingClientRect();"
            " return [box.left + spot.x, box.top + spot.y]; }",
            name,
        )
        return found[0], found[1]

    def state(self) -> dict[str, Any]:
        return json.loads(self.page.evaluate("JSON.stringify(explorer.state)"))


@contextmanager
def visiting(browser: Any, served: Served) -> Iterator[Visit]:
    """Open a page; at its end nothing may have gone wrong and nothing may have been asked of another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    made = Visit(context.new_page(), served)
    made.page.set_default_timeout(30_000)
    yield made
    hit = made.page.evaluate("globalThis.hit")
    foreign = made.page.locator("img, body script, body svg, iframe, object, embed").count()
    context.close()
    assert (made.faults, hit, foreign) == ([], None, 0)
    assert made.hosts <= {served.url.split("/")[2], ""}


@pytest.fixture
def visit(browser, served) -> Iterator[Visit]:
    with visiting(browser, served) as made:
        yield made
