"""Explain: the explanations of a trained model's predictions on a graph, target by target.

Not for: scopes that are already extracted (on_batches.py), or statistics over many targets (summary.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.extract import FullExtractor
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictor import Predictor, open_predictor
from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.layers.base import Layer
from shadow_gnn.studies.explain.contributions import Contributions, Method
from shadow_gnn.studies.explain.explanation import Explanation
from shadow_gnn.studies.explain.on_batches import explain_batches
from shadow_gnn.studies.explain.scope_arrays import ScopeArrays, edges_once, merged, scope_arrays
from shadow_gnn.training.model_file import TrainedModel

Ints = NDArray[np.int64]

MOST_TARGETS = 64
"""Targets of a batch: an explanation keeps more arrays than a prediction."""
_BATCH_NODES = 1 << 16


def explain(
    model: Predictor | TrainedModel | str | Path,
    graph: Graph | str | None,
    nodes: ArrayLike,
    *,
    method: Method | None = None,
    explained_class: int | str | None = None,
) -> Any:
    """Explain predictions: one target gives an Explanation, a list of them a tuple of Explanations.

    model: a run folder, its trained model or an open Predictor. graph: None for that of the run or of the predictor.
    nodes: ids or names, or pairs of them to predict links. method: midpoint by default; occlusion, the default
    for layers of PyG, is exact and slower; see Method. explained_class: its number or name; None for the predicted one.

    A normal GNN is explained on all nodes that reach the target in as many hops as it has layers.

    >>> found = sg.explain(predictor, None, 7)
    >>> found.node_contribution.shape, len(found.top_edges(3))
    ((6,), 3)
    """
    predictor = with_scopes(_opened(model, graph))
    given = np.asarray(nodes)
    alone = given.ndim == (1 if predictor.is_links else 0)
    checked = predictor.check(given[None] if alone else given)
    found = tuple(each_explanation(predictor, checked, method=method, explained_class=explained_class))
    return found[0] if alone else found


def each_explanation(
    predictor: Predictor, targets: Ints, *, method: Method | None = None, explained_class: int | str | None = None
) -> Iterator[Explanation]:
    """Explain checked targets one after the other, in bounded memory; the predictor must have scopes."""
    wanted = class_number(predictor, explained_class)
    for batches, found in each_contribution(predictor, targets, method=method, wanted=wanted):
        yield from explanations(predictor, batches, found)


def each_contribution(
    predictor: Predictor, targets: Ints, *, method: Method | None = None, wanted: int | None = None
) -> Iterator[tuple[tuple[Batch, ...], Contributions]]:
    """Extract and explain checked targets, batch by batch."""
    trained, directed = predictor.trained, predictor.graph.directed
    most, start = min(MOST_TARGETS, predictor.batch_size), 0
    # Scopes of all nodes have no limit: a few show how large they are.
    size = 1 if any(isinstance(extractor, FullExtractor) for extractor in predictor.extractors) else most
    while start < len(targets):
        batches = predictor.batches(targets[start : start + size])
        found = explain_batches(trained.model, batches, trained.task, method=method, wanted=wanted, directed=directed)
        yield batches, found
        start += size
        num_nodes = sum(batch.num_nodes for batch in batches) / len(batches[0])
        size = max(1, min(8 * size, most, int(_BATCH_NODES / num_nodes)))


def explanations(
    predictor: Predictor, batches: Sequence[Batch], found: Contributions, graph: Graph | None = None
) -> list[Explanation]:
    """Divide the contributions of a batch into the explanations of its targets; graph: None for the predictor's.

    >>> batches = predictor.batches(np.array([0, 7]))
    >>> found = sg.explain_batches(model, batches, predictor.trained.task)
    >>> [one.targets for one in sg.explanations(predictor, batches, found)]
    [[0], [7]]
    """
    parts = [scope_arrays(*given) for given in zip(batches, found.nodes, found.edges, strict=True)]
    graph = predictor.graph if graph is None else graph
    return [
        _explanation(predictor, graph, batches[0], found, number, merged([part[number] for part in parts]))
        for number in range(len(batches[0]))
    ]


def with_scopes(predictor: Predictor) -> Predictor:
    """Return the predictor itself, or that of a normal GNN on the scopes that give its exact predictions."""
    trained = predictor.trained
    if not trained.config.is_normal:
        return predictor
    layers = cast(Branch, trained.model.branches[0]).backbone.layers
    # A symmetric factor is of the degrees of both ends: those of the last hop need their own neighbors too.
    more = any(cast(Layer, layer).preparation == "symmetric" for layer in layers)
    return Predictor(trained, predictor.graph, extractor=FullExtractor(len(layers) + more), warn=predictor.warn)


def class_number(predictor: Predictor, given: int | str | None) -> int | None:
    """Return the number of a class, given as number or name."""
    if not isinstance(given, str):
        return given
    names = predictor.trained.config.class_names or ()
    if given in names:
        return names.index(given)
    if given.isdecimal() and len(given) < 10:
        return int(given)
    some = ", ".join(names[:8]) if names else f"numbers from 0 to {predictor.trained.config.out_dim - 1}"
    raise ValueError(f"explain: class must be one of the model's ({some}), got {given!r}")


def input_names(predictor: Predictor) -> list[str]:
    """Return the name of every input column: features, smoothed features, labels and degrees."""
    config, graph = predictor.trained.config, predictor.graph
    inputs = config.inputs
    names = graph.column_names or tuple(f"column {number}" for number in range(config.in_dim))
    found = list(names)
    for times in range(1, inputs.smooth + 1):
        found += [f"{name}, smoothed {times} times" for name in names]
    classes = config.class_names or tuple(f"class {number}" for number in range(config.out_dim))
    if inputs.labels:
        found += [f"label {name}" for name in classes]
    for times in range(1, inputs.smooth_labels + 1):
        found += [f"label {name}, smoothed {times} times" for name in classes]
    return found + ["degree in the scope"] * inputs.degree + ["degree in the graph"] * inputs.graph_degree


def _opened(model: Predictor | TrainedModel | str | Path, graph: Graph | str | None) -> Predictor:
    if isinstance(model, Predictor):
        if graph is not None and graph is not model.graph:
            raise ValueError("explain: graph must be None or the predictor's own, got another")
        return model
    if isinstance(model, TrainedModel):
        if not isinstance(graph, Graph):
            raise ValueError(f"explain: graph must be a Graph for a trained model, got {graph!r}")
        return Predictor(model, graph)
    return open_predictor(model, graph)


def _explanation(
    predictor: Predictor, graph: Graph, batch: Batch, found: Contributions, number: int, scope: ScopeArrays
) -> Explanation:
    """Make the record of one target."""
    kind = predictor.trained.config.target
    target = batch.targets[number : number + 1].cpu().numpy()
    labels = array_rows(graph, "y", target[:, 0]) if kind != "links" else None
    edge, weight, share = edges_once(scope, directed=graph.directed)
    column = batch.x
    return Explanation(
        prediction=predictor.predictions(target if kind == "links" else target[:, 0], _row(found.logits, number)),
        method=found.method,
        chosen=None if found.chosen is None else int(found.chosen[number]),
        answer=float(found.answer[number]),
        label=None if labels is None or (kind == "classes" and labels[0] < 0) else labels[0].tolist(),
        node_id=scope.node_id,
        hop=scope.hop,
        score=scope.score,
        node_class=array_rows(graph, "y", scope.node_id) if kind == "classes" else None,
        node_contribution=scope.node_share,
        edge=edge,
        edge_weight=weight,
        edge_contribution=share,
        column_contribution=None if found.columns is None else found.columns[number].double().cpu().numpy(),
        column_value=None if column is None else column[batch.target_node[number, 0]].detach().cpu().numpy(),
        column_names=() if found.columns is None else input_names(predictor),
    )


def _row(logits: torch.Tensor, number: int) -> torch.Tensor:
    return logits[number : number + 1].detach().float().cpu()
