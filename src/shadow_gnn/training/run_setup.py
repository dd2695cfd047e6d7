"""Run setup: task, model, extractors and loaders of a recipe on a graph.

Not for: training (loop.py) or files of a run (training/runs/run.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract import CachedExtractor, Extractor
from shadow_gnn.extract.training_view import feature_statistics, training_view
from shadow_gnn.graph.datasets.resolve import open_any_graph
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import WHOLE, BatchSource, RankPart
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.packed_loader import PackedLoader
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.normal.inputs.columns import Inputs, make_inputs
from shadow_gnn.normal.joint import JointLoader, near_targets
from shadow_gnn.normal.loaders import joint_loader, normal_loader
from shadow_gnn.normal.whole import WholeGraph
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.links.loader import PairLoader
from shadow_gnn.tasks.links.splits import LinkSplits, make_splits
from shadow_gnn.tasks.task import LinkTask, NodeTask, Task, node_task, split_targets
from shadow_gnn.training.branches import (
    branch_edges,
    branch_models,
    in_precision,
    make_extractors,
    node_table,
    with_learned,
)
from shadow_gnn.training.build import BranchEdges, build_model
from shadow_gnn.training.link_setup import split_options, training_pairs
from shadow_gnn.training.model_file import ModelConfig
from shadow_gnn.training.trained_on import trained_on

Ints = NDArray[np.int64]

EVALUATION_FACTOR = 4
"""Evaluation batches are this many times larger, since no backward pass needs memory."""


@dataclass(frozen=True, eq=False)
class RunSetup:
    """The objects of one run."""

    recipe: Recipe
    """Recipe of the run."""
    graph: Graph
    """The whole graph."""
    training_graph: Graph
    """The graph that training sees: the whole one, or its training view."""
    task: Task
    """Predicted quantity."""
    model: ShadowGNN
    """With its initial weights."""
    training_extractors: tuple[Extractor, ...]
    """One for each branch."""
    evaluation_extractors: tuple[Extractor, ...]
    """One for each branch; the same objects if training draws nothing at random."""
    training_inputs: Inputs | None = None
    """Inputs from the training graph besides its features; None for the features alone."""
    evaluation_inputs: Inputs | None = None
    """Inputs from the whole graph."""
    links: LinkSplits | None = None
    """Known links and those to predict; None if targets are nodes."""
    pack_folder: Path | None = None
    """Folder of packed training batches; None if the recipe does not pack."""
    part: RankPart = WHOLE
    """Share of this process in every training batch."""

    @cached_property
    def pack_bytes(self) -> int:
        """Estimated disk space of packed batches that this process still has to write."""
        loaders = self.training_loaders() if self.pack_folder is not None else ()
        return sum(loader.num_bytes_needed(self.part) for loader in loaders if isinstance(loader, PackedLoader))

    @property
    def num_training_targets(self) -> int:
        """Nodes, or positive and negative pairs, of an epoch."""
        if self.links is None:
            return len(split_targets(self.graph, "train"))
        pairs = training_pairs(self.recipe, self.links)
        return pairs.num_positive + pairs.num_negative

    @property
    def chooses_thresholds(self) -> bool:
        """Whether each label gets a threshold of its own on the validation targets."""
        return self.task.target == "multilabel" and self.recipe.task.label_thresholds

    def has_split(self, split: str) -> bool:
        """Tell whether a split exists and has targets; its nodes are not read here."""
        if self.links is None:
            return split in self.graph.splits and len(self.graph.splits[split]) > 0
        return split == "valid" or self.links.test is not None

    def split_loaders(self, split: str) -> Sequence[BatchSource] | WholeGraph:
        """Return the loaders of a split, one for each branch, or the graph for a normal GNN."""
        if self.links is None:
            targets = split_targets(self.graph, split)
            joint = self.recipe.training.method == "joint"
            return self.evaluation_loaders(near_targets(self.graph, targets) if joint else targets)
        found, graph, inputs = self.links.pairs_of(split), self.links.graph_of(split), self.evaluation_inputs
        return make_loaders(
            graph,
            self.evaluation_extractors,
            self.model,
            found.pairs,
            EVALUATION_FACTOR * self.recipe.training.batch_size,
            self.recipe.seed,
            inputs=None if inputs is None else replace(inputs, graph=graph),
            labels=found.labels,
        )

    def training_loaders(self) -> Sequence[BatchSource]:
        """Return a shuffling loader for each branch; all have the same order of targets."""
        branches = [cast(Branch, branch) for branch in self.model.branches]
        if self.links is not None:
            pairs, size = training_pairs(self.recipe, self.links), self.recipe.training.batch_size
            return [
                PairLoader(pairs, extractor, model=branch, batch_size=size, inputs=self.training_inputs)
                for extractor, branch in zip(self.training_extractors, branches, strict=True)
            ]
        train = split_targets(self.graph, "train")
        if self.recipe.is_normal:
            return [normal_loader(self.recipe, self.training_graph, train, self.model, self.training_inputs)]
        if self.recipe.training.method == "joint":
            return [self._joint_loader(train, training=True)]
        loaders = [
            Loader(
                self.training_graph,
                extractor,
                train,
                model=branch,
                batch_size=self.recipe.training.batch_size,
                shuffle=True,
                seed=self.recipe.seed,
                inputs=self.training_inputs,
            )
            for extractor, branch in zip(self.training_extractors, branches, strict=True)
        ]
        if self.pack_folder is None:
            return loaders
        return [PackedLoader(loader, self.pack_folder) for loader in loaders]

    def evaluation_loaders(self, targets: Ints) -> Sequence[BatchSource] | WholeGraph:
        """Return a loader of targets of the whole graph for each branch, in the given order.

        A normal GNN needs none: it computes all targets at once.
        """
        if self.recipe.is_normal:
            return whole_graph(self.graph, targets, self.evaluation_inputs)
        if self.recipe.training.method == "joint":
            return [self._joint_loader(targets, training=False)]
        batch_size = EVALUATION_FACTOR * self.recipe.training.batch_size
        return make_loaders(
            self.graph,
            self.evaluation_extractors,
            self.model,
            targets,
            batch_size,
            self.recipe.seed,
            inputs=self.evaluation_inputs,
        )

    def _joint_loader(self, targets: Ints, *, training: bool) -> JointLoader:
        """Return the loader of joint batches for training, or for evaluation in the order of the targets."""
        settings = self.recipe.training
        return joint_loader(
            self.recipe.joint,
            self.training_graph if training else self.graph,
            (self.training_extractors if training else self.evaluation_extractors)[0],
            targets,
            self.model,
            batch_size=settings.batch_size * (1 if training else EVALUATION_FACTOR),
            seed=self.recipe.seed,
            inputs=self.training_inputs if training else self.evaluation_inputs,
            shuffle=training,
            max_bytes=settings.cache_megabytes * 2**20 // 2 if settings.cache == "memory" else 0,
        )

    def keep_scopes(self) -> None:
        """Write cached scopes from memory to the cache folder, if there is one."""
        for extractor in (*self.training_extractors, *self.evaluation_extractors):
            if isinstance(extractor, CachedExtractor):
                extractor.flush()


def whole_graph(graph: Graph, targets: Ints, inputs: Inputs | None) -> WholeGraph:
    """Return the graph with the targets of a normal GNN."""
    return WholeGraph(graph, targets, None if inputs is None else inputs.rows)


def make_loaders(
    graph: Graph,
    extractors: tuple[Extractor, ...],
    model: ShadowGNN,
    targets: Ints,
    batch_size: int,
    seed: int,
    *,
    inputs: Inputs | None = None,
    labels: NDArray[np.float32] | None = None,
) -> list[Loader]:
    """Return a loader of targets for each branch of a model, in the given order, for evaluation.

    labels [B]: of pairs, if they are known.
    """
    return [
        Loader(
            graph,
            extractor,
            targets,
            model=cast(Branch, branch),
            batch_size=batch_size,
            seed=seed,
            fixed_seed=True,
            inputs=inputs,
            labels=labels,
        )
        for extractor, branch in zip(extractors, model.branches, strict=True)
    ]


def make_setup(recipe: Recipe, graph: Graph, *, cache_folder: Path | None = None, part: RankPart = WHOLE) -> RunSetup:
    """Make the objects of a run; raise if the recipe does not fit the graph.

    cache_folder: for packed batches and, if the recipe's cache is on disk, scopes and smoothed inputs.
    part: share of this process in every training batch.
    """
    _check_pack(recipe, cache_folder)
    if recipe.task.kind == "link":
        return _link_setup(recipe, graph, cache_folder)
    task = node_task(
        graph,
        recipe.task.target,
        class_weights=recipe.task.class_weights,
        label_smoothing=recipe.training.label_smoothing,
    )
    train = split_targets(graph, "train")
    split_targets(graph, "valid")  # Fails now, not after the first epoch.
    recipes = branch_models(recipe)
    view = training_view(graph, train) if recipe.task.inductive else graph
    folder = cache_folder if recipe.training.cache == "disk" else None
    read = make_inputs(recipe.inputs, graph, task, folder=folder)
    read_in_training = read if view is graph else make_inputs(recipe.inputs, view, task, folder=folder)
    statistics = None
    if recipe.model.standardize and graph.x is not None:
        seen = train if recipe.task.inductive else None
        statistics = feature_statistics(graph, seen) if read_in_training is None else read_in_training.statistics(seen)
    model = build_model(
        recipes,
        in_dim=recipe.inputs.num_columns(0 if graph.x is None else graph.x.shape[1], task.out_dim),
        out_dim=task.out_dim,
        branch_edges=branch_edges(recipe, graph),
        values=task.target == "values",
        table=node_table(recipe, graph),
        statistics=with_learned(statistics, recipe),
        seed=recipe.seed,
    )
    if recipe.model.head == "linear" and task.prior is not None:
        model.head.start_at(task.prior)
    model = in_precision(model, recipe)
    training, evaluation = ((), ()) if recipe.is_normal else make_extractors(recipe, model, cache_folder)
    pack_folder = cache_folder if recipe.training.pack else None
    inputs = (read_in_training, read)
    setup = RunSetup(recipe, graph, view, task, model, training, evaluation, *inputs, None, pack_folder, part)
    if pack_folder is not None:
        setup.training_loaders()  # Fails now if something cannot be packed.
    return setup


def _check_pack(recipe: Recipe, folder: Path | None) -> None:
    """Raise if a recipe packs batches that cannot be packed."""
    if not recipe.training.pack:
        return
    if recipe.task.kind == "link":
        raise ValueError("training: pack must be false for links, whose negatives are new in each epoch")
    if recipe.training.method != "shadow":
        raise ValueError(
            f"training: pack must be false for method {recipe.training.method!r}, whose batches share one graph"
        )
    if folder is None:
        raise ValueError("training: pack must be false without a folder to keep batches in; train as a run")


def _link_setup(recipe: Recipe, graph: Graph, cache_folder: Path | None) -> RunSetup:
    """Make the objects of a run on links; training scopes are not cached, as negatives are new in every epoch."""
    links = make_splits(graph, split_options(recipe.link, recipe.seed))
    training_pairs(recipe, links)  # Fails now if the graph has too few pairs for the negatives.
    task = LinkTask()
    inputs = make_inputs(recipe.inputs, links.graph, task)
    statistics = None
    if recipe.model.standardize and graph.x is not None:
        statistics = feature_statistics(graph) if inputs is None else inputs.statistics()
    model = build_model(
        branch_models(recipe),
        in_dim=recipe.inputs.num_columns(0 if graph.x is None else graph.x.shape[1], 0),
        out_dim=1,
        branch_edges=branch_edges(recipe, graph),
        num_targets=2,
        table=node_table(recipe, graph),
        statistics=with_learned(statistics, recipe),
        seed=recipe.seed,
    )
    model = in_precision(model, recipe)
    training, _ = make_extractors(recipe, model, cached=False)
    _, evaluation = make_extractors(recipe, model, cache_folder)
    return RunSetup(recipe, graph, links.graph, task, model, training, evaluation, inputs, inputs, links)


def model_config(setup: RunSetup) -> ModelConfig:
    """Return the description of a run's model; the checksum of its weights is still blank."""
    recipe, graph, task = setup.recipe, setup.graph, setup.task
    names = graph.class_name if isinstance(task, NodeTask) else None
    return ModelConfig(
        weights_blake2b="0" * 32,
        in_dim=0 if graph.x is None else graph.x.shape[1],
        out_dim=task.out_dim,
        edge_dim=0 if graph.edge_attr is None else graph.edge_attr.shape[1],
        edge_weight=graph.edge_weight is not None,
        branch_edges=_own_branch_edges(setup),
        target=task.target,
        value_mean=task.value_mean if isinstance(task, NodeTask) else 0.0,
        value_deviation=task.value_deviation if isinstance(task, NodeTask) else 1.0,
        label_thresholds=_label_thresholds(task),
        class_names=None if names is None else tuple(names[number] for number in range(task.out_dim)),
        branches=recipe.all_branches,
        inputs=recipe.inputs,
        link=recipe.link,
        joint=recipe.joint if recipe.training.method == "joint" else None,
        num_nodes=graph.num_nodes if recipe.inputs.learned_dim else 0,
        precision=recipe.training.precision,
        batch_size=recipe.training.batch_size,
        seed=recipe.seed,
    )


def described_model(setup: RunSetup) -> ModelConfig:
    """Return the description of a finished model, with the facts about its graph."""
    targets = None if setup.links is not None else split_targets(setup.graph, "train")
    return model_config(setup).model_copy(update={"trained_on": trained_on(setup.graph, targets)})


def _label_thresholds(task: Task) -> tuple[float, ...] | None:
    if isinstance(task, LinkTask) or task.threshold is None:
        return None
    return tuple(task.threshold.tolist())


def _own_branch_edges(setup: RunSetup) -> tuple[BranchEdges, ...] | None:
    """Return the edge arrays of each branch, if any branch has the edges of another graph."""
    if all(extractor.edge_graph(setup.graph) is setup.graph for extractor in setup.evaluation_extractors):
        return None
    return tuple(branch_edges(setup.recipe, setup.graph))


open_recipe_graph = open_any_graph
"""Opens the graph of a recipe."""
