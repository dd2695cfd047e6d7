"""Scopes of pairs with their link hidden, against SEAL's extraction with SciPy and against the scopes of nodes."""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp
from common import Bar, Report, busy_share, finish, graphs, in_turns, load_line, micro, options

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.drnl import drnl_labels

LEAST_FASTER = 10
LEAST_OF_NODES = 0.5


def random_links(graph: Graph, count: int, seed: int = 0) -> np.ndarray:
    """Half links, half pairs of any two nodes, as link prediction has them."""
    rng = np.random.default_rng(seed)
    edge = rng.integers(graph.num_edges, size=count // 2)
    receiver = np.searchsorted(graph.indptr, edge, side="right") - 1
    linked = np.stack((graph.indices[edge].astype(np.int64), receiver), axis=1)
    others = rng.integers(graph.num_nodes, size=(count - len(linked), 2))
    others[:, 1] = np.where(others[:, 0] == others[:, 1], (others[:, 1] + 1) % graph.num_nodes, others[:, 1])
    return np.concatenate((linked, others))


def seal_scope(matrix: sp.csr_matrix, first: int, second: int, num_hops: int) -> tuple[np.ndarray, sp.csr_matrix]:
    """Return nodes and matrix of the enclosing subgraph as SEAL's own code does it: breadth first over SciPy's rows."""
    visited = {first, second}
    fringe = {first, second}
    for _ in range(num_hops):
        fringe = set(matrix[list(fringe)].indices.tolist()) - visited
        if not fringe:
            break
        visited |= fringe
    nodes = np.array([first, second, *(visited - {first, second})])
    scope = matrix[nodes][:, nodes].tolil()
    scope[0, 1] = scope[1, 0] = 0
    return nodes, scope.tocsr()


def seal_labels(scope: sp.csr_matrix) -> np.ndarray:
    """Return SEAL's labels: shortest paths from each end with the other end taken out."""
    from scipy.sparse.csgraph import shortest_path

    count, distance = scope.shape[0], []
    for end, other in ((0, 1), (1, 0)):
        rest = np.array([node for node in range(count) if node != other])
        start = int(np.argmax(rest == end))
        found = shortest_path(scope[rest][:, rest], directed=False, unweighted=True, indices=start)
        distance.append(np.insert(np.where(np.isfinite(found), found, -1), other, 0).astype(np.int64))
    x, y = distance
    half, odd = np.divmod(x + y, 2)
    label = np.where((x < 0) | (y < 0), 0, 1 + np.minimum(x, y) + half * (half + odd - 1))
    label[[0, 1]] = 1
    return label


def compare_with_seal(name: str, graph: Graph, count: int, report: Report) -> None:
    """Time scopes of one hop with labels, both sides on one thread."""
    pairs = random_links(graph, count)
    ones = np.ones(graph.num_edges, np.int8)
    matrix = sp.csr_matrix((ones, graph.indices, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))
    extractor = FullExtractor(num_hops=1, hide="before", num_threads=1)

    def ours() -> None:
        drnl_labels(collate(graph, extractor(graph, pairs), order="subgraph", features=False))

    def seal() -> None:
        for first, second in pairs.tolist():
            seal_labels(seal_scope(matrix, first, second, 1)[1])

    seconds = {key: value / count for key, value in in_turns({"ours": ours, "seal": seal}, rounds=3).items()}
    ratio = seconds["seal"] / seconds["ours"]
    for label, key in (("1 hop with DRNL", "ours"), ("the same by SciPy, as SEAL does", "seal")):
        report.rows.append([name, label, micro(seconds[key]), f"{1 / seconds[key]:,.0f}"])
    claim = f"{name}: pairs with labels at least {LEAST_FASTER} times as fast as by SciPy"
    report.bars.append(Bar(claim, f"{ratio:.0f} times", bool(ratio >= LEAST_FASTER)))


def compare_with_nodes(name: str, graph: Graph, count: int, report: Report) -> None:
    """Time PPR scopes of pairs against those of their ends one by one."""
    pairs = random_links(graph, count)
    ends = pairs.reshape(-1)
    of_pairs, of_nodes = PprExtractor(hide="before", num_threads=1), PprExtractor(num_threads=1)
    calls = {"pairs": lambda: of_pairs(graph, pairs), "ends": lambda: of_nodes(graph, ends)}
    found = in_turns(calls, rounds=5)
    rows = (("PPR of pairs, topk 200 of each end", "pairs", count), ("PPR of nodes", "ends", 2 * count))
    for label, key, each in rows:
        report.rows.append([name, label, micro(found[key] / each), f"{each / found[key]:,.0f}"])
    ratio = found["ends"] / found["pairs"]
    claim = f"{name}: ends of pairs at least {LEAST_OF_NODES} times as fast as single nodes"
    report.bars.append(Bar(claim, f"{ratio:.2f} times", bool(ratio >= LEAST_OF_NODES)))


def main(chosen: argparse.Namespace) -> None:
    columns = ("graph", "method", "CPU µs each", "each second")
    report = Report("Scopes of pairs, their link hidden", columns, notes=[load_line(busy_share())])
    report.notes.append("1 thread. SEAL's side: rows of a SciPy matrix, shortest paths for labels, as its authors do.")
    for name, graph in graphs(chosen).items():
        compare_with_seal(name, graph, 32 if chosen.quick else 128, report)
        compare_with_nodes(name, graph, 64 if chosen.quick else 256, report)
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
