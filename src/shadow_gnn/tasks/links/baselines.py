"""Baselines of link prediction by name: heuristics, and an encoder with a dot product.

Not for: the baselines themselves (heuristics.py, encoder.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.memory_available import available_memory, check_need
from shadow_gnn.base.memory_needs import GraphCounts, MemoryNeed, ModelCounts, full_batch_need
from shadow_gnn.tasks.links.encoder import EncoderOptions, encoder_scores
from shadow_gnn.tasks.links.heuristics import Heuristic, heuristic_scores
from shadow_gnn.tasks.links.loader import TrainingPairs
from shadow_gnn.tasks.links.metrics import link_metrics
from shadow_gnn.tasks.links.splits import LinkSplits

LINK_BASELINES: tuple[str, ...] = (*get_args(Heuristic), "encoder")
"""Names of the baselines, in the order of their runs."""


@dataclass(frozen=True, eq=False)
class LinkProblem:
    """Input of every baseline, the same as for a shaDow run with the same recipe and seed."""

    splits: LinkSplits
    """Known links and pairs to predict."""
    pairs: TrainingPairs
    """Pairs of each training epoch; the seed is also that of the weights."""


@dataclass(frozen=True)
class LinkBaseline:
    """Result of a baseline."""

    name: str
    """One of LINK_BASELINES."""
    valid: dict[str, float]
    """Metrics of the links of validation."""
    test: dict[str, float] | None
    """Metrics of the links of the test; None for no test."""
    seconds: float
    """Total time."""
    seed: int
    """Random seed of the split, negatives and weights."""


def run_link_baselines(
    problems: Iterable[LinkProblem],
    names: Sequence[str] = LINK_BASELINES,
    *,
    options: EncoderOptions | None = None,
    progress: Progress = silent,
) -> Iterator[LinkBaseline]:
    """Run baselines on one problem after the other; each sees the links that its split may see.

    Heuristics are deterministic: on the same pairs the result is reused.

    >>> links = sg.Recipe(graph="ring", task=sg.TaskRecipe(kind="link"))
    >>> [found.name for found in sg.run_link_baselines([sg.link_problem(links, graph)], ["katz"])]
    ['katz']
    """
    for name in names:
        if name not in LINK_BASELINES:
            raise ValueError(f"baselines: only must name some of {', '.join(LINK_BASELINES)} for links, got {name!r}")
    before: LinkProblem | None = None
    results: dict[str, LinkBaseline] = {}
    for problem in problems:
        again = before is not None and _same_pairs(before.splits, problem.splits)
        for name in (name for name in LINK_BASELINES if name in names):
            if again and name in get_args(Heuristic):
                results[name] = replace(results[name], seconds=0.0, seed=problem.pairs.seed)
            else:
                results[name] = _run(name, problem, options or EncoderOptions(), progress)
            yield results[name]
        before = problem


def _run(name: str, problem: LinkProblem, options: EncoderOptions, progress: Progress) -> LinkBaseline:
    begin, splits = time.perf_counter(), problem.splits
    if name == "encoder":
        needed = _encoder_memory(splits, options)
        check_need(needed, available_memory(), advice=("--only with the names of heuristics", "shadow train"))
        scores: dict[str, Any] = dict(encoder_scores(splits, problem.pairs, options, progress=progress))
    else:
        scores = _heuristic(name, splits, progress)
    counts = {split: len(splits.pairs_of(split).positive) for split in scores}
    metrics = {
        split: link_metrics(values[: counts[split]], values[counts[split] :]) for split, values in scores.items()
    }
    seconds = time.perf_counter() - begin
    return LinkBaseline(name, metrics["valid"], metrics.get("test"), seconds, problem.pairs.seed)


def _encoder_memory(splits: LinkSplits, options: EncoderOptions) -> MemoryNeed:
    """Predict the memory as for full-batch training; the output is an embedding, as wide as learned inputs."""
    graph, width = splits.graph, options.hidden_dim
    in_dim = width if graph.x is None else graph.x.shape[1]
    counts = GraphCounts(graph.num_nodes, graph.num_edges, in_dim, width, mapped=False)
    return replace(full_batch_need(counts, ModelCounts("sage", options.num_layers, width)), name="encoder")


def _heuristic(name: str, splits: LinkSplits, progress: Progress) -> dict[str, Any]:
    """Score the pairs of valid and test; together if both see the same links, to share the sources of walks."""
    chosen = [known for known in get_args(Heuristic) if known == name]
    parts = {"valid": splits.valid.pairs} | ({} if splits.test is None else {"test": splits.test.pairs})
    if splits.test_graph is splits.graph:
        joined = heuristic_scores(splits.graph, np.concatenate(list(parts.values())), chosen, progress=progress)[name]
        return dict(zip(parts, np.split(joined, [len(splits.valid)]), strict=False))
    return {
        split: heuristic_scores(splits.graph_of(split), pairs, chosen, progress=progress)[name]
        for split, pairs in parts.items()
    }


def _same_pairs(one: LinkSplits, other: LinkSplits) -> bool:
    if not np.array_equal(one.train, other.train) or (one.test is None) != (other.test is None):
        return False
    names = ["valid"] if one.test is None else ["valid", "test"]
    return all(np.array_equal(one.pairs_of(name).pairs, other.pairs_of(name).pairs) for name in names)
