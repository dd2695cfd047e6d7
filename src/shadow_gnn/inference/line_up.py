"""Line up: a graph made to fit a model by the names of columns and classes, refused or warned of where it differs.

Not for: facts about the graph of training (training/trained_on.py), or shapes (check_model_fits).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.extract.training_view import feature_statistics
from shadow_gnn.graph.importing.columns.plan import ImportPlan, edge_names, read_plan
from shadow_gnn.graph.record import DenseFeatures, Features, Graph, NodeNames, SparseFeatures
from shadow_gnn.training.model_file import ModelConfig
from shadow_gnn.training.trained_on import TrainedOn

Note = Callable[[str], None]
Ints = NDArray[np.int64]

MOST_DRIFT = 5
"""Deviations by which the mean of a column may move without a warning."""
_EQUAL = 1e-4


def lined_up(config: ModelConfig, graph: Graph, note: Note, import_toml: str | None = None) -> Graph:
    """Return the graph with the columns and classes in the order of training; raise for the first difference.

    import_toml: how the columns were encoded for training. note: receives a line for each column whose mean has moved
    far. A model of an earlier version is not compared.
    """
    facts = config.trained_on
    if facts is None:
        return graph
    owner = str(graph.path or "graph in memory")
    _check_edges(config, facts, graph, owner)
    if import_toml is not None and graph.import_toml is not None and import_toml != graph.import_toml:
        _check_encoding(read_plan(import_toml, "model"), read_plan(graph.import_toml, owner), owner)
        graph = _with_edge_columns(import_toml, graph, owner)
    graph = _with_columns(facts, graph, owner)
    _check_statistics(facts, graph, owner, note)
    return _with_classes(config, graph, owner, note)


def _check_edges(config: ModelConfig, facts: TrainedOn, graph: Graph, owner: str) -> None:
    if graph.directed != facts.directed:
        words = ("undirected", "directed")
        raise ValueError(
            f"{owner}: must be {words[facts.directed]}, as the model was trained on, got {words[graph.directed]}"
        )
    if graph.edge_weight is not None and not config.edge_weight:
        raise ValueError(f"{owner}: must have no edge weights, as the model was trained without, got weights")


def _check_encoding(known: ImportPlan, own: ImportPlan, owner: str) -> None:
    """Refuse a column whose values have another meaning than in training."""
    for plans, others in ((known.nodes, own.nodes), (known.edges, own.edges)):
        for name, plan in plans.items():
            key = None if name not in others else plan.difference(others[name])
            if key is not None:
                raise ValueError(
                    f"{owner}: column {name!r} must be encoded as in training, its {key} differs; "
                    "import the tables with --plan and the import.toml of the run"
                )


def _with_edge_columns(import_toml: str, graph: Graph, owner: str) -> Graph:
    """Order the edge features as in training."""
    own, known = edge_names(graph.import_toml), edge_names(import_toml)
    if own is None or known is None or own == known or graph.edge_attr is None:
        return graph
    order = _order(own, known, owner, "edge feature")
    return replace(graph, edge_attr=np.ascontiguousarray(graph.edge_attr[:, order]))


def _order(own: tuple[str, ...], known: tuple[str, ...], owner: str, kind: str) -> Ints:
    """Return the place of each known column; a column too few or too many is a ValueError."""
    place = {name: number for number, name in enumerate(own)}
    for name in known:
        if name not in place:
            raise ValueError(
                f"{owner}: must have the {kind} column {name!r}, as the model was trained on; it is missing"
            )
    if len(own) != len(known):
        extra = next(name for name in own if name not in set(known))
        raise ValueError(f"{owner}: must have only the model's {kind} columns, the model does not know {extra!r}")
    return np.array([place[name] for name in known])


def _with_columns(facts: TrainedOn, graph: Graph, owner: str) -> Graph:
    """Order the feature columns as in training, if both have names."""
    own, known = graph.column_names, facts.column_names
    if own is None or known is None or own == known or graph.x is None:
        return graph
    return replace(graph, x=_ordered(graph.x, _order(own, known, owner, "feature")), column_names=known)


def _ordered(x: Features, order: Ints) -> Features:
    from scipy.sparse import csr_array

    if isinstance(x, SparseFeatures):
        matrix = csr_array((x.data, *reversed(x.lists)), shape=x.shape)[:, order].sorted_indices()
        return SparseFeatures(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, x.num_columns
        )
    return DenseFeatures(np.ascontiguousarray(x.matrix[:, order]), None if x.scale is None else x.scale[order])


def _check_statistics(facts: TrainedOn, graph: Graph, owner: str, note: Note) -> None:
    """Refuse the same columns in another order; warn of columns whose mean has moved."""
    mean, deviation = np.array(facts.column_mean), np.array(facts.column_deviation)
    if graph.x is None or graph.x.shape[1] != len(mean) or not len(mean) or not graph.num_nodes:
        return
    if facts.features is not None and facts.features == graph.x.fingerprint_hint:
        return
    found = feature_statistics(graph)
    moved = np.abs(found.mean - mean) / deviation
    other = (moved > _EQUAL) | (np.abs(found.deviation / deviation - 1) > _EQUAL)
    if other.any() and _same_set(mean, deviation, found.mean, found.deviation):
        first = int(np.argmax(other))
        raise ValueError(
            f"{owner}: feature columns must be in the order of training, {int(other.sum()):,} are in another, "
            f"the first is column {first}; name the columns to have them put in order"
        )
    far = np.flatnonzero(moved > MOST_DRIFT)
    if len(far):
        first = int(far[0])
        name = f"column {first}" if graph.column_names is None else f"column {graph.column_names[first]!r}"
        note(
            f"{owner}: the mean of {len(far):,} of {len(mean):,} feature columns has moved by more than {MOST_DRIFT} "
            f"standard deviations since training, first that of {name}: {mean[first]:.4g} then, "
            f"{found.mean[first]:.4g} now"
        )


def _same_set(
    mean: NDArray[np.float64],
    deviation: NDArray[np.float64],
    other_mean: NDArray[np.float32],
    other_deviation: NDArray[np.float32],
) -> bool:
    """Tell whether two sets of columns have the same means and deviations in some order."""
    first, second = np.lexsort((deviation, mean)), np.lexsort((other_deviation, other_mean))
    scale = deviation[first]
    near = np.abs(mean[first] - other_mean[second]) <= _EQUAL * scale
    return bool((near & (np.abs(other_deviation[second] / scale - 1) <= _EQUAL)).all())


def _with_classes(config: ModelConfig, graph: Graph, owner: str, note: Note) -> Graph:
    """Number the classes as in training, if both have names; classes that are new become unknown, with a warning."""
    known = config.class_names
    if known is None or graph.class_name is None or graph.y is None:
        return graph
    own = tuple(graph.class_name[number] for number in range(len(graph.class_name)))
    if graph.y.ndim == 2 and config.target == "multilabel" and own != known:
        order = _order(own, known, owner, "label")
        return replace(graph, y=np.ascontiguousarray(graph.y[:, order]), class_name=NodeNames.of(known))
    if graph.y.ndim != 1 or config.target != "classes" or own[: len(known)] == known:
        return graph
    place = {name: number for number, name in enumerate(known)}
    new = [name for name in own if name not in place]
    if new:
        note(f"{owner}: the model does not know the class {new[0]!r}: nodes of {len(new):,} classes count as unlabeled")
    number = np.array([*(place.get(name, -1) for name in own), -1])  # The last is that of unknown labels.
    y = np.asarray(graph.y)
    if len(y) and not -1 <= y.min() <= y.max() < len(own):
        raise FolderError(f"{owner}: labels must be -1 or one of {len(own)} named classes, got {y.min()} to {y.max()}")
    return replace(graph, y=number[y], class_name=NodeNames.of(known))


def check_classes(config: ModelConfig, graph: Graph) -> None:
    """Raise if known nodes have other classes than in training: the classes are numbered otherwise."""
    facts = config.trained_on
    if facts is None or not facts.sample_class or not facts.has_same_nodes(graph):
        return
    nodes, kept = np.array(facts.sample_id), np.array(facts.sample_class)
    labels = array_rows(graph, "y", nodes)
    if labels is None or labels.ndim != 1 or labels.dtype.kind != "i":
        return
    other = (labels != kept) & (labels >= 0)
    if other.sum() * 2 > len(kept):
        first = int(np.argmax(other))
        raise ValueError(
            f"{graph.path or 'graph in memory'}: classes must be numbered as in training, node {nodes[first]} "
            f"had class {kept[first]} and has class {labels[first]}; name the classes to have them lined up"
        )


def trained_note(config: ModelConfig, graph: Graph, targets: Ints) -> str | None:
    """Return a line about evaluated nodes that the model was trained on; None if there are none."""
    facts = config.trained_on
    if facts is None:
        return None
    if facts.train_names is not None and graph.node_name is not None:
        count = facts.names_among([graph.node_name[node] for node in targets.tolist()])
    else:
        count = int(facts.trained_among(targets).sum()) if facts.has_same_nodes(graph) else 0
    if count == 0:
        return None
    share = count / len(targets)
    return f"{count:,} of {len(targets):,} evaluated nodes ({share:.1%}) were trained on: the metrics are too good"
