"""Extractor runs: graphs with few targets, the sizes of their runs, and one training.

Not for: the rows of the study of extractors (extractor_rows.py) or its page (extractor_study.py).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from logistic import RANDOM_SPLIT, open_named

from shadow_gnn.extract import Extractor
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup

NUM_SEEDS = 5
MAX_COLUMNS = 128
"""Wider features are replaced by their projections on as many singular vectors."""
SMALL_SEARCH = tuple({"learning_rate": rate, "dropout": 0.2} for rate in (0.01, 0.003))
"""Settings that are tried: the learning rate alone."""


@dataclass(frozen=True)
class Size:
    """How small a graph's runs are made."""

    targets: tuple[int, int, int] | None = None
    """Targets of training, validation and test that are drawn from the splits; None for all."""
    hidden_dim: int = 64
    """Width of every layer."""
    shadow_epochs: int = 12
    """Passes over the training targets."""
    evaluate_every: int = 2
    """Passes between two looks at the validation targets; the whole graph has as many looks in its steps."""
    batch_size: int = 64
    """Targets of a shaDow step."""
    full_epochs: int = 100
    """Steps on the whole graph."""


SIZES = {
    "cora": Size(shadow_epochs=76, evaluate_every=4, batch_size=48),
    "pubmed": Size(shadow_epochs=100, evaluate_every=5, batch_size=24),
    "amazon-computers": Size((600, 400, 1500), shadow_epochs=24, evaluate_every=3),
    "coauthor-cs": Size((400, 300, 1000), 32, 24, 3),
    "debian": Size((2000, 600, 2000), shadow_epochs=14, batch_size=128),
    "ogbn-arxiv": Size((1000, 400, 1000), 32, 16, batch_size=64, full_epochs=40),
    "flickr": Size((1000, 400, 1000), 32, 16, batch_size=64, full_epochs=40),
}


def train(recipe: Recipe, graph: Graph) -> dict[str, float]:
    """Train a recipe on a graph and evaluate the epoch that was best on validation."""
    begin = time.process_time()
    setup = make_setup(recipe, graph)
    setup = replace(
        setup,
        training_extractors=tuple(shared_extractor(recipe.graph, one) for one in setup.training_extractors),
        evaluation_extractors=tuple(shared_extractor(recipe.graph, one) for one in setup.evaluation_extractors),
    )
    valid = setup.evaluation_loaders(graph.splits["valid"])
    options = FitOptions(seed=recipe.seed, validate=lambda model: evaluate(model, valid, setup.task))
    state = fit(setup.model, setup.training_loaders(), setup.task, recipe.training, options)
    test = evaluate(setup.model, setup.evaluation_loaders(graph.splits["test"]), setup.task)
    assert state.best is not None
    return {
        "valid": state.best.valid["accuracy"],
        "test": test["accuracy"],
        "train": state.best.train["accuracy"],
        "best_epoch": state.best.number + 1,
        "num_epochs": len(state.history),
        "cpu_seconds": time.process_time() - begin,
    }


_SCOPES: dict[str, Extractor] = {}


def shared_extractor(data: str, extractor: Extractor) -> Extractor:
    """Return the extractor of a graph whose cache all runs of this process share; as it is, if it keeps nothing."""
    if not extractor.deterministic:
        return extractor
    return _SCOPES.setdefault(f"{data} {extractor.key}", extractor)


@cache
def whole_graph(data: str, folder: Path) -> Graph:
    """Return a graph with narrow features."""
    graph = open_named(data, folder, 0)
    assert graph.x is not None
    if graph.x.shape[1] <= MAX_COLUMNS:
        return graph
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    rows = graph.x.rows(np.arange(graph.num_nodes))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    left, values, _ = svds(csr_array(rows), MAX_COLUMNS, v0=np.ones(min(rows.shape)), solver="arpack")
    narrow = left * (values * np.sqrt(left.size) / np.linalg.norm(values))
    return replace(graph, x=DenseFeatures(narrow.astype(np.float32)), path=None)


def study_graph(data: str, folder: Path, seed: int) -> Graph:
    """Return a graph with the targets that a seed is trained and judged on: random ones differ from seed to seed."""
    graph, size = whole_graph(data, folder), SIZES[data]
    if size.targets is None:
        return graph
    rng = np.random.default_rng(seed if data in RANDOM_SPLIT else 0)
    if data in RANDOM_SPLIT:
        order = rng.permutation(graph.num_nodes)
        splits = dict(zip(("train", "valid", "test"), np.split(order, np.cumsum(size.targets))[:3], strict=True))
    else:
        splits = {
            name: rng.choice(graph.splits[name], count, replace=False)
            for name, count in zip(("train", "valid", "test"), size.targets, strict=True)
        }
    return replace(graph, splits={name: np.sort(nodes) for name, nodes in splits.items()}, path=None)
