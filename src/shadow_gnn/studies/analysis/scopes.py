"""Scopes: the numbers of `shadow extract`: contents and cost of an extractor's scopes.

Not for: showing them (cli/scopes/extract.py, scope_plots.py).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Extractor, PprExtractor, StochasticPprExtractor, Subgraphs
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.studies.analysis.exact_ppr import ExactPpr, exact_ppr, recall_at_k
from shadow_gnn.studies.cost.estimate import sample_targets

MAX_EXACT_EDGES = 20_000_000
"""Limit of CSR entries for recall: beyond it the exact solve takes minutes."""
_CHUNK = 256
_LATENCY_ROUNDS = 3
_NUM_BUCKETS = 24

Buckets = tuple[tuple[float, float, int], ...]
"""(from, to, count) of a histogram with equal widths."""


@dataclass(frozen=True)
class Spread:
    """Distribution of a number over targets."""

    mean: float
    p5: float
    p50: float
    p99: float
    max: float


@dataclass(frozen=True)
class RecallSummary:
    """Agreement with exact PPR; see exact_ppr.Recall."""

    num_targets: int
    recall: Spread
    mass_share: Spread


@dataclass(frozen=True)
class ScopeReport:
    """Scopes of one extractor on one graph, in numbers; times are in microseconds per target."""

    extractor: str
    """Name and all parameters."""
    num_targets: int
    seed: int
    num_nodes: Spread
    """Nodes of a scope."""
    num_messages: Spread
    """Messages of a layer in a scope: an undirected edge carries two."""
    depth: Spread
    """Largest hop of a scope."""
    hop_share: tuple[float, ...]
    """Share of all scope nodes at hop 0, 1, 2, …"""
    nodes_touched: Spread
    """Nodes visited to choose a scope."""
    edges_touched: Spread
    """Edges visited to choose a scope."""
    cpu_us: float
    """CPU time of extraction in large calls, over all threads."""
    wall_us: float
    """Wall time of the same."""
    latency_us: Spread
    """Wall time of calls for a single target; the best of three reduces the effect of other processes."""
    num_latency: int
    """Targets of the latency measurement."""
    recall: RecallSummary | None
    """Agreement with exact PPR; None for the reason in recall_note."""
    recall_note: str
    """Reason for a missing recall; empty otherwise."""
    size_buckets: Buckets
    """Histogram of num_nodes."""
    latency_buckets: Buckets
    """Histogram of latency_us up to its 99th percentile; the last bucket includes the rest."""


def describe_scopes(
    graph: Graph,
    extractor: Extractor,
    targets: ArrayLike,
    *,
    seed: int = 0,
    recall_sample: int = 100,
    latency_sample: int = 200,
    progress: Progress = silent,
) -> ScopeReport:
    """Extract scopes for all targets in bounded memory and summarize them; seed: random seed of scopes and samples."""
    groups = check_targets(graph, targets, "describe_scopes")
    if len(groups) == 0:
        raise ValueError("describe_scopes: targets must not be empty")
    table, hop_count, cpu, wall = _extract_all(graph, extractor, groups, seed, progress)
    latency = _latencies(graph, extractor, sample_targets(groups, latency_sample, seed=seed), seed)
    sample = sample_targets(groups, recall_sample, seed=seed) if recall_sample else groups[:0]
    note = _recall_note(graph, extractor, len(sample))
    return ScopeReport(
        extractor=extractor.key,
        num_targets=len(groups),
        seed=seed,
        num_nodes=spread(table["num_nodes"]),
        num_messages=spread(table["num_messages"]),
        depth=spread(table["depth"]),
        hop_share=tuple(float(share) for share in hop_count / hop_count.sum()),
        nodes_touched=spread(table["nodes_touched"]),
        edges_touched=spread(table["edges_touched"]),
        cpu_us=cpu * 1e6 / len(groups),
        wall_us=wall * 1e6 / len(groups),
        latency_us=spread(latency),
        num_latency=len(latency),
        recall=None if note else _recall(graph, extractor, sample, seed, progress),
        recall_note=note,
        size_buckets=_buckets(table["num_nodes"], whole=True),
        latency_buckets=_buckets(np.minimum(latency, np.quantile(latency, 0.99)), whole=False),
    )


def spread(values: NDArray[Any]) -> Spread:
    """Summarize one value per target."""
    p5, p50, p99 = np.quantile(values, (0.05, 0.5, 0.99))
    return Spread(float(np.mean(values)), float(p5), float(p50), float(p99), float(np.max(values)))


def _extract_all(
    graph: Graph, extractor: Extractor, groups: Ints, seed: int, progress: Progress
) -> tuple[dict[str, Ints], Ints, float, float]:
    """Return one column per quantity, nodes per hop, and CPU and wall seconds of extraction alone."""
    extractor(graph, groups[:1], seed=seed)  # The first call pays for scratch memory.
    parts: list[dict[str, Ints]] = []
    hop_count = np.zeros(1, dtype=np.int64)
    cpu = wall = 0.0
    for start in range(0, len(groups), _CHUNK):
        progress("extracting", start, len(groups))
        cpu_begin, wall_begin = time.process_time(), time.perf_counter()
        subgraphs = extractor(graph, groups[start : start + _CHUNK], seed=seed)
        cpu, wall = cpu + time.process_time() - cpu_begin, wall + time.perf_counter() - wall_begin
        parts.append(_columns(subgraphs))
        found = np.bincount(subgraphs.hop, minlength=len(hop_count))
        found[: len(hop_count)] += hop_count
        hop_count = found
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return table, hop_count, cpu, wall


def _columns(subgraphs: Subgraphs) -> dict[str, Ints]:
    return {
        "num_nodes": np.diff(subgraphs.ptr),
        "num_messages": np.diff(subgraphs.indptr[subgraphs.ptr]),
        # Nodes are ordered by hop, so the last one of a scope is the deepest.
        "depth": subgraphs.hop[subgraphs.ptr[1:] - 1].astype(np.int64),
        "nodes_touched": subgraphs.nodes_touched,
        "edges_touched": subgraphs.edges_touched,
    }


def _latencies(graph: Graph, extractor: Extractor, groups: Ints, seed: int) -> NDArray[np.float64]:
    latency = np.full(len(groups), np.inf)
    for row in [*range(len(groups))] * _LATENCY_ROUNDS:
        begin = time.perf_counter()
        extractor(graph, groups[row : row + 1], seed=seed)
        latency[row] = min(latency[row], (time.perf_counter() - begin) * 1e6)
    return latency


def _recall_note(graph: Graph, extractor: Extractor, num_targets: int) -> str:
    if isinstance(extractor, StochasticPprExtractor):
        return "scopes are random, not the best"
    if not isinstance(extractor, PprExtractor):
        return "only for PPR"
    if num_targets == 0:
        return "not requested"
    if graph.num_edges > MAX_EXACT_EDGES:
        return f"the exact solve is for graphs of up to {MAX_EXACT_EDGES:,} CSR entries"
    return ""


def _recall(graph: Graph, extractor: Extractor, groups: Ints, seed: int, progress: Progress) -> RecallSummary:
    assert isinstance(extractor, PprExtractor)
    # On real graphs this gives the same recall for every target as float64 and 1e-9, in a quarter of the time.
    exact = exact_ppr(
        graph,
        groups,
        extractor.teleport,
        keep=4 * extractor.topk,
        tolerance=1e-7,
        dtype=np.float32,
        progress=progress,
    )
    found = recall_at_k(extractor(graph, groups, seed=seed), exact, _wanted(extractor, exact))
    return RecallSummary(len(groups), spread(found.recall), spread(found.mass_share))


def _wanted(extractor: PprExtractor, exact: ExactPpr) -> Ints:
    """Return the size of the exact scope of each row of targets: [B]."""
    most = min(extractor.topk, extractor.max_nodes or extractor.topk)
    wanted = np.full(len(exact.targets), most, dtype=np.int64)
    for row, group in enumerate(exact.targets):
        node_id, score = exact.row(row)
        is_target = np.isin(node_id, group)
        others = score[~is_target]
        bar = extractor.threshold
        if extractor.threshold_kind == "relative":
            bar *= others.max(initial=0.0)
        wanted[row] = min(most, int(is_target.sum() + (others >= bar).sum()))
    return wanted


def _buckets(values: NDArray[Any], *, whole: bool) -> Buckets:
    """Count values in buckets of equal width; whole: of integer width."""
    low, high = float(values.min()), float(values.max())
    width = max((high - low) / _NUM_BUCKETS, 1e-9)
    if whole:
        width = max(1.0, float(np.ceil((high - low + 1) / _NUM_BUCKETS)))
    number = np.minimum(((values - low) / width).astype(np.int64), _NUM_BUCKETS - 1)
    counts = np.bincount(number)
    return tuple((low + place * width, low + (place + 1) * width, int(count)) for place, count in enumerate(counts))
