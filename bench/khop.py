"""2-hop scopes with fanout 20, one per target, against PyG's ShaDowKHopSampler (where torch-sparse is installed)."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Bar, Report, busy_share, finish_each, in_turns, load_line, micro, options, random_targets

from shadow_gnn.extract import KhopExtractor
from shadow_gnn.graph.record import Graph

NUM_HOPS, FANOUT = 2, 20
BATCH = 100


def peer_calls(graph: Graph, targets: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return the sampler's compiled part alone, and the whole of it as a user iterates over it."""
    import torch
    import torch_sparse  # noqa: F401
    from torch_geometric.data import Data
    from torch_geometric.loader import ShaDowKHopSampler

    torch.set_num_threads(1)
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    edge_index = torch.from_numpy(np.stack([row, graph.indices.astype(np.int64)]))
    node_idx = torch.from_numpy(targets)
    sampler = ShaDowKHopSampler(
        Data(edge_index=edge_index, num_nodes=graph.num_nodes),
        depth=NUM_HOPS,
        num_neighbors=FANOUT,
        node_idx=node_idx,
        batch_size=BATCH,
    )
    indptr, indices, _ = sampler.adj_t.csr()

    def compiled() -> None:
        for part in node_idx.split(BATCH):
            torch.ops.torch_sparse.ego_k_hop_sample_adj(indptr, indices, part, NUM_HOPS, FANOUT, False)

    return {"ShaDowKHopSampler, compiled part": compiled, "ShaDowKHopSampler, as a loader": lambda: list(sampler)}


def our_call(graph: Graph, targets: np.ndarray) -> Callable[[], object]:
    extractor = KhopExtractor(num_hops=NUM_HOPS, fanout=FANOUT, num_threads=1)
    return lambda: [extractor(graph, targets[start : start + BATCH]) for start in range(0, len(targets), BATCH)]


def compare(name: str, graph: Graph, count: int, report: Report) -> None:
    targets = random_targets(graph, count)
    calls = {"ours": our_call(graph, targets)}
    claim = f"{name}: at least 5 times less CPU time than ShaDowKHopSampler's compiled part"
    try:
        calls |= peer_calls(graph, targets)
    except (ImportError, OSError) as error:
        report.bars.append(Bar(claim, f"peer skipped, torch-sparse is not installed ({error})", None))
    seconds = {label: value / len(targets) for label, value in in_turns(calls, rounds=7).items()}
    for label, value in seconds.items():
        report.rows.append([name, label, micro(value), f"{value / seconds['ours']:.1f}"])
    peer = seconds.get("ShaDowKHopSampler, compiled part")
    if peer is not None:
        ratio = peer / seconds["ours"]
        report.bars.append(Bar(claim, f"{ratio:.1f} times", bool(ratio >= 5)))


def main(chosen: argparse.Namespace) -> None:
    columns = ("graph", "method", "CPU µs per target", "times ours")
    report = Report("2-hop, fanout 20, a separate subgraph per target", columns, notes=[load_line(busy_share())])
    report.notes.append(f"1 thread, {BATCH} targets per call, sampling without replacement on both sides.")
    finish_each(report, chosen, compare, quick=100, full=1000)


if __name__ == "__main__":
    main(options(__doc__ or ""))
