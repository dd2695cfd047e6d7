"""Inference: a trained model on any graph that fits it, be it grown, changed or another one.

Not for: tables of predictions (node_predictions.py), nor for models that are still trained (training/runs/run.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.inputs.columns import Inputs, make_inputs
from shadow_gnn.tasks.links.splits import make_splits
from shadow_gnn.tasks.task import LinkTask, label_kind, split_targets
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.evaluate import Evaluation, OnBatch, Sources, evaluate, evaluate_by_degree
from shadow_gnn.training.link_setup import split_options
from shadow_gnn.training.model_file import ModelConfig, TrainedModel, check_fits
from shadow_gnn.training.run_setup import EVALUATION_FACTOR, make_loaders, whole_graph

Ints = NDArray[np.int64]


def model_inputs(trained: TrainedModel, graph: Graph) -> Inputs | None:
    """Compute what a model reads of a graph beside its features, once for all targets; None for nothing."""
    check_fits(trained.config, graph)
    return make_inputs(trained.config.inputs, graph, trained.task)


def prediction_loaders(trained: TrainedModel, graph: Graph, targets: Ints, *, inputs: Inputs | None = None) -> Sources:
    """Return a loader for each branch that goes through targets of a graph in their order; all of it for a normal GNN.

    inputs: those of model_inputs for this graph, if they are there already.
    """
    config = trained.config
    if config.target == "links":
        raise ValueError("predict: targets must be pairs for a model that predicts links, got nodes; give --pairs")
    check_fits(config, graph)
    read = inputs if inputs is not None else model_inputs(trained, graph)
    if config.is_normal:
        return whole_graph(graph, targets, read)
    extractors = tuple(
        build_extractor(branch.extractor, training=False, edge_pos=bool(layout.edge_arrays))
        for branch, layout in zip(config.branches, trained.model.layouts, strict=True)
        if branch.extractor is not None
    )
    batch_size = EVALUATION_FACTOR * config.batch_size
    return make_loaders(graph, extractors, trained.model, targets, batch_size, config.seed, inputs=read)


def extractor_keys(trained: TrainedModel) -> list[str]:
    """Return what decides the scopes of each branch beside the graph, all that its extractor reads included."""
    recipes = [branch.extractor for branch in trained.config.branches if branch.extractor is not None]
    return [build_extractor(recipe, training=False).key for recipe in recipes]


def evaluate_split(
    trained: TrainedModel, graph: Graph, split: str = "test", *, on_batch: OnBatch | None = None
) -> Evaluation:
    """Return how good a model is on the targets of a split, also by degree."""
    check_fits(trained.config, graph)
    if isinstance(trained.task, LinkTask):
        return _evaluate_links(trained, graph, split, on_batch)
    targets = split_targets(graph, split)
    _check_labels(trained.config, graph, targets)
    loaders = prediction_loaders(trained, graph, targets)
    return evaluate_by_degree(
        trained.model, loaders, trained.task, precision=trained.config.precision, on_batch=on_batch
    )


def pair_loaders(
    trained: TrainedModel, graph: Graph, pairs: Ints, *, labels: NDArray[np.float32] | None = None
) -> Sources:
    """Return a loader for each branch that goes through pairs [P, 2] of a graph in their order, their link hidden.

    labels [P]: 1 for a link and 0 for none, to evaluate.
    """
    config = trained.config
    if config.target != "links":
        raise ValueError(f"predict: model must be one that predicts links, this one predicts {config.target}")
    check_fits(config, graph)
    extractors = tuple(
        build_extractor(branch.extractor, training=False, edge_pos=bool(layout.edge_arrays), hide=config.link.hide)
        for branch, layout in zip(config.branches, trained.model.layouts, strict=True)
        if branch.extractor is not None
    )
    return make_loaders(
        graph,
        extractors,
        trained.model,
        pairs,
        EVALUATION_FACTOR * config.batch_size,
        config.seed,
        inputs=make_inputs(config.inputs, graph, trained.task),
        labels=labels,
    )


def _evaluate_links(trained: TrainedModel, graph: Graph, split: str, on_batch: OnBatch | None) -> Evaluation:
    """Split the graph as in training and evaluate the pairs of valid or test."""
    config = trained.config
    links = make_splits(graph, split_options(config.link, config.seed))
    found = links.pairs_of(split)
    loaders = pair_loaders(trained, links.graph_of(split), found.pairs, labels=found.labels)
    metrics = evaluate(trained.model, loaders, trained.task, precision=config.precision, on_batch=on_batch)
    return Evaluation(len(found), metrics, [])


def _check_labels(config: ModelConfig, graph: Graph, targets: Ints) -> None:
    """Raise unless a graph's labels are of the kind that the model predicts."""
    name, kind = graph.path or "graph in memory", label_kind(graph)
    if kind != config.target:
        raise ValueError(f"{name}: labels must be {config.target}, as the model predicts, got {kind}")
    labels = array_rows(graph, "y", targets)
    assert labels is not None
    width = labels.shape[1] if kind == "multilabel" else int(labels.max()) + 1 if kind == "classes" else 1
    if width > config.out_dim or (kind == "multilabel" and width != config.out_dim):
        raise ValueError(f"{name}: must have the {config.out_dim} classes that the model predicts, got {width}")
