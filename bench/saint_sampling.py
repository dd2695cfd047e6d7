"""GraphSAINT: time of a subgraph and of the counts before training, compared with PyG's sampler if available."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import Bar, Report, busy_share, cpu_seconds, finish, graphs, in_turns, load_line, micro, options

from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.saint import SaintLoader
from shadow_gnn.normal.saint_samplers import (
    Drawer,
    EdgeSampler,
    FrontierSampler,
    NodeSampler,
    Sampler,
    WalkSampler,
)
from shadow_gnn.normal.saint_statistics import count_subgraphs

SAMPLERS: dict[str, Sampler] = {
    "rw, 2000 walks of 2 steps": WalkSampler(2000, 2),
    "mrw, 6000 nodes, frontier 1000": FrontierSampler(6000, 1000),
    "edge, 3000": EdgeSampler(3000),
    "node, 6000": NodeSampler(6000),
}
WALKS = "rw, 2000 walks of 2 steps"


def pyg_walks(graph: Graph) -> Callable[[], object]:
    """Return a call that makes one subgraph with PyG's GraphSAINTRandomWalkSampler: nodes and edges, no features."""
    import torch
    import torch_sparse  # noqa: F401
    from torch_geometric.data import Data
    from torch_geometric.loader import GraphSAINTRandomWalkSampler

    torch.set_num_threads(1)
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    index = torch.from_numpy(np.stack((row, graph.indices.astype(np.int64))))
    data = Data(edge_index=index, num_nodes=graph.num_nodes)
    sampler: Any = GraphSAINTRandomWalkSampler(data, batch_size=2000, walk_length=2, num_steps=1, sample_coverage=0)
    return lambda: sampler[0]


def ours(drawer: Drawer) -> Callable[[], object]:
    """Return a call that makes one subgraph after the other."""
    stream = drawer.subgraphs(0)
    return lambda: next(stream)


def measure(report: Report, name: str, graph: Graph, rounds: int, peer: Callable[[], object] | str) -> None:
    """Add the rows of one graph, of which every second node is a training target."""
    targets = np.arange(0, graph.num_nodes, 2)
    drawers = {kind: Drawer(graph, targets, sampler) for kind, sampler in SAMPLERS.items()}
    calls = {kind: ours(drawer) for kind, drawer in drawers.items()}
    if not isinstance(peer, str):
        calls["peer"] = peer
    seconds = in_turns(calls, rounds)
    for kind, drawer in drawers.items():
        begin = time.perf_counter()
        counts = count_subgraphs(drawer)
        counting = time.perf_counter() - begin
        loader = SaintLoader(graph, targets, drawer.sampler, statistics=counts, prefetch=0, num_steps=rounds)
        batch = cpu_seconds(lambda own=loader: sum(len(batch) for batch in own.epoch(0))) / rounds
        num_edges = int(counts.edge_count.sum()) / counts.num_subgraphs
        size = f"{counts.mean_nodes:,.0f}", f"{num_edges:,.0f}"
        times = micro(seconds[kind]), micro(batch), f"{counts.num_subgraphs:,}", f"{counting:.2f}"
        report.rows.append((name, kind, *size, *times))
    claim = f"{name}: at least 1.5 times less CPU time than PyG's GraphSAINTRandomWalkSampler"
    if isinstance(peer, str):
        report.bars.append(Bar(claim, f"peer skipped, {peer}", None))
    else:
        report.rows.append((name, "PyG's GraphSAINTRandomWalkSampler", "", "", micro(seconds["peer"]), "", "", ""))
        ratio = seconds["peer"] / seconds[WALKS]
        report.bars.append(Bar(claim, f"{ratio:.1f} times", ratio >= 1.5))


def main() -> None:
    """Measure all samplers on all graphs."""
    chosen = options(str(__doc__))
    report = Report(
        "GraphSAINT: one subgraph, one thread, and counting for the normalization",
        ("graph", "sampler", "nodes", "edges", "subgraph us", "batch us", "counted", "counting s"),
    )
    report.notes.append(load_line(busy_share()))
    report.notes.append("CPU time, except for counting: wall time on all cores, once before training.")
    report.notes.append("Ours also computes hops and sorts rows by them; a batch adds features and factors.")
    for name, graph in graphs(chosen).items():
        peer: Callable[[], object] | str
        try:
            peer = pyg_walks(graph)
        except (ImportError, OSError) as error:
            peer = f"torch-sparse is not installed ({error})"
        measure(report, name, graph, 5 if chosen.quick else 100, peer)
    finish(report, chosen)


if __name__ == "__main__":
    main()
