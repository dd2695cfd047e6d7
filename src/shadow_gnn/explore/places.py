"""Places: the nodes and edges of a scope as the page draws them.

Not for: choosing them (scopes.py), or predictions (outcomes.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.explore.answers import EdgeAnswer, FeatureAnswer, Label, NodeAnswer
from shadow_gnn.explore.edits import Edited
from shadow_gnn.extract.gather import array_rows, feature_rows
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.explain.scope_arrays import ScopeArrays, edges_once

Ints = NDArray[np.int64]

MOST_FEATURES = 5
"""Features of a node that are shown."""


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return float(value) if np.isfinite(value) else None


def label_answer(label: Any) -> Label:
    """Return a row of a graph's labels: a class, a value or the numbers of labels; None if unknown."""
    if np.ndim(label):
        return np.flatnonzero(label).tolist()
    if isinstance(label, np.floating):
        return finite(float(label))
    return None if label < 0 else int(label)


def label_answers(graph: Graph, nodes: Ints) -> list[Label]:
    """Return the labels of stored nodes; None for all others."""
    known = nodes < graph.num_nodes
    rows = array_rows(graph, "y", nodes[known])
    found = iter([None] * len(nodes) if rows is None else [label_answer(row) for row in rows])
    return [next(found) if here else None for here in known.tolist()]


def node_answers(main: LiveGraph, scope: ScopeArrays, edited: Edited) -> list[NodeAnswer]:
    """Return the nodes of a scope with everything that is known about them but contributions.

    main: the graph of the page, whose labels and names count; edited: the graph of the scope.
    """
    nodes, names, graph = scope.node_id, edited.graph.node_name, edited.graph
    labels = label_answers(main.stored, nodes)
    splits = _splits(main.stored, nodes)
    degrees = degrees_of(main, graph, nodes)
    features = _features(main.stored, graph, nodes)
    found = []
    for place, node in enumerate(nodes.tolist()):
        is_new = node >= edited.first_new
        label = edited.labels[node] if node in edited.labels else labels[place]
        found.append(
            NodeAnswer(
                id=None if is_new else node,
                new=node - edited.first_new if is_new else None,
                name=None if names is None else names[node],
                label=label,
                split=splits[place],
                hop=int(scope.hop[place]),
                score=finite(scope.score[place]),
                degree=int(degrees[place]),
                contribution=None,
                features=features[place],
                edited=node in edited.touched,
            )
        )
    return found


def edge_answers(scope: ScopeArrays, edited: Edited, explained: bool) -> list[EdgeAnswer]:
    """Return the edges of a scope between places of its nodes."""
    ends, weight, share = edges_once(scope, directed=edited.graph.directed)
    order = np.argsort(scope.node_id)
    places = order[np.searchsorted(scope.node_id, ends, sorter=order)]
    return [
        {
            "from": sender,
            "to": receiver,
            "weight": None if weight is None else float(weight[number]),
            "contribution": finite(share[number]) if explained else None,
            "added": tuple(ends[number].tolist()) in edited.added,
        }
        for number, (sender, receiver) in enumerate(places.tolist())
    ]


def degrees_of(live: LiveGraph, graph: Graph, nodes: Ints) -> Ints:
    """Return the degrees of nodes; a graph without changes need not read its lists."""
    return (live.stored if graph is live.graph and is_unchanged(live) else graph).degrees(nodes)


def is_unchanged(live: LiveGraph) -> bool:
    """Tell whether a graph has no updates."""
    return live.graph.changes.num_rows == 0 and live.graph.num_nodes == live.stored.num_nodes


def _splits(graph: Graph, nodes: Ints) -> list[str | None]:
    found: list[str | None] = [None] * len(nodes)
    for name, members in reversed(_sorted_splits(graph)):
        at = np.minimum(np.searchsorted(members, nodes), len(members) - 1)
        for place in np.flatnonzero(members[at] == nodes).tolist():
            found[place] = name
    return found


@lru_cache(maxsize=2)
def _sorted_splits(graph: Graph) -> list[tuple[str, Ints]]:
    """Return the splits that have nodes, sorted, which a look-up for every request is faster with."""
    return [(name, np.sort(graph.split(name))) for name in graph.splits if len(graph.splits[name])]


def _features(main: Graph, graph: Graph, nodes: Ints) -> list[list[FeatureAnswer]]:
    """Return the columns of each node with the largest values of either sign."""
    rows = feature_rows(graph, nodes)
    if rows is None:
        return [[] for _ in nodes]
    names = graph.column_names
    numbers = np.arange(rows.shape[1])
    if names is not None and main.column_names is not None and names != main.column_names:
        place = {name: number for number, name in enumerate(main.column_names)}
        numbers = np.array([place[name] for name in names])
    count = min(MOST_FEATURES, rows.shape[1])
    best = np.argsort(-np.abs(rows), axis=1, kind="stable")[:, :count]
    return [
        [
            FeatureAnswer(
                column=int(numbers[column]),
                name=f"column {column}" if names is None else names[column],
                value=float(row[column]),
            )
            for column in chosen
            if row[column] != 0
        ]
        for row, chosen in zip(rows, best.tolist(), strict=True)
    ]
