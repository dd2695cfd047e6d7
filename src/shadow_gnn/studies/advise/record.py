"""Record: the results of an advice, as frozen records.

Not for: measuring (trials.py), choosing (choice.py) or showing them (cli).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.recipe import Recipe

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Candidate:
    """One trained candidate, with its predictions."""

    name: str
    """For people."""
    family: str
    """alone, smoothed, normal, scope, served (a normal GNN on scopes) or hybrid."""
    scores: Floats = field(repr=False)
    """[S, V, C] probabilities, or values, of the validation targets, one for each seed."""
    cpu_seconds: float
    """CPU time of training, mean over seeds."""
    cpu_ms: float
    """CPU time of one prediction, in milliseconds."""
    num_nodes: float
    """Nodes that one prediction reads, on average."""
    recipe: Recipe | None = None
    """The full recipe that the candidate stands for; None if no recipe has it."""
    serve: str | None = None
    """Extractor of the predictions as TOML, if it is not that of training."""
    note: str = ""
    """Whether training was cut short."""


@dataclass(frozen=True)
class Row:
    """One candidate in the table."""

    name: str
    """For people."""
    family: str
    """Kind of candidate."""
    score: float
    """The metric on the validation targets."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end."""
    behind: float
    """Difference from the best row, paired by target: 0 for the best; a larger metric is better, except for errors."""
    behind_low: float
    """Lower end of its 95 % interval."""
    behind_high: float
    """Upper end."""
    cpu_seconds: float
    """CPU time of training."""
    cpu_ms: float
    """CPU time of one prediction, in milliseconds."""
    num_nodes: float
    """Nodes that one prediction reads, on average."""
    note: str = ""
    """Whether training was cut short."""


@dataclass(frozen=True)
class Advice:
    """Candidates on a graph, and a recommendation."""

    graph: str
    """Name of the graph."""
    metric: str
    """Name of the score."""
    num_train: int
    """Sampled training targets."""
    num_valid: int
    """Sampled validation targets."""
    seeds: tuple[int, ...]
    """Random seeds of training."""
    rows: tuple[Row, ...]
    """The candidates."""
    recommended: str
    """Name of the recommended row."""
    reason: str
    """Reason, in one sentence."""
    notes: tuple[str, ...]
    """Omissions and their reasons."""
    network: str
    """Name of the best row that one recipe trains: on scopes, or a normal GNN."""
    network_recipe: Recipe
    """Its recipe."""
    recipes: dict[str, str]
    """Recipe files to write: text by file name."""
    seconds: float
    """Wall time."""
    cpu_seconds: float
    """CPU time."""
