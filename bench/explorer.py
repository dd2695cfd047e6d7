"""The explorer's page in chromium: its first drawing, and the time from an answer with 4,000 edges to its drawing."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from common import CACHE, ROOT, Bar, Report, busy_share, finish, load_line, options

from shadow_gnn import save_graph
from shadow_gnn.graph.importing.in_memory import from_edges

sys.path.append(str(ROOT / "tools"))
from explorer_page import browser, explorer, wait

NUM_NODES, NUM_EDGES = 200, 4000
MOST_FIRST, MOST_DRAW = 1000, 200
"""Milliseconds."""
DRAWN = "performance.getEntriesByName('draw').length > 0"


@dataclass
class Times:
    """Milliseconds of one page."""

    first: float
    """From the request for the page to its drawing."""
    first_cpu: float
    """The same, of its main thread alone."""
    draw: list[float] = field(default_factory=list)
    """From each answer to its drawing."""
    draw_cpu: list[float] = field(default_factory=list)
    """From each question to its drawing, of the main thread alone."""


def dense_graph() -> str:
    """Save a graph whose only scope is the whole of it."""
    pairs = np.stack(np.triu_indices(NUM_NODES, 1), axis=1)
    chosen = np.random.default_rng(0).choice(len(pairs), NUM_EDGES, replace=False)
    folder = CACHE / "explorer"
    if not folder.exists():
        save_graph(from_edges(*pairs[chosen].T, NUM_NODES), folder)
    return str(folder)


def cpu_of(tools: Any) -> float:
    """Return the milliseconds that the main thread of the page has worked."""
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["TaskDuration"])


def visit(chromium: Any, url: str, num_targets: int) -> Times:
    """Return the times of a page that is opened, and of its next targets."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{url}#id=0&kind=ppr&options=%7B%22topk%22:{NUM_NODES}%7D")
    wait(page, f"globalThis.explorer !== undefined && {DRAWN}")
    times = Times(page.evaluate("performance.getEntriesByName('first page')[0].duration"), cpu_of(tools))
    for target in range(1, 1 + num_targets):
        page.evaluate("performance.clearMeasures('draw')")
        before = cpu_of(tools)
        page.evaluate("target => explorer.change({target: [target]})", target)
        wait(page, DRAWN)
        times.draw_cpu.append(cpu_of(tools) - before)
        times.draw.append(page.evaluate("performance.getEntriesByName('draw')[0].duration"))
    size = page.evaluate("[explorer.sides[0].scope.nodes.length, explorer.sides[0].scope.edges.length]")
    assert size == [NUM_NODES, NUM_EDGES]
    context.close()
    return times


def main(chosen: argparse.Namespace) -> None:
    notes = [load_line(busy_share()), f"Scopes of {NUM_NODES} nodes and {NUM_EDGES:,} edges, 1440 by 900 pixels."]
    report = Report("Explorer, in chromium", ("milliseconds", "median", "least", "most"), notes=notes)
    with explorer(dense_graph()) as url, browser() as chromium:
        found = [visit(chromium, url, 2 if chosen.quick else 8) for _ in range(2 if chosen.quick else 5)]
    first, draw = [one.first for one in found], [time for one in found for time in one.draw]
    for name, times in (
        ("first page, from its request to its drawing", first),
        ("first page, CPU time of its main thread", [one.first_cpu for one in found]),
        ("scope, from its answer to its drawing", draw),
        ("scope, CPU time of the main thread from question to drawing", [t for one in found for t in one.draw_cpu]),
    ):
        report.rows.append([name, *(f"{value:.0f}" for value in (median(times), min(times), max(times)))])
    for claim, times, most in (("first page", first, MOST_FIRST), ("drawing after the answer", draw, MOST_DRAW)):
        report.bars.append(Bar(f"{claim}: at most {most} ms", f"{median(times):.0f} ms", median(times) <= most))
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
