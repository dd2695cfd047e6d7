"""Edits: the changes of one request as a layer over the graph, which itself stays as it is.

Not for: changes that stay (serve), or the form of a request (requests.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.explore.requests import EdgeEdit, Edits, EndsEdit
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.update import Update, edges_of_nodes
from shadow_gnn.serve.requests import NewNode, NewRef, Ref
from shadow_gnn.serve.resolve import as_floats, new_nodes_update, node_of, nodes_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Edited:
    """A graph with the edits of one request."""

    graph: ChangedGraph
    first_new: int
    """Ids from here on are of new nodes."""
    labels: dict[int, int | None] = field(default_factory=dict)
    """Other classes of nodes; None for unknown."""
    touched: frozenset[int] = frozenset()
    """Nodes that an edit names."""
    added: frozenset[tuple[int, int]] = frozenset()
    """(sender, receiver) of added edges; both directions in an undirected graph."""
    updates: tuple[Update, ...] = ()
    """The edits of nodes and edges, in their order."""
    removed: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Nodes that have lost their edges, after these updates."""

    @property
    def changed(self) -> bool:
        """Whether there are any edits."""
        return bool(self.touched)

    def node_of(self, live: LiveGraph, ref: Ref) -> int:
        """Return the id of a node that the request names, a new one included."""
        if not isinstance(ref, NewRef):
            return node_of(live, ref)
        count = self.graph.num_nodes - self.first_new
        if ref.new >= count:
            raise ValueError(f"scope: new must be the place of a new node, below {count}, got {ref.new}")
        return self.first_new + ref.new


def edited(live: LiveGraph, edits: Edits | None) -> Edited:
    """Return the graph as it is, with the edits of a request on top; the caller holds the lock of the graph."""
    first = live.graph.num_nodes
    if edits is None or edits == Edits():
        return Edited(live.graph, first)
    layer = ChangedGraph(live.stored, under=live.graph)
    work = _Work(live, Edited(layer, first))
    work.add_nodes(edits.new_nodes)
    work.set_features(edits)
    labels = {node_of(live, edit.node): _class_of(live, edit.class_) for edit in edits.labels}
    work.touched.update(labels)
    work.add_edges(edits.add_edges)
    work.remove_edges(edits.remove_edges)
    if edits.remove_nodes:
        work.remove_nodes(np.unique(nodes_of(live, edits.remove_nodes)))
    touched, added = frozenset(work.touched), frozenset(work.added)
    return Edited(layer, first, labels, touched, added, tuple(work.updates), work.removed)


def by_name(live: LiveGraph, edits: Edits | None) -> Edits | None:
    """Return edits with columns and classes by name where they have names, for a graph with another order of them."""
    if edits is None:
        return None
    columns, classes = live.stored.column_names, live.stored.class_name
    features = [
        edit.model_copy(update={"column": columns[_column_of(live, edit.column)]}) if columns is not None else edit
        for edit in edits.features
    ]
    labels = [
        edit.model_copy(update={"class_": classes[number]})
        if classes is not None and (number := _class_of(live, edit.class_)) is not None
        else edit
        for edit in edits.labels
    ]
    return edits.model_copy(update={"features": features, "labels": labels})


class _Work:
    """The layer of a request while its edits are made."""

    def __init__(self, live: LiveGraph, base: Edited) -> None:
        self._live, self._base, self._layer = live, base, base.graph
        self.touched: set[int] = set()
        self.added: set[tuple[int, int]] = set()
        self.updates: list[Update] = []
        self.removed: Ints = np.zeros(0, np.int64)

    def named(self, nodes: Ints) -> Ints:
        """Note that edits name some nodes."""
        self.touched.update(nodes.tolist())
        return nodes

    def add_nodes(self, nodes: Sequence[NewNode]) -> None:
        """Add new nodes; values that are left out are 0, weights are 1."""
        if not nodes:
            return
        filled = [self._filled(node) for node in nodes]
        update = new_nodes_update(self._live, filled, self._base.first_new, needs_names=False)
        self._apply(update)
        self.touched.update(range(self._base.first_new, self._layer.num_nodes))
        self._note_added(update.set_edges)

    def set_features(self, edits: Edits) -> None:
        """Give nodes other features."""
        if edits.features and self._layer.features is None:
            raise ValueError("edits: features must be left out, as the graph has none")
        for edit in edits.features:
            node = node_of(self._live, edit.node)
            rows = feature_rows(self._layer, self.named(np.array([node], np.int64)))
            assert rows is not None
            assert self._layer.features is not None
            row = rows[0].copy()
            row[_column_of(self._live, edit.column)] = as_floats(np.array(edit.value, np.float64))
            if not np.isfinite(row).all():
                raise ValueError(f"edits: value must be a number that float32 can hold, got {edit.value}")
            self._layer.features.put(node, row)

    def add_edges(self, edges: Sequence[EdgeEdit]) -> None:
        """Add edges, or change their weights; their features are 0."""
        if not edges:
            return
        ends = self._ends(edges)
        weight, attr = None, None
        if self._layer.edge_weight is not None:
            weight = as_floats(np.array([1.0 if edge.weight is None else edge.weight for edge in edges]))
        elif any(edge.weight is not None for edge in edges):
            raise ValueError("edits: weight must be left out, as the graph has no weights")
        if self._layer.edge_attr is not None:
            attr = np.zeros((len(edges), self._layer.edge_attr.shape[1]), np.float32)
        self._apply(Update(set_edges=ends, weight=weight, attr=attr))
        self._note_added(ends)

    def remove_edges(self, edges: Sequence[EndsEdit]) -> None:
        """Remove edges, which must exist."""
        if not edges:
            return
        ends = self._ends(edges)
        for sender, receiver in ends.tolist():
            if sender not in self._layer.list_of(receiver)[0]:
                raise ValueError(f"edits: remove_edges must be edges of the graph, got {sender} and {receiver}")
        self._apply(Update(remove_edges=ends))

    def remove_nodes(self, nodes: Ints) -> None:
        """Remove all edges of nodes; they keep their names."""
        ends = edges_of_nodes(self._layer, self.named(nodes))
        self._layer.remove_edges(ends[:, 0], ends[:, 1])
        self.removed = nodes

    def _ends(self, edges: Sequence[EdgeEdit] | Sequence[EndsEdit]) -> Ints:
        ends = [[self._base.node_of(self._live, ref) for ref in (edge.from_, edge.to)] for edge in edges]
        pairs = np.array(ends, np.int64).reshape(-1, 2)
        self.named(pairs.reshape(-1))
        return pairs

    def _apply(self, update: Update) -> None:
        update.check(self._layer, "edits")
        update.apply(self._layer)
        self.updates.append(update)

    def _note_added(self, ends: Ints) -> None:
        pairs = set(map(tuple, ends.tolist()))
        self.added |= pairs if self._layer.directed else pairs | {(b, a) for a, b in pairs}

    def _filled(self, node: NewNode) -> NewNode:
        layer, changes = self._layer, dict[str, object]()
        if node.features is None and layer.features is not None:
            changes["features"] = [0.0] * layer.features.shape[1]
        if layer.edge_weight is not None or layer.edge_attr is not None:
            width = None if layer.edge_attr is None else layer.edge_attr.shape[1]
            changes["edges"] = [
                edge.model_copy(
                    update={
                        "weight": 1.0 if edge.weight is None and layer.edge_weight is not None else edge.weight,
                        "attributes": [0.0] * width if edge.attributes is None and width else edge.attributes,
                    }
                )
                for edge in node.edges
            ]
        return node.model_copy(update=changes)


def _column_of(live: LiveGraph, column: int | str) -> int:
    """Return the number of a feature column."""
    count = live.graph.num_features
    if isinstance(column, str):
        if live.columns is None or column not in live.columns:
            raise ValueError(f"edits: column must be one of the graph's {count:,}, got {column!r:.80}")
        return live.columns[column]
    if column >= count:
        raise ValueError(f"edits: column must be below {count:,}, got {column}")
    return column


def _class_of(live: LiveGraph, given: int | str | None) -> int | None:
    """Return the number of a class of the graph."""
    if given is None:
        return None
    names, stored = live.stored.class_name, live.stored
    if stored.y is None or stored.y.ndim != 1 or stored.y.dtype.kind not in "iu":
        raise ValueError("edits: labels must be left out, as the labels of the graph are no classes")
    if isinstance(given, str):
        known = [] if names is None else [names[number] for number in range(len(names))]
        if given not in known:
            raise ValueError(f"edits: class must be a name of a class, got {given!r:.80}")
        return known.index(given)
    if given >= stored.num_classes:
        raise ValueError(f"edits: class must be below {stored.num_classes}, got {given}")
    return given
