"""ServedRun: the model of a run, or all models of a hybrid, opened so that each answers on scopes.

Not for: whether that can be right while the graph changes (servable.py), or the answers (scoring.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from shadow_gnn.base.files import checksum_of
from shadow_gnn.extract import BaseExtractor, PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.hybrid import Hybrid, hybrid_recipes, is_hybrid, open_hybrid
from shadow_gnn.inference.predictions import Ints, Predictions
from shadow_gnn.inference.predictor import Note, Predictor, ignore_note, open_predictor, open_trained
from shadow_gnn.inference.table_file import predictions_of
from shadow_gnn.serve.servable import check_servable
from shadow_gnn.training.defaults import SCOPES
from shadow_gnn.training.run_setup import open_recipe_graph
from shadow_gnn.training.runs.folder import check_run_folder, open_run

NORMAL_SCOPES = PprExtractor(topk=400)
"""Scopes of a normal GNN, unless others are chosen."""

Outputs = Sequence[tuple[torch.Tensor, torch.Tensor | None]]
"""Logits, and inputs of the head if they are wanted, of each member."""


@dataclass(frozen=True, eq=False)
class ServedRun:
    """One model, or several that answer together."""

    members: tuple[Predictor, ...]
    """The model; of a hybrid, all whose weight is not 0, each on scopes."""
    hybrid: Hybrid | None = None
    """Weights and thresholds of several members; None for one model."""
    names: tuple[str, ...] = ()
    """Names of the members of a hybrid."""

    def __post_init__(self) -> None:
        """Refuse models whose answers would be wrong."""
        for member in self.members:
            check_servable(member)

    @property
    def first(self) -> Predictor:
        """The first member: it has the task, the classes and the graph of all."""
        return self.members[0]

    @property
    def weights(self) -> tuple[float, ...]:
        """Weight of each member; they sum to 1."""
        return (1.0,) if self.hybrid is None else tuple(self.hybrid.weights[name] for name in self.names)

    @property
    def version(self) -> str:
        """Checksum of all weights."""
        each = [member.trained.config.weights_blake2b for member in self.members]
        return each[0] if len(each) == 1 else checksum_of(" ".join(each).encode())

    def predictions(self, targets: Ints, outputs: Outputs) -> Predictions:
        """Turn the outputs of all members for the same targets into predictions."""
        found = [member.predictions(targets, *output) for member, output in zip(self.members, outputs, strict=True)]
        if self.hybrid is None:
            return found[0]
        scores = self.hybrid.mean({name: one.scores for name, one in zip(self.names, found, strict=True)})
        first = found[0]
        return self.hybrid.predictions(predictions_of(first.kind, targets, scores, None, first.class_names))


def open_served(
    folder: Path,
    graph: Graph | None = None,
    extractor: BaseExtractor | None = None,
    *,
    note: Note = ignore_note,
    warn: Note = ignore_note,
) -> ServedRun:
    """Open a run for serving; extractor: scopes in place of those of training, of a hybrid for normal GNNs."""
    check_run_folder(folder)
    if not is_hybrid(folder):
        return ServedRun((_open_one(folder, graph, extractor, note, warn),))
    hybrid, members = open_hybrid(folder), list[Predictor]()
    names = tuple(name for name, weight in hybrid.weights.items() if weight > 0)
    for name in names:
        shared = members[0].opened_graph if members else graph
        other = None if name == SCOPES else extractor
        members.append(_open_one(folder / name, shared, other, ignore_note if members else note, warn))
    return ServedRun(tuple(members), hybrid, names)


def _open_one(folder: Path, graph: Graph | None, extractor: BaseExtractor | None, note: Note, warn: Note) -> Predictor:
    if extractor is None and open_trained(folder).config.is_normal:
        extractor = NORMAL_SCOPES
    return open_predictor(folder, graph, extractor=extractor, note=note, warn=warn)


def open_shared_graph(folders: Mapping[str, Path], graph: str | None) -> Graph:
    """Open the graph of all runs: that of their recipes, which must be the same, or the one that is given."""
    if graph is not None:
        return open_recipe_graph(graph)
    found = {name: open_recipe_graph(_graph_name(folder)) for name, folder in folders.items()}
    (first, opened), *others = found.items()
    for name, other in others:
        if opened.path is None or other.path is None or os.path.realpath(other.path) != os.path.realpath(opened.path):
            raise ValueError(
                f"serve: runs must be of one graph, {first} is of {opened.path} and {name} of {other.path}; "
                "give --graph, or start a service for each"
            )
    return opened


def _graph_name(folder: Path) -> str:
    check_run_folder(folder)
    return hybrid_recipes(folder)[SCOPES].graph if is_hybrid(folder) else open_run(folder).recipe.graph
