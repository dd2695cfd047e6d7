"""Runs: trained models opened for the page, with the scopes and outputs of targets in a graph that may be edited.

Not for: explanations (scopes.py), or whole splits (splits.py).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.extract import Subgraphs
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.hybrid import Hybrid, is_hybrid, open_hybrid
from shadow_gnn.inference.other_scopes import with_extractor
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.inference.predictor import Note, Predictor, ignore_note, open_predictor
from shadow_gnn.inference.table_file import predictions_of
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.normal.inputs.columns import Inputs, make_inputs
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.explain.explain import with_scopes
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.defaults import SCOPES
from shadow_gnn.training.evaluate import forward
from shadow_gnn.training.runs.folder import RECORD, RESULT, open_run, read_json

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

MOST_EXACT_NODES = 300_000
"""Nodes around a target that a normal member of a hybrid reads."""


class LatestScores:
    """Scores of the latest targets, by target and version of the graph; the oldest ones are forgotten."""

    def __init__(self, most: int = 1000) -> None:
        """Start empty."""
        self._scores: OrderedDict[tuple[int, int], tuple[Floats, int]] = OrderedDict()
        self._most = most

    def get(self, target: int, version: int) -> tuple[Floats, int] | None:
        """Return the scores [1, C] of a target and the number of nodes read for them."""
        return self._scores.get((target, version))

    def put(self, target: int, version: int, found: tuple[Floats, int]) -> None:
        """Keep the scores of a target."""
        self._scores[target, version] = found
        if len(self._scores) > self._most:
            self._scores.popitem(last=False)


@dataclass(frozen=True, eq=False)
class Partner:
    """A normal GNN of a hybrid."""

    name: str
    """Its name in the hybrid."""
    predictor: Predictor
    """On scopes that give its exact predictions."""
    whole: Predictor
    """On the whole graph."""
    kept: LatestScores = field(default_factory=lambda: LatestScores())
    """Its latest predictions in the graph without edits: it reads many nodes, and no extractor changes them."""


@dataclass(frozen=True, eq=False)
class ExploredRun:
    """A trained model on the graph of the page."""

    name: str
    predictor: Predictor
    """Of a hybrid, the member with scopes."""
    live: LiveGraph
    """The graph with columns and classes in the order of the model, and its updates."""
    folder: Path | None = None
    recipe: Recipe | None = None
    """None for a model without one, such as a shared one."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Of the test split."""
    hybrid: Hybrid | None = None
    """Weights and thresholds of the mean; None for one model."""
    partners: tuple[Partner, ...] = ()
    """The other members of a hybrid."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes or labels, or their numbers as text; those of a link; none of values."""
        config = self.predictor.trained.config
        if config.target == "links":
            return "no link", "link"
        if config.target == "values":
            return ()
        return config.class_names or tuple(map(str, range(config.out_dim)))

    @property
    def reads_labels(self) -> bool:
        """Whether labels of other nodes are inputs."""
        return self.predictor.trained.config.inputs.reads_labels

    def extractors(self, given: BaseExtractor | None) -> tuple[BaseExtractor, ...]:
        """Return the extractor of each branch: the model's own, or a given one in place of a single one."""
        predictor = self.predictor
        if given is None:
            return tuple(one for one in predictor.extractors if isinstance(one, BaseExtractor))
        trained = predictor.trained
        with_extractor(trained, given, predictor.graph)
        hide: Hide = trained.config.link.hide if predictor.is_links else "none"
        edge_pos = bool(trained.model.layouts[0].edge_arrays)
        return (build_extractor(given, training=False, edge_pos=edge_pos, hide=hide),)


@dataclass(frozen=True, eq=False)
class Seen:
    """A graph as a model reads it."""

    graph: Graph
    inputs: Inputs | None


def follows_changes(predictor: Predictor, extractors: Sequence[BaseExtractor]) -> bool:
    """Tell whether a model reads a changed graph as it is; otherwise it needs one with arrays of its own."""
    inputs = predictor.inputs
    local = inputs is None or (inputs.smoothed is None and inputs.labels is None and not inputs.graph_degree)
    return local and all(extractor.reads_changes for extractor in extractors)


def seen_by(predictor: Predictor, graph: Graph) -> Seen:
    """Return a graph with the inputs of a model: its own graph, one with changes, or another in memory."""
    inputs = predictor.inputs
    if graph is predictor.graph or inputs is None:
        return Seen(graph, inputs)
    if isinstance(graph, ChangedGraph):
        return Seen(graph, replace(inputs, graph=graph))
    return Seen(graph, make_inputs(predictor.trained.config.inputs, graph, predictor.trained.task))


def scopes_of(
    predictor: Predictor, seen: Seen, extractors: Sequence[BaseExtractor], targets: Ints
) -> tuple[tuple[Batch, ...], tuple[Subgraphs, ...]]:
    """Extract the scopes of targets [B, T] and make the batches that the model reads, one for each branch."""
    graph = seen.graph
    model = predictor.trained.model
    scopes = tuple(extractor(graph, targets, seed=predictor.scope_seed) for extractor in extractors)
    batches = []
    for extractor, layout, found in zip(extractors, model.layouts, scopes, strict=True):
        batch = collate(
            graph,
            found,
            order=layout.order,
            features=seen.inputs is None,
            edge_arrays=layout.edge_arrays,
            edge_graph=None if isinstance(graph, ChangedGraph) else extractor.edge_graph(graph),
        )
        batches.append(batch if seen.inputs is None else seen.inputs(batch))
    device = next(model.parameters()).device
    return tuple(batch if device.type == "cpu" else batch.to(device) for batch in batches), scopes


def outputs_of(predictor: Predictor, batches: tuple[Batch, ...]) -> torch.Tensor:
    """Return the logits of batches. [B, C]"""
    trained = predictor.trained
    device = next(trained.model.parameters()).device
    return forward(trained.model, batches, device, trained.config.precision, False)[0]


def joined_by(run: ExploredRun, own: Predictions, others: Sequence[Floats]) -> Predictions:
    """Return the weighted mean of the members of a hybrid; others: scores of its partners. See inference/hybrid.py."""
    hybrid, graph = run.hybrid, run.predictor.graph
    assert hybrid is not None
    each = {partner.name: scores for partner, scores in zip(run.partners, others, strict=True)}
    scores = hybrid.mean({SCOPES: own.scores, **each})
    if run.reads_labels and "train" in graph.splits:
        seen = np.isin(own.targets, graph.split("train"))
        scores[seen] = own.scores[seen]
    return hybrid.predictions(predictions_of(own.kind, own.targets, scores, graph, own.class_names))


def exact_extractor(partner: Partner) -> BaseExtractor:
    """Return the extractor of all nodes that a normal member of a hybrid reads, up to a limit."""
    (extractor,) = partner.predictor.extractors
    assert isinstance(extractor, BaseExtractor)
    changes: dict[str, Any] = {"max_nodes": MOST_EXACT_NODES}
    return replace(extractor, **changes)


def open_explored(
    name: str, folder: Path, live: LiveGraph, *, note: Note = ignore_note, warn: Note = ignore_note
) -> ExploredRun:
    """Open a run or a hybrid on a graph."""
    hybrid = open_hybrid(folder) if is_hybrid(folder) else None
    own = folder if hybrid is None else folder / SCOPES
    predictor = open_predictor(own, live.stored, note=note, warn=warn)
    partners = list[Partner]()
    for member, weight in () if hybrid is None else hybrid.weights.items():
        if member != SCOPES and weight > 0:
            whole = open_predictor(folder / member, live.stored, warn=ignore_note)
            partners.append(Partner(member, with_scopes(whole), whole))
    own_live = live if predictor.graph is live.stored else LiveGraph(predictor.graph)
    return ExploredRun(name, predictor, own_live, folder, _recipe(own), _metrics(folder), hybrid, tuple(partners))


def _recipe(folder: Path) -> Recipe | None:
    return open_run(folder).recipe if (folder / RECORD).exists() else None


def _metrics(folder: Path) -> dict[str, float]:
    """Return the metrics of the test from the result of training, if the folder has one."""
    result = read_json(folder / RESULT) if (folder / RESULT).exists() else {}
    return {key: float(value) for key, value in (result.get("test") or {}).items()}
