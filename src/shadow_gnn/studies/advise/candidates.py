"""Candidates: the models that are tried on a graph, from the target alone to a normal GNN, a mean of two included.

Not for: their training (trials.py) or the recommendation (choice.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shadow_gnn.base.cpu_time import cpu_seconds
from shadow_gnn.base.files import Progress
from shadow_gnn.base.memory_available import available_memory
from shadow_gnn.extract import BaseExtractor, FullExtractor, NodeExtractor, PprExtractor
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.inference.averaging import average
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.normal import NormalMethod
from shadow_gnn.recipe.record import toml_value
from shadow_gnn.studies.advise.clock import Clock, OutOfTime
from shadow_gnn.studies.advise.record import Candidate
from shadow_gnn.studies.advise.trials import (
    Trained,
    epoch_seconds,
    epochs_that_fit,
    predicted,
    single_cost,
    train_briefly,
)
from shadow_gnn.studies.baselines import make_problem
from shadow_gnn.studies.baselines.logistic import Fit, smoothing_fits
from shadow_gnn.studies.baselines.problem import input_matrix
from shadow_gnn.studies.baselines.scope_sgc import propagate, scope_rows
from shadow_gnn.tasks.task import label_kind
from shadow_gnn.training.defaults import normal_recipe
from shadow_gnn.training.footprint import run_need

SIZES, WIDE_SIZES, WIDE_DEGREE = (50, 100, 200), (100, 200, 400), 20.0
"""Nodes of the scopes to try, and those from a mean degree on."""
SHARES = {"alone": 0.05, "smoothed": 0.10, "normal": 0.30, "scopes": 0.47, "served": 0.08}
"""Relative time of each step."""
_SINGLE = 20


@dataclass(frozen=True, eq=False)
class Bench:
    """The common input of all candidates."""

    graph: Graph
    """With sampled training and validation targets alone."""
    valid: Ints
    """Validation targets."""
    recipe: Recipe
    """Default recipe on scopes, for the network and its training."""
    seeds: Sequence[int]
    """Random seeds of training."""
    clock: Clock
    """Time budget."""
    progress: Progress
    """Receives the steps."""

    def sizes(self) -> tuple[int, ...]:
        """Return the scope sizes to try."""
        degree = self.graph.num_edges / max(1, self.graph.num_nodes)
        return WIDE_SIZES if degree >= WIDE_DEGREE else SIZES


def all_candidates(bench: Bench) -> Iterator[Candidate | str]:
    """Give each candidate as soon as it is trained; a text is a note about one that is missing."""
    alone = bench.recipe.model_copy(update={"extractor": NodeExtractor()})
    if bench.graph.x is not None:
        yield _trained(bench, "target alone", "alone", alone, _epochs(bench, "alone", alone))[0]
    else:
        yield "target alone and smoothed features are missing: the graph has no features"
    yield from _smoothed(bench)
    name, recipe = _normal(bench)
    normal, models = _trained(bench, name, "normal", recipe, _epochs(bench, "normal", recipe))
    yield normal
    scopes = [candidate for candidate, _ in _scopes(bench)]
    yield from scopes
    yield from _served(bench, normal, models)
    best = max(scopes, key=lambda one: _quality(bench, one))
    yield replace(
        normal,
        name=f"hybrid: {normal.name} + {best.name}",
        family="hybrid",
        scores=np.stack([average(pair, (0.5, 0.5)) for pair in zip(normal.scores, best.scores, strict=True)]),
        cpu_seconds=normal.cpu_seconds + best.cpu_seconds,
        cpu_ms=normal.cpu_ms + best.cpu_ms,
        num_nodes=normal.num_nodes + best.num_nodes,
        recipe=best.recipe,
        note="",
    )


def _quality(bench: Bench, candidate: Candidate) -> float:
    from shadow_gnn.inference.evaluation import labels_of
    from shadow_gnn.studies.advise.judge import gains

    labels = labels_of(bench.graph, bench.valid)
    return float(gains(label_kind(bench.graph), candidate.scores, labels).mean())


def _ppr(bench: Bench, size: int) -> BaseExtractor:
    own = bench.recipe.extractor
    return replace(own, topk=size) if isinstance(own, PprExtractor) else PprExtractor(topk=size)


def _normal(bench: Bench) -> tuple[str, Recipe]:
    """Return name and recipe of the normal GNN: the whole graph, or sampled neighbors if memory is short."""
    whole, free = normal_recipe(bench.recipe), available_memory()
    if free is None or run_need(whole, bench.graph).total <= free:
        return "normal GNN", whole
    method: NormalMethod = "neighbor"
    return "normal GNN, sampled neighbors", normal_recipe(bench.recipe, method)


def _epochs(bench: Bench, step: str, *recipes: Recipe) -> int:
    """Begin a step and return the epochs that fit into it, the same for all its recipes."""
    seconds = bench.clock.start(step) / len(bench.seeds)
    one = sum(epoch_seconds(recipe, bench.graph, bench.clock) for recipe in recipes)
    return min(epochs_that_fit(recipe, seconds, one) for recipe in recipes)


def _scopes(bench: Bench) -> Iterator[tuple[Candidate, list[Trained]]]:
    """Train on scopes of each size, with equally many epochs: otherwise the time would decide, not the size."""
    recipes = {size: bench.recipe.model_copy(update={"extractor": _ppr(bench, size)}) for size in bench.sizes()}
    num_epochs = _epochs(bench, "scopes", *recipes.values())
    for size, recipe in recipes.items():
        yield _trained(bench, f"scopes of {size}", "scope", recipe, num_epochs)


def _trained(bench: Bench, name: str, family: str, recipe: Recipe, num_epochs: int) -> tuple[Candidate, list[Trained]]:
    found: list[Trained] = []
    for seed in bench.seeds:
        seeded = recipe.model_copy(update={"seed": seed})
        found.append(train_briefly(seeded, bench.graph, num_epochs, bench.clock, name, bench.progress))
    scores = np.stack([predicted(one.model, bench.graph, bench.valid, progress=bench.progress) for one in found])
    cost = single_cost(found[0].model, bench.graph, bench.valid, bench.clock)
    spent = float(np.mean([one.cpu_seconds for one in found]))
    note = next((one.note for one in found if one.note), "")
    return Candidate(name, family, scores, spent, *cost, recipe, None, note), found


def _smoothed(bench: Bench) -> Iterator[Candidate | str]:
    """Fit logistic regression to smoothed features, as `shadow baselines` does."""
    bench.clock.start("smoothed")
    if bench.graph.x is None:
        return
    if label_kind(bench.graph) == "values":
        yield "smoothed features are missing: logistic regression needs classes or labels, the graph has values"
        return
    problem, begin = make_problem(bench.graph), cpu_seconds()
    fits: list[tuple[int, Fit]] = []

    def progress(stage: str, done: int, total: int) -> None:
        bench.progress("smoothed features", done, total)
        if fits:  # One fit is always made.
            bench.clock.check()

    note = ""
    try:
        for one in smoothing_fits(problem, progress):
            fits.append(one)  # noqa: PERF402  Those before the end of the time stay.
    except OutOfTime:
        note = "cut short by the time limit"
    spent, (num_hops, fit) = cpu_seconds() - begin, fits[-1]
    probabilities = problem.task.probabilities(fit.logits)
    assert probabilities is not None
    cost = _smoothing_cost(bench, num_hops)
    name = f"logistic regression, {num_hops} hop{'s' if num_hops > 1 else ''}"
    yield Candidate(name, "smoothed", probabilities.numpy()[None], spent, *cost, None, None, note)


def _smoothing_cost(bench: Bench, num_hops: int) -> tuple[float, float]:
    """Return CPU milliseconds and nodes of Â^k X for a target by itself."""
    from scipy.sparse import csr_array

    extractor, x = FullExtractor(num_hops=num_hops), input_matrix(bench.graph)
    nodes = bench.valid[:: max(1, len(bench.valid) // _SINGLE)][:_SINGLE]
    begin, sizes = time.process_time(), []
    for node in nodes:
        scope = extractor(bench.graph, np.array([node]))
        (row,) = scope_rows(scope, (num_hops,))
        width = (1, bench.graph.num_nodes)
        propagate(csr_array((row, scope.node_id, np.array([0, len(row)])), shape=width), x)
        sizes.append(len(scope.node_id))
    return 1000 * (time.process_time() - begin) / len(nodes), float(np.mean(sizes))


def _served(bench: Bench, normal: Candidate, models: Sequence[Trained]) -> Iterator[Candidate | str]:
    """Give the normal GNN's weights, unchanged, on scopes of each size."""
    bench.clock.start("served")
    for size in bench.sizes():
        try:
            bench.clock.check()
        except OutOfTime:
            yield f"the normal GNN on scopes of {size} is missing: the time was not enough"
            continue
        extractor = _ppr(bench, size)
        scores = [predicted(one.model, bench.graph, bench.valid, extractor, bench.progress) for one in models]
        cost = single_cost(models[0].model, bench.graph, bench.valid, bench.clock, extractor)
        yield replace(
            normal,
            name=f"normal GNN, served on scopes of {size}",
            family="served",
            scores=np.stack(scores),
            cpu_ms=cost[0],
            num_nodes=cost[1],
            serve=toml_value(extractor_table(extractor)),
        )
