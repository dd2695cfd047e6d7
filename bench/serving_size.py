"""Memory and disk of `shadow serve`: a list that has changed, a scope that is kept, an update in the log, a restart.

Sizes are those of ogbn-arxiv and of scopes of 200 nodes; other graphs differ by the lengths of their lists.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import numpy as np
from common import Report, busy_share, finish, graphs, load_line, options

from shadow_gnn import open_graph, save_graph
from shadow_gnn.base.allocator import give_back_memory
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.graph.record import Graph
from shadow_gnn.serve.scope_cache import ScopeCache

HOME = Path(__file__).resolve().parent.parent / "build" / "bench" / "serving-size"


def anonymous_bytes() -> int:
    """Return the anonymous memory of this process, without what is free."""
    give_back_memory()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    raise OSError("/proc/self/status: must have RssAnon; this script needs Linux")


def edge_updates(graph: Graph, count: int) -> list[Update]:
    """Draw updates of one edge each."""
    ends = np.random.default_rng(0).integers(graph.num_nodes, size=(2 * count, 1, 2))
    return [Update(set_edges=pair) for pair in ends[ends[:, 0, 0] != ends[:, 0, 1]][:count]]


def changed_lists(graph: Graph, count: int, report: Report) -> None:
    """Measure the memory of changed lists, the bytes of their updates in the log, and how long a restart takes."""
    live = LiveGraph(graph, HOME / "log")
    updates = edge_updates(graph, count)
    live.commit(updates[:100])
    before = anonymous_bytes()
    for start in range(100, count, 1000):
        live.commit(updates[start : start + 1000])
    grown, num_rows = anonymous_bytes() - before, live.graph.changes.num_rows
    entries = sum(
        len(live.graph.list_of(node)[0]) for node in {int(end) for one in updates for end in one.set_edges[0]}
    )
    report.rows.append(["updates of one edge", f"{count:,}"])
    report.rows.append(["lists that have changed", f"{num_rows:,}"])
    report.rows.append(["entries of a changed list, mean", f"{entries / num_rows:.1f}"])
    report.rows.append(["memory of a changed list, bytes", f"{grown / num_rows:,.0f}"])
    report.rows.append(["log, bytes an update", f"{(HOME / 'log' / 'updates.log').stat().st_size / count:,.0f}"])
    live.close()
    begin = time.perf_counter()
    again = LiveGraph(graph, HOME / "log")
    report.rows.append(["restart, updates read per second", f"{count / (time.perf_counter() - begin):,.0f}"])
    assert again.graph.num_edges == live.graph.num_edges
    again.close()


def kept_scopes(graph: Graph, count: int, report: Report) -> None:
    """Measure the memory of scopes in the cache."""
    extractor = PprExtractor(topk=200)
    cache, nodes = ScopeCache(extractor, count), np.random.default_rng(1).choice(graph.num_nodes, count, replace=False)
    cache.put(int(nodes[0]), extractor(graph, nodes[:1]))
    before = anonymous_bytes()
    for node in nodes.tolist():
        cache.put(node, extractor(graph, [node]))
    report.rows.append(["memory of a kept scope, bytes", f"{(anonymous_bytes() - before) / count:,.0f}"])


def main(chosen: argparse.Namespace) -> None:
    name, graph = next(iter(graphs(chosen).items()))
    shutil.rmtree(HOME, ignore_errors=True)
    save_graph(graph, HOME / "graph")
    opened = open_graph(HOME / "graph")
    report = Report(f"shadow serve, memory and disk ({name})", ("what", "value"), notes=[load_line(busy_share())])
    scale = 10 if chosen.quick else 1
    changed_lists(opened, 100_000 // scale, report)
    kept_scopes(opened, 5000 // scale, report)
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
