"""Study: normal GNNs and shaDow, run by run: the recipe of each cell of the comparison, and its stored results.

Not for: the page that is made of them (comparison.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import CACHE
from logistic import RANDOM_SPLIT, open_named

from shadow_gnn.base.files import write_file
from shadow_gnn.extract import Extractor
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup

FOLDER = CACHE / "comparison"
NUM_SEEDS = 5
MAX_COLUMNS = 128
"""Wider features are replaced by their projections on as many singular vectors."""
LAYERS = (3, 5)
MODELS: dict[str, dict[str, Any]] = {
    "GCN": {"layer": "gcn"},
    "SAGE": {"layer": "sage"},
    "GAT": {"layer": "gat"},
    "GIN": {"layer": "gin"},
    "JK": {"layer": "gcn", "skip": "concat"},
}
READOUTS = ("mean", "max", "sort")
SEARCH = tuple({"learning_rate": rate, "dropout": drop} for rate, drop in product((0.01, 0.003), (0.2, 0.5)))
SMALL_SEARCH = SEARCH[::2]
"""The learning rate alone."""


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
    walks: int = 300
    """Walks of a subgraph of GraphSAINT, of 3 steps each."""
    search: tuple[dict[str, float], ...] = SEARCH
    """Settings that are tried with the first seed."""


SIZES = {
    "cora": Size(shadow_epochs=76, evaluate_every=4, batch_size=48, walks=100),
    "pubmed": Size(shadow_epochs=100, evaluate_every=5, batch_size=24),
    "amazon-computers": Size((600, 400, 1500), shadow_epochs=24, evaluate_every=3, search=SMALL_SEARCH),
    "coauthor-cs": Size((400, 300, 1000), 32, 24, 3, search=SMALL_SEARCH),
    "debian": Size((2000, 600, 2000), shadow_epochs=14, batch_size=128, search=SMALL_SEARCH),
    "ogbn-arxiv": Size((1000, 400, 1000), 32, 16, batch_size=64, full_epochs=40, walks=1000, search=SMALL_SEARCH),
}
MORE_SIZES = SIZES | {"flickr": Size((1000, 400, 1000), 32, 16, batch_size=64, full_epochs=40, search=SMALL_SEARCH)}
"""With an additional graph of the extractor comparison."""
EXTRACTORS: dict[str, dict[str, Any]] = {
    "ppr": {"kind": "ppr", "topk": 50},
    "2-hop": {"kind": "khop", "num_hops": 2, "fanout": 7},
}
WAYS = ("full", "saint", "ppr", "2-hop", "readout")
"""Columns of the table: two normal ways, two kinds of scopes, and PPR scopes with the best pooling."""
PROBES: dict[str, dict[str, dict[str, Any]]] = {
    "ppr-200": {"extractor": {"topk": 200}},
    "ppr-15": {"extractor": {"topk": 15}},
    "dropedge": {"model": {"dropedge": 0.5}},
    "dropout": {"model": {"dropout": 0.5}},
    "batch": {"training": {"batch_size": 200, "num_epochs": 72, "evaluate_every": 9}},
    "rate": {"training": {"learning_rate": 0.001}},
    "longer": {"training": {"num_epochs": 48, "evaluate_every": 6}},
}
"""Changes to the chosen ppr runs that might explain a gap."""
PROBED: dict[str, tuple[tuple[str, int, tuple[str, ...]], ...]] = {
    "cora": (("SAGE", 5, ("ppr-200",)), ("GIN", 3, ("batch", "rate"))),
    "pubmed": (("GIN", 5, ("batch", "rate")),),
    "amazon-computers": (("SAGE", 5, ("ppr-200",)),),
    "coauthor-cs": (("GCN", 3, ("ppr-200", "ppr-15", "dropedge", "dropout", "batch")),),
    "debian": (("SAGE", 5, ("ppr-200", "longer")),),
    "ogbn-arxiv": (("GCN", 3, ("ppr-200", "longer")),),
}
"""Model, layers and probes of each graph."""


@dataclass(frozen=True)
class Cell:
    """One model trained in one way on one graph."""

    data: str
    model: str
    num_layers: int
    way: str

    @property
    def folder(self) -> Path:
        """Where its runs are kept."""
        return FOLDER / self.data / f"{self.model}-{self.num_layers}-{self.way}"


def cells(data: str) -> Iterator[Cell]:
    """Give the cells of a graph, those that others build on first."""
    for model, num_layers, way in product(MODELS, LAYERS, WAYS):
        yield Cell(data, model, num_layers, way)


def probes(data: str) -> Iterator[Cell]:
    """Give the cells that look for the reasons of gaps."""
    for model, num_layers, ways in PROBED.get(data, ()):
        yield from (Cell(data, model, num_layers, way) for way in ways)


def choices(cell: Cell, data: Path) -> list[dict[str, Any]]:
    """Return the settings that are tried: the same few for all ways; for the readout, those that served PPR scopes."""
    search = [dict(settings) for settings in SIZES[cell.data].search]
    if cell.way not in ("readout", *PROBES):
        return search
    settings, _ = chosen(replace(cell, way="ppr"), data)
    return [settings] if cell.way in PROBES else [{**settings, "readout": readout} for readout in READOUTS]


def recipe_of(cell: Cell, settings: Mapping[str, Any], seed: int) -> Recipe:
    """Return the recipe of one run."""
    size, normal = SIZES[cell.data], cell.way in ("full", "saint")
    model = {**MODELS[cell.model], "num_layers": cell.num_layers, "hidden_dim": size.hidden_dim, "dropedge": 0.1}
    model |= {"dropout": settings["dropout"], "standardize": cell.data in ("debian", "ogbn-arxiv")}
    training = {"learning_rate": settings["learning_rate"], "batch_size": size.batch_size, "schedule": "cosine"}
    table: dict[str, Any] = {"graph": cell.data, "seed": seed, "model": model, "training": training}
    if cell.way == "full":
        training |= {"method": "full", "num_epochs": size.full_epochs, "evaluate_every": 4}
    elif cell.way == "saint":
        training |= {"method": "saint", "num_epochs": 16}
        table["saint"] = {"sampler": "rw", "num_walks": size.walks, "walk_length": 3, "num_steps": 10}
    else:
        training |= {"num_epochs": size.shadow_epochs, "evaluate_every": size.evaluate_every}
        table["extractor"] = EXTRACTORS.get(cell.way, EXTRACTORS["ppr"])
        model["readout"] = settings.get("readout", "center")
    for name, changes in PROBES.get(cell.way, {}).items():
        table[name] = {**table[name], **changes}
    assert normal == ("extractor" not in table)
    return Recipe.model_validate(table)


def run(cell: Cell, settings: Mapping[str, Any], seed: int, data: Path) -> dict[str, Any]:
    """Train once, unless that very run is kept already; return validation and test accuracy and CPU seconds."""
    recipe = recipe_of(cell, settings, seed)
    name = "-".join(str(value) for value in settings.values())
    path = cell.folder / f"{name}-{seed}.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text())
        # Read as a recipe: keys that are newer than the run have their defaults.
        if Recipe.model_validate(kept["recipe"]) == recipe:
            return kept
    plan = recipe.model_dump(mode="json", exclude_none=True)
    found = {"recipe": plan, "settings": dict(settings), **train(recipe, study_graph(cell.data, data, seed))}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(found).encode())
    print(f"{cell.data} {cell.model}-{cell.num_layers} {cell.way} {name} seed {seed}: {found['test']:.4f} "
          f"{found['cpu_seconds']:.1f} s", flush=True)  # fmt: skip
    return found


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


def chosen(cell: Cell, data: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the settings with the best validation of the first seed, and the runs of all seeds with them."""
    tried = [(run(cell, settings, 0, data), settings) for settings in choices(cell, data)]
    _, best = max(tried, key=lambda pair: pair[0]["valid"])
    return best, [run(cell, best, seed, data) for seed in range(NUM_SEEDS)]


def kept_runs() -> list[dict[str, Any]]:
    """Return every run that was done, those of settings that were not chosen included."""
    return [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*/*/*.json"))]


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
    graph, size = whole_graph(data, folder), MORE_SIZES[data]
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


def work(names: list[str], part: int, num_parts: int, data: Path) -> None:
    """Do every num_parts-th pair of model and depth of some graphs."""
    torch.set_num_threads(1)
    for name in names:
        for number, cell in enumerate(cells(name)):
            if number // len(WAYS) % num_parts == part:
                chosen(cell, data)
        for number, cell in enumerate(probes(name)):
            if number % num_parts == part:
                chosen(cell, data)
