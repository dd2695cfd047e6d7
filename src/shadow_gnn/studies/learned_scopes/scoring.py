"""Scoring: rank the candidates of each target by an explainer, part by part, into a scope file.

Not for: training the explained model (phases.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.temporary import is_real_folder, remove_abandoned
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
"""Returns the nonnegative score of each edge of a batch, [E]."""

CANDIDATE_SHARE = 1e-6
"""Weight of the candidates' own scores next to the explainer's: it ranks candidates with explainer score 0."""
_BATCH_NODES = 1 << 16
_BATCH_NUMBERS = 1 << 25
_MOST_BATCH = 512
_PART_TARGETS: dict[Explainer, int] = {"saliency": 4096, "gnnexplainer": 32}
_PART = re.compile(r"part-\d{6,}")


@dataclass(frozen=True, eq=False)
class Scorer:
    """The ranking of the candidates of targets."""

    trained: TrainedModel
    """The model to explain."""
    candidates: Extractor
    """Extractor of the candidates."""
    num_candidates: int
    """Maximum number of candidates of a target."""
    topk: int
    """Maximum size of a learned scope, including the target."""
    explainer: Explainer = "saliency"
    """The gradient with respect to every message, or PyG's GNNExplainer."""
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
        """Return the candidates of targets as batches; inputs: additional inputs of the model."""
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


Place = tuple[Graph, Inputs | None]
"""A source of candidates: a graph, and the additional inputs of the model for it."""


@dataclass(frozen=True, eq=False)
class Places:
    """The sources of the candidates of each target."""

    whole: Place
    """For all targets except those of inductive training."""
    view: Place | None
    """The part visible to inductive training, for its targets; None without inductive training."""
    train: Ints
    """Targets of inductive training; empty otherwise."""

    @classmethod
    def of(cls, trained: TrainedModel, graph: Graph, *, inductive: bool) -> Places:
        """Make the sources of a trained model and its graph."""
        whole = graph, Predictor(trained, graph).inputs
        if not inductive:
            return cls(whole, None, np.zeros(0, np.int64))
        train = split_targets(graph, "train")
        view = training_view(graph, train)
        return cls(whole, (view, Predictor(trained, view).inputs), train)

    def parts(self, targets: Ints) -> Iterator[tuple[Place, Ints]]:
        """Group targets by their source."""
        inside = np.isin(targets, self.train)
        if self.view is not None and inside.any():
            yield self.view, targets[inside]
        if not inside.all():
            yield self.whole, targets[~inside]


def score_targets(
    scorer: Scorer, place: Place, targets: Ints, on_batch: Callable[[int], None] | None = None
) -> list[ScopeNodes]:
    """Rank the candidates of targets of one source, batch by batch; on_batch gets the size of each batch."""
    explain, (graph, inputs) = scorer.edge_scores(), place
    found: list[ScopeNodes] = []
    for batch in scorer.loader(graph, targets, inputs).epoch(0):
        found.append(best_nodes(graph, batch, sent_by_node(batch, explain(batch)), scorer.topk))
        if on_batch is not None:
            on_batch(len(batch))
    return found


def best_nodes(graph: Graph, batch: Batch, node_score: Tensor, topk: int) -> ScopeNodes:
    """Return the topk best nodes of each scope that are connected to its target; node_score [N], from 0.

    Scores are relative to the best node of the scope besides the target, which has 1. A millionth of the candidate's
    own share is added: it ranks nodes with score 0, such as those out of the model's reach.
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
    """Divide scores by the best in their scope besides the target's; a scope without any above 0 gets 0. [N]"""
    best = np.zeros(num_scopes)
    np.maximum.at(best, subgraph[~is_target], score[~is_target])
    return np.divide(score, best[subgraph], out=np.zeros_like(score), where=best[subgraph] > 0)


def write_scopes(scorer: Scorer, places: Places, targets: Ints, path: Path, *, progress: Progress = silent) -> None:
    """Rank the candidates of targets, in ascending order, and write the scope file; finished parts are next to it.

    A killed call resumes after its last finished part. The result is the same on the same processor with as many
    threads, because each part has the same batches.
    """
    folder, size = parts_folder(path), _PART_TARGETS[scorer.explainer]
    folder.mkdir(parents=True, exist_ok=True)
    if not is_real_folder(folder):
        raise RunError(f"{folder}: must be a folder, got a link")
    graph, _ = places.whole
    origin = Origin(graph.num_nodes, graph.fingerprint, scorer.made_by)
    done, parts = 0, list[ScopeNodes]()

    def add(count: int) -> None:
        nonlocal done
        done += count
        progress(f"scoring by {scorer.explainer}", done, len(targets))

    for number, start in enumerate(range(0, len(targets), size)):
        kept, chosen = folder / f"part-{number:06d}", targets[start : start + size]
        if kept.exists():
            add(len(chosen))
        else:
            write_scope_file(kept, [_scored(scorer, places, chosen, add)], origin)
        part = read_scope_file(kept)
        if part.origin != origin or not np.array_equal(part.nodes.targets, chosen):
            raise RunError(f"{kept}: must belong to this model and these targets, got others; delete {folder}")
        parts.append(part.nodes)
    write_scope_file(path, parts, origin)
    remove_parts(path)


def remove_parts(path: Path) -> None:
    """Remove the parts of a finished scope file, and their folder if it holds nothing else."""
    folder = parts_folder(path)
    if is_real_folder(folder):
        remove_abandoned(folder)
        for part in folder.iterdir():
            if _PART.fullmatch(part.name):
                part.unlink()
        with suppress(OSError):
            folder.rmdir()


def parts_folder(path: Path) -> Path:
    """Return the folder of the parts of an unfinished scope file."""
    return path.with_name(path.name + ".parts")


def _scored(scorer: Scorer, places: Places, targets: Ints, on_batch: Callable[[int], None]) -> ScopeNodes:
    """Rank the candidates of the targets of one part."""
    found = [part for place, some in places.parts(targets) for part in score_targets(scorer, place, some, on_batch)]
    length = np.concatenate([np.diff(nodes.ptr) for nodes in found])
    return sorted_nodes(
        np.concatenate([nodes.targets for nodes in found]),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(length))),
        np.concatenate([nodes.node_id for nodes in found]),
        np.concatenate([nodes.score for nodes in found]),
    )
