"""Scoring: rank the candidates of each target by an explainer, part by part, into a scope file.

Not for: training the model that is explained (phases.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Extractor, induce
from shadow_gnn.extract.scope_file import Origin, ScopeNodes, read_scope_file, sorted_nodes, write_scope_file
from shadow_gnn.extract.training_view import training_view
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.loader import Loader
from shadow_gnn.normal.inputs.columns import Inputs
from shadow_gnn.studies.explain.saliency import edge_saliency, sent_by_node
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.model_file import TrainedModel

Explainer = Literal["saliency", "gnnexplainer"]
EdgeScores = Callable[[Batch], Tensor]
"""A score from 0 of each edge of a batch, [E]."""

CANDIDATE_SHARE = 1e-6
"""Weight of the candidates' own scores next to the explainer's: it ranks candidates that the explainer gives 0."""
_BATCH_NODES = 1 << 16
_BATCH_NUMBERS = 1 << 25
_MOST_BATCH = 512
_PART_TARGETS: dict[Explainer, int] = {"saliency": 4096, "gnnexplainer": 32}


@dataclass(frozen=True, eq=False)
class Scorer:
    """The ranking of the candidates of targets."""

    trained: TrainedModel
    """The model that is explained."""
    candidates: Extractor
    """Extractor of the candidates; all of them are ranked."""
    num_candidates: int
    """Most candidates of a target."""
    topk: int
    """Most nodes that are kept of them, the target included."""
    explainer: Explainer = "saliency"
    """How: the gradient with respect to every message, or PyG's GNNExplainer."""
    explainer_epochs: int = 100
    """Steps of GNNExplainer for each target."""
    seed: int = 0
    """Random seed."""

    @property
    def made_by(self) -> str:
        """Everything that decides the scopes, except the graph."""
        epochs = f" epochs={self.explainer_epochs}" if self.explainer == "gnnexplainer" else ""
        return (
            f"{self.explainer}{epochs} of model {self.trained.config.weights_blake2b}, seed {self.seed}, "
            f"topk {self.topk} of {self.candidates.key}"
        )

    def edge_scores(self) -> EdgeScores:
        """Return the explainer as a function of batches."""
        model, target = self.trained.model, self.trained.node_task.target
        if self.explainer == "saliency":
            return lambda batch: edge_saliency(model, batch, target)
        from shadow_gnn.studies.explain.gnn_explainer import TwinExplainer

        return TwinExplainer(model, target, num_epochs=self.explainer_epochs, seed=self.seed).edge_scores

    def loader(self, graph: Graph, targets: Ints, inputs: Inputs | None) -> Loader:
        """Return the candidates of targets as batches; inputs: those of the model for this graph."""
        model = self.trained.model
        num_nodes = min(_BATCH_NODES, _BATCH_NUMBERS // max(1, self.trained.config.input_dim))
        size = max(1, min(_MOST_BATCH, num_nodes // self.num_candidates))
        return Loader(
            graph,
            self.candidates,
            targets,
            batch_size=size if self.explainer == "saliency" else 1,
            seed=self.seed,
            fixed_seed=True,
            model=model,
            inputs=inputs,
        )


@dataclass(frozen=True, eq=False)
class Place:
    """A graph that candidates come from, with what the model reads of it."""

    graph: Graph
    """The whole graph, or the part that inductive training sees."""
    inputs: Inputs | None
    """Additional inputs of the model."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where the candidates of each target come from."""

    whole: Place
    """For all targets but those of inductive training."""
    view: Place | None
    """The part that inductive training sees, for its targets; None if training is not inductive."""
    train: Ints
    """Targets of inductive training; none if it is not."""

    @classmethod
    def of(cls, trained: TrainedModel, graph: Graph, *, inductive: bool) -> Places:
        """Make the view of inductive training, if there is one."""
        whole = Place(graph, Predictor(trained, graph).inputs)
        if not inductive:
            return cls(whole, None, np.zeros(0, np.int64))
        train = split_targets(graph, "train")
        view = training_view(graph, train)
        return cls(whole, Place(view, Predictor(trained, view).inputs), train)

    def parts(self, targets: Ints) -> Iterator[tuple[Place, Ints]]:
        """Divide targets by the graph they are scored on."""
        inside = np.isin(targets, self.train)
        if self.view is not None and inside.any():
            yield self.view, targets[inside]
        if not inside.all():
            yield self.whole, targets[~inside]


def score_targets(
    scorer: Scorer, place: Place, targets: Ints, on_batch: Callable[[int], None] | None = None
) -> list[ScopeNodes]:
    """Rank the candidates of targets of one graph, batch by batch; on_batch is told how many more are done."""
    explain = scorer.edge_scores()
    found: list[ScopeNodes] = []
    for batch in scorer.loader(place.graph, targets, place.inputs).epoch(0):
        found.append(best_nodes(place.graph, batch, sent_by_node(batch, explain(batch)), scorer.topk))
        if on_batch is not None:
            on_batch(len(batch))
    return found


def best_nodes(graph: Graph, batch: Batch, node_score: Tensor, topk: int) -> ScopeNodes:
    """Return the topk best nodes of each scope that are connected to its target; node_score [N], from 0.

    Scores are shares of the scope's best node but the target, which has 1. A millionth of the candidate's own share is
    added, by which nodes are ranked that the explainer says nothing of: those out of the model's reach, for one.
    """
    order = torch.argsort(batch.subgraph, stable=True)
    subgraph, node_id = batch.subgraph[order].numpy(), batch.node_id[order].numpy()
    targets = batch.targets[:, 0].numpy()
    is_target = node_id == targets[subgraph]
    shares = [
        _shares(score[order].double().numpy(), subgraph, is_target, len(batch)) for score in (node_score, batch.score)
    ]
    score = (shares[0] + CANDIDATE_SHARE * shares[1]) / (1 + CANDIDATE_SHARE)
    least = np.finfo(np.float32).tiny
    ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(subgraph, minlength=len(batch)))))
    ranked = sorted_nodes(targets, ptr, node_id, np.maximum(np.where(is_target, 1, score), least).astype(np.float32))
    scopes = induce(graph, ranked.targets, ranked.ptr, ranked.node_id, ranked.score, max_nodes=topk)
    return sorted_nodes(ranked.targets, scopes.ptr, scopes.node_id, scopes.score)


def _shares(
    score: NDArray[np.float64], subgraph: Ints, is_target: NDArray[np.bool_], num_scopes: int
) -> NDArray[np.float64]:
    """Divide scores by the best of their scope that is not the target's; a scope without any above 0 has 0. [N]"""
    best = np.zeros(num_scopes)
    np.maximum.at(best, subgraph[~is_target], score[~is_target])
    return np.divide(score, best[subgraph], out=np.zeros_like(score), where=best[subgraph] > 0)


def write_scopes(scorer: Scorer, places: Places, targets: Ints, path: Path, *, progress: Progress = silent) -> None:
    """Rank the candidates of targets, which ascend, and write the scope file; finished parts are kept next to it.

    A killed call resumes after its last finished part; on the same processor with as many threads the file is the
    same, because each part has the same batches.
    """
    folder, size = parts_folder(path), _PART_TARGETS[scorer.explainer]
    folder.mkdir(parents=True, exist_ok=True)
    graph = places.whole.graph
    origin = Origin(graph.num_nodes, graph.fingerprint, scorer.made_by)
    counter = _Counter(progress, f"scoring by {scorer.explainer}", len(targets))
    parts: list[ScopeNodes] = []
    for number, start in enumerate(range(0, len(targets), size)):
        kept, chosen = folder / f"part-{number:06d}", targets[start : start + size]
        if kept.exists():
            counter.add(len(chosen))
        else:
            write_scope_file(kept, [_scored(scorer, places, chosen, counter)], origin)
        part = read_scope_file(kept)
        if part.origin != origin or not np.array_equal(part.nodes.targets, chosen):
            raise RunError(f"{kept}: must be of this model and these targets, it is of others; delete {folder}")
        parts.append(part.nodes)
    write_scope_file(path, parts, origin)
    shutil.rmtree(folder, ignore_errors=True)


def parts_folder(path: Path) -> Path:
    """Return where the parts of a scope file are kept until it is whole."""
    return path.with_name(path.name + ".parts")


@dataclass
class _Counter:
    """Counts targets that are done and tells."""

    progress: Progress
    stage: str
    total: int
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count
        self.progress(self.stage, self.done, self.total)


def _scored(scorer: Scorer, places: Places, targets: Ints, counter: _Counter) -> ScopeNodes:
    """Rank the candidates of the targets of one part."""
    found: list[ScopeNodes] = []
    for place, some in places.parts(targets):
        found += score_targets(scorer, place, some, counter.add)
    length = np.concatenate([np.diff(nodes.ptr) for nodes in found])
    return sorted_nodes(
        np.concatenate([nodes.targets for nodes in found]),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(length))),
        np.concatenate([nodes.node_id for nodes in found]),
        np.concatenate([nodes.score for nodes in found]),
    )
