"""Jobs: the units of the study, their recipes, and the settings that every method tries.

Not for: the order of jobs (study_plan.py), or running them (study_runs.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from study_graphs import StudyGraph

from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.named import paper_recipe

Ending = Literal["budget", "patience", "recipe", "default"]
"""When a run ends: after the graph's CPU seconds, when validation no longer improves, as the paper's recipe says, or as
`shadow train --graph` without a recipe does."""
DEFAULT = "default"
"""The method that is `shadow train --graph` without a recipe: it has no settings to try."""

METHODS: dict[str, dict[str, Any]] = {
    **{f"ppr-{topk}": {"extractor": {"kind": "ppr", "topk": topk}} for topk in (50, 100, 200, 400)},
    "full": {"training": {"method": "full"}},
    "saint": {"training": {"method": "saint"}, "saint": {"sampler": "rw", "num_walks": 2000, "walk_length": 3}},
    "neighbor": {"training": {"method": "neighbor"}, "neighbor": {"fanouts": [10]}},
}
"""Tables of the recipe that make a method."""
LAYERS: dict[str, dict[str, Any]] = {
    "sage": {"layer": "sage"},
    "gcn": {"layer": "gcn"},
    "gat": {"layer": "gat"},
    "gin": {"layer": "gin"},
    "jk": {"layer": "gcn", "skip": "concat"},
}
"""Keys of [model] that make a layer; jk is gcn with the outputs of all layers concatenated."""
LOOKS = 20
"""Validations within the CPU seconds of a graph."""
MAX_BUDGETS = 6
"""A run until validation no longer improves ends after this many times the CPU seconds of its graph."""


@dataclass(frozen=True, order=True)
class Cell:
    """One model trained by one method on one graph."""

    graph: str
    method: str
    layer: str
    num_layers: int

    @property
    def is_shadow(self) -> bool:
        """Whether targets have scopes."""
        return self.method.startswith("ppr")


@dataclass(frozen=True, order=True)
class Job:
    """One run of the study."""

    cell: Cell
    trial: int
    """Number of the settings."""
    ending: Ending
    seed: int

    @property
    def name(self) -> str:
        """Identity of the job: its folder and its line in the results."""
        cell = self.cell
        return f"{cell.graph}/{cell.method}-{cell.layer}-{cell.num_layers}/{self.trial}-{self.ending}-{self.seed}"


def job_of(name: str) -> Job:
    """Return the job of a name."""
    graph, model, run = name.split("/")
    method, layer, num_layers = model.rsplit("-", 2)
    trial, ending, seed = run.split("-")
    assert ending in ("budget", "patience", "recipe", "default")
    return Job(Cell(graph, method, layer, int(num_layers)), int(trial), ending, int(seed))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Settings:
    """Values that the search tries."""

    learning_rate: float
    warmup: float
    """Share of the run's epochs in which the learning rate rises."""
    dropout: float
    dropedge: float
    hidden_dim: int


FEW = (
    Settings(learning_rate=0.005, warmup=0.0, dropout=0.25, dropedge=0.1, hidden_dim=128),
    Settings(learning_rate=0.002, warmup=0.0, dropout=0.25, dropedge=0.1, hidden_dim=128),
    Settings(learning_rate=0.005, warmup=0.0, dropout=0.5, dropedge=0.2, hidden_dim=64),
)
"""Settings of a search that is too short for a hypercube."""


def search(cell: Cell, num_trials: int) -> list[Settings]:
    """Return the settings to try, the same for all methods of a graph, layer and depth: a Latin hypercube, or FEW."""
    if num_trials <= len(FEW):
        return list(FEW[:num_trials])
    rng = np.random.default_rng(derive_seed(f"study {cell.graph} {cell.layer} {cell.num_layers}", 0, None))

    def strata() -> np.ndarray:
        return (rng.permutation(num_trials) + rng.random(num_trials)) / num_trials

    rate, warmup, dropout, dropedge, width = (strata() for _ in range(5))
    return [
        Settings(
            learning_rate=float(f"{1e-4 * 100 ** rate[at]:.2g}"),
            warmup=0.1 if warmup[at] >= 0.5 else 0.0,
            dropout=round(0.5 * dropout[at], 2),
            dropedge=round(0.4 * dropedge[at], 2),
            hidden_dim=(64, 128, 256)[int(3 * width[at])],
        )
        for at in range(num_trials)
    ]


def recipe_of(job: Job, graph: StudyGraph, settings: Settings, budget_epochs: int) -> Recipe:
    """Return the recipe of a job whose graph's CPU seconds allow budget_epochs epochs."""
    if job.ending == "recipe":
        return paper_recipe(paper_name(job.cell)).model_copy(update={"seed": job.seed})
    looks = max(1, ceil(budget_epochs / LOOKS))
    training: dict[str, Any] = {
        "learning_rate": settings.learning_rate,
        "warmup_epochs": settings.warmup * budget_epochs,
        "batch_size": graph.batch_size,
        "evaluate_every": looks,
        "checkpoint_every": looks,
    }
    if job.ending == "budget":
        training |= {"num_epochs": budget_epochs, "schedule": "cosine"}
    else:
        training |= {
            "num_epochs": MAX_BUDGETS * budget_epochs,
            "schedule": "plateau",
            "decay_epochs": max(1, budget_epochs // 4),
            "patience": max(3, budget_epochs * 3 // 4),
        }
    model = {**LAYERS[job.cell.layer], "num_layers": job.cell.num_layers, "hidden_dim": settings.hidden_dim}
    model |= {"dropout": settings.dropout, "dropedge": settings.dropedge}
    method = METHODS[job.cell.method]
    table = {"graph": job.cell.graph, "seed": job.seed, **method, "model": model}
    table["training"] = {**method.get("training", {}), **training}
    return Recipe.model_validate(table)


def paper_name(cell: Cell) -> str:
    """Return the name of the paper's recipe of a cell."""
    return f"{cell.graph}-{cell.layer}-{cell.num_layers}-{cell.method}"
