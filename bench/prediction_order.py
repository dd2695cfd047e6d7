"""Predicting every node: reads of the graph in random order, by id, and ordered for locality.

Not for: the speed of a model (training_step.py) or of extraction (extractors.py).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from common import CACHE, Bar, Report, busy_share, cpu_seconds, finish, graphs, load_line, options

from shadow_gnn.extract import PprExtractor
from shadow_gnn.extract.locality import NUM_PASSES, group_nodes
from shadow_gnn.graph.generators.folder import generate_graph
from shadow_gnn.graph.generators.plan import GraphPlan
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph

BATCH_SIZE = 512
ROW_BYTES, PAGE_BYTES = 256, 4096
"""A row of 128 float16 features, and a page of the system."""
NEEDED = 1.7
"""Times fewer nodes than in random order."""


def orders(graph: Graph) -> tuple[dict[str, np.ndarray], float]:
    """Return the orders to compare, and the CPU seconds that the last one took."""
    found: list[np.ndarray] = []
    seconds = cpu_seconds(lambda: found.append(np.argsort(group_nodes(graph, None), kind="stable")))
    random = np.random.default_rng(0).permutation(graph.num_nodes)
    return {"random": random, "id": np.arange(graph.num_nodes), "locality": found[0]}, seconds


def reads(graph: Graph, order: np.ndarray, num_batches: int) -> tuple[float, float]:
    """Return the distinct nodes and feature pages per target that batches read, some of them at equal distances."""
    extractor = PprExtractor(topk=200, tolerance=1e-4)
    nodes = pages = 0
    for start in np.linspace(0, graph.num_nodes - BATCH_SIZE, num_batches).astype(int):
        node_id = np.unique(extractor(graph, order[start : start + BATCH_SIZE]).node_id)
        nodes += len(node_id)
        pages += len(np.unique(node_id * ROW_BYTES // PAGE_BYTES))
    return nodes / (num_batches * BATCH_SIZE), pages / (num_batches * BATCH_SIZE)


def main() -> None:
    chosen = options(__doc__ or "")
    num_nodes, num_batches = (20_000, 2) if chosen.quick else (1_000_000, 8)
    report = Report(
        "Predicting every node: the order of targets",
        ["graph", "order", "nodes read per target", "pages read per target", "ordering CPU s"],
        notes=[
            f"Batches of {BATCH_SIZE} targets, PPR scopes of at most 200 nodes; pages of 4 KB with rows of {ROW_BYTES} "
            f"bytes. {NUM_PASSES} passes over the lists make the order, in one thread.",
            load_line(busy_share()),
        ],
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        generate_graph(GraphPlan("dcsbm", num_nodes, 15, num_columns=0), Path(folder) / "g")
        cases = {name: graph for name, graph in graphs(chosen).items() if name != "flickr"}
        cases[f"dcsbm, {num_nodes:,} nodes, shuffled ids"] = open_graph(Path(folder) / "g")
        for name, graph in cases.items():
            found, seconds = orders(graph)
            measured = {order: reads(graph, targets, num_batches) for order, targets in found.items()}
            for order, (nodes, pages) in measured.items():
                cells = [name, order, f"{nodes:.1f}", f"{pages:.1f}"]
                report.rows.append([*cells, f"{seconds:.1f}" if order == "locality" else ""])
            gain = measured["random"][0] / measured["locality"][0]
            # A graph that a batch covers has nothing to gain.
            passed = None if chosen.quick else gain >= NEEDED
            report.bars.append(Bar(f"{name}: at least {NEEDED} times fewer nodes", f"{gain:.1f} times", passed))
    finish(report, chosen)


if __name__ == "__main__":
    main()
