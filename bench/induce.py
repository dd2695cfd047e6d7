"""Induced subgraph and hop distances of top-200 scopes against SciPy slicing and its BFS."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from common import (
    Bar,
    Report,
    busy_share,
    finish_each,
    in_turns,
    latencies,
    load_line,
    micro,
    options,
    random_targets,
)
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from shadow_gnn.extract import PprExtractor, Subgraphs, induce
from shadow_gnn.graph.record import Graph

TOPK = 200
WHOLE = PprExtractor(topk=TOPK, num_threads=1)
# The push is the same, as it serves topk; but the scope is cut to the target, so nothing follows the ranking.
RANKING = PprExtractor(topk=TOPK, max_nodes=1, num_threads=1)


def scipy_scope(matrix: Any, node_id: np.ndarray) -> np.ndarray:
    """Slice a scope out of the graph and return the distance of each node from the first."""
    inside = matrix[node_id][:, node_id]
    order, parent = breadth_first_order(inside, 0, directed=True)
    hop = np.full(len(node_id), -1)
    hop[order[0]] = 0
    for node in order[1:]:
        hop[node] = hop[parent[node]] + 1
    return hop


def scipy_part(matrix: Any, node_id: np.ndarray) -> None:
    """Run only the compiled part of SciPy: without the loop over parents, in its favor."""
    breadth_first_order(matrix[node_id][:, node_id], 0, directed=True)


def our_part(graph: Graph, scopes: Subgraphs) -> Subgraphs:
    """Make the scopes again from their nodes: edges and distances, without any ranking."""
    return induce(graph, scopes.targets, scopes.ptr, scopes.node_id, scopes.score, num_threads=1)


def check_same(graph: Graph, matrix: Any, targets: np.ndarray) -> None:
    """Make sure that both sides compute the same thing."""
    for scope in our_part(graph, WHOLE(graph, targets)):
        assert matrix[scope.node_id][:, scope.node_id].nnz == len(scope.indices)
        assert np.array_equal(scipy_scope(matrix, scope.node_id), scope.hop)


def compare(name: str, graph: Graph, count: int, report: Report) -> None:
    data = np.ones(graph.num_edges, dtype=np.float32)
    matrix = csr_array((data, graph.indices, graph.indptr.astype(np.int32)), shape=(graph.num_nodes,) * 2)
    degree = np.diff(graph.indptr)
    hubs = np.argsort(-degree)[: count // 10]
    targets = random_targets(graph, count)
    check_same(graph, matrix, targets[:50])
    # In batches of 100 targets, as training takes them.
    batches = [WHOLE(graph, part) for part in np.array_split(targets, -(-len(targets) // 100))]
    scopes = [scope for batch in batches for scope in batch]
    with_hubs = np.unique(np.concatenate([targets, hubs]))
    hub_scopes = list(WHOLE(graph, with_hubs))
    seconds = in_turns(
        {
            "induce": lambda: [our_part(graph, batch) for batch in batches],
            "scipy": lambda: [scipy_part(matrix, scope.node_id) for scope in scopes],
            "ranking": lambda: RANKING(graph, targets),
            "whole": lambda: WHOLE(graph, targets),
        },
        rounds=11,
    )
    each = {key: value / len(targets) for key, value in seconds.items()}
    single = latencies(lambda one: our_part(graph, hub_scopes[int(one[0])]), np.arange(len(hub_scopes)), 5)
    whole = latencies(lambda one: WHOLE(graph, one), with_hubs, 5)
    report.rows += [
        row(name, "induction and hops", each["induce"], single),
        row(name, "whole extraction", each["whole"], whole),
        row(name, "all that follows the ranking", each["whole"] - each["ranking"]),
        row(name, "SciPy slicing and BFS", each["scipy"]),
    ]
    ratio, tail = each["scipy"] / each["induce"], np.quantile(single, 0.99) / np.median(single)
    whole_tail = np.quantile(whole, 0.99) / np.median(whole)
    report.bars += [
        Bar(f"{name}: at most a tenth of SciPy's time", f"{ratio:.1f} times less", bool(ratio >= 10)),
        Bar(f"{name}: p99 within 10 times the median, hubs included", f"{tail:.1f} times", bool(tail <= 10)),
        Bar(f"{name}: the same for the whole extraction", f"{whole_tail:.1f} times", bool(whole_tail <= 10)),
    ]


def row(name: str, label: str, mean: float, values: np.ndarray | None = None) -> list[str]:
    if values is None:
        return [name, label, micro(mean), "-", "-", "-"]
    p50, p99 = np.quantile(values, (0.5, 0.99))
    return [name, label, micro(mean), micro(p50), micro(p99), micro(values.max())]


def main(chosen: argparse.Namespace) -> None:
    columns = ("graph", "method", "mean µs", "p50", "p99", "max")
    report = Report("Induced subgraph and hop distances of a top-200 scope", columns, notes=[load_line(busy_share())])
    report.notes.append(
        "CPU time per target, 1 thread, random targets; p50, p99, max: single-target calls, the best of 5, with "
        "the highest degrees among the targets. Induction and hops: finished scopes rebuilt from their nodes, "
        "100 targets a call. All steps after the ranking: the whole minus an extraction with the same ranking that "
        "keeps only the target; they also select the best 200 and replace nodes with no path to the target. SciPy: "
        "BFS order without hop numbers."
    )
    finish_each(report, chosen, compare, quick=100, full=1000)


if __name__ == "__main__":
    main(options(__doc__ or ""))
