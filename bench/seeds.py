"""The scope of ten weighted seeds, top-200, in process: time, and how much of the exact best score it holds."""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import Bar, Report, busy_share, finish, graphs, load_line, options

from shadow_gnn.extract import PprExtractor, Seeds
from shadow_gnn.extract.retrieval import retrieve
from shadow_gnn.graph.record import Graph

NUM_SEEDS, TOPK = 10, 200


def power_scores(graph: Graph, seeds: Seeds, teleport: float) -> np.ndarray:
    """Return the scores of all nodes by power iteration with SciPy; every node of these graphs has neighbors."""
    from scipy.sparse import csr_array

    degree = np.diff(graph.indptr)
    step = csr_array((np.ones(graph.num_edges), graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2)
    start = np.zeros(graph.num_nodes)
    start[seeds.node_id] = seeds.shares
    score, left = np.zeros(graph.num_nodes), start.copy()
    while left.sum() > 1e-9:
        score += teleport * left
        left = (1 - teleport) * (step.T @ (left / np.maximum(degree, 1)))
    return score


def measure(name: str, graph: Graph, count: int, report: Report) -> None:
    rng = np.random.default_rng(0)
    linked = np.flatnonzero(np.diff(graph.indptr) > 0)
    extractor = PprExtractor(topk=TOPK, num_threads=1)
    times, shares = [], []
    for number in range(count + 20):
        seeds = Seeds(rng.choice(linked, NUM_SEEDS, replace=False), rng.uniform(0.1, 1.0, NUM_SEEDS))
        begin = time.perf_counter()
        found = retrieve(graph, seeds, extractor)
        if number >= 20:
            times.append(1000 * (time.perf_counter() - begin))
        if number < 10:
            exact = power_scores(graph, seeds, extractor.teleport)
            shares.append(exact[found.node_id].sum() / np.sort(exact)[::-1][:TOPK].sum())
    p50, p99 = np.quantile(times, (0.5, 0.99))
    report.rows.append([name, f"{p50:.2f}", f"{p99:.2f}", f"{np.mean(shares):.4f}"])
    if name == "ogbn-arxiv":
        report.bars.append(Bar(f"{name}: p50 at most 1 ms", f"{p50:.2f} ms", bool(p50 <= 1)))


def main(chosen: argparse.Namespace) -> None:
    report = Report(
        f"Retrieval around {NUM_SEEDS} weighted seeds (PPR top-{TOPK}, one thread)",
        ("graph", "p50 ms", "p99 ms", "share of the exact best score"),
        notes=[load_line(busy_share())],
    )
    for name, graph in graphs(chosen).items():
        measure(name, graph, 50 if chosen.quick else 1000, report)
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
