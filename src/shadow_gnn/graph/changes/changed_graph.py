"""ChangedGraph: a graph with nodes and edges added, replaced and removed, while its arrays stay as they are.

Not for: keeping the changes on disk (log.py), or checking what a caller wants changed (updates.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.graph.changes.added_nodes import AddedFeatures, AddedNames
from shadow_gnn.graph.changes.added_rows import AddedRows
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_EDGE_ARRAYS = ("edge_weight", "edge_attr", "edge_id")
_BLOCK_NODES = 1 << 16


@dataclass(frozen=True, eq=False)
class NewEdges:
    """Edges to set, [K] each; an edge that exists gets the new weight and features."""

    sender: Ints
    receiver: Ints
    weight: Floats | None = None
    """[K]; needed in a weighted graph, and only there."""
    attr: Floats | None = None
    """[K, D]; needed in a graph with edge features, and only there."""


class ChangedGraph(Graph):
    """A stored graph with changes: a Graph for extractors and batches, without CSR arrays of its own.

    Layers stack: changes under=... are visible here, and those made here are not visible below. A layer below must not
    change while one above it is in use. Labels, splits and pairs are left out, because predictions do not read them.
    """

    def __init__(self, stored: Graph, *, under: ChangedGraph | None = None) -> None:
        """Start without changes on a stored graph, or on top of other changes of it."""
        if isinstance(stored, ChangedGraph) or (under is not None and under.stored is not stored):
            raise ValueError("ChangedGraph: stored must be the graph below all changes")
        self._set("stored", stored)
        if under is None:
            plain = _core.GraphView(stored.indptr, stored.indices, stored.edge_weight, not stored.directed)
            self._set("changes", _core.Changes.of(plain))
        else:
            self._set("changes", under.changes.above())
        self._set("view", self.changes.view())
        self._set("directed", stored.directed)
        below = stored if under is None else under
        features = None if under is None else under.features
        self._set("features", None if stored.x is None else AddedFeatures(stored.x, features))
        self._set("x", self.features)
        self._set("y", None)
        for name in _EDGE_ARRAYS:
            array = getattr(below, name)
            self._set(name, None if array is None else AddedRows(array))
        self._set("names", None if below.node_name is None else AddedNames(below.node_name))
        self._set("node_name", self.names)
        for name in ("class_name", "column_names", "import_toml", "path", "check"):
            self._set(name, getattr(stored, name))
        self._set("splits", {})
        self._set("pairs", {})
        self._set("fingerprint_hint", None)
        self._set("_num_added", 0 if under is None else under._num_added)
        self._set("first_node", below.num_nodes)
        self._set("first_position", self.num_positions)

    stored: Graph
    """The graph below all changes."""
    changes: _core.Changes
    """Its changed lists, in the core."""
    view: _core.GraphView
    """The graph with its changes, as the core reads it."""
    features: AddedFeatures | None
    """The same as x."""
    names: AddedNames | None
    """The same as node_name."""
    first_node: int
    """Nodes below this layer."""
    first_position: int
    """Positions of edges below this layer."""
    _num_added: int
    """Entries that have a position after those of the stored indices, removed ones included."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes, added ones included; removed ones keep their ids."""
        return self.changes.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of CSR entries: an undirected edge counts twice."""
        return self.changes.num_edges

    def add_nodes(self, count: int, features: Floats | None = None, names: Sequence[str] | None = None) -> int:
        """Add nodes without edges and return the id of the first; features [count, F] are needed if the graph has them.

        names: of all of them, needed if the graph has names.
        """
        if (features is None) != (self.features is None) or (names is None) != (self.names is None):
            raise ValueError("ChangedGraph: features and names must be given if the graph has them, and only then")
        first = self.num_nodes
        self.changes.add_nodes(count)
        if self.features is not None:
            assert features is not None
            self.features.append(features)
        if self.names is not None:
            assert names is not None
            self.names.append(names)
        return first

    def set_edges(self, edges: NewEdges) -> None:
        """Set edges, in an undirected graph in both directions; of equal ones the last counts."""
        if (edges.weight is None) != (self.edge_weight is None) or (edges.attr is None) != (self.edge_attr is None):
            raise ValueError("ChangedGraph: weight and attr must be given if the graph has them, and only then")
        sender, receiver = self._ends(edges.sender, edges.receiver)
        rows = np.arange(len(sender)) // (1 if self.directed else 2)
        weight = np.ones(len(sender), np.float32) if edges.weight is None else edges.weight[rows]
        position = self.stored.num_edges + self._num_added + np.arange(len(sender))
        self.changes.apply(receiver, sender, weight, position)
        added: dict[str, Any] = {
            "edge_weight": weight,
            "edge_attr": None if edges.attr is None else edges.attr[rows],
            "edge_id": position,
        }
        for name, values in added.items():
            array: Any = getattr(self, name)
            if array is not None:
                array.append(values)
        self._set("_num_added", self._num_added + len(sender))

    def remove_edges(self, sender: Ints, receiver: Ints) -> None:
        """Remove edges, in an undirected graph in both directions; those that do not exist are passed over."""
        sender, receiver = self._ends(sender, receiver)
        gone = np.full(len(sender), -1)
        self.changes.apply(receiver, sender, np.ones(len(sender), np.float32), gone)

    @property
    def num_positions(self) -> int:
        """Positions of edges in use, of the stored entries and of those added, removed ones included."""
        return self.stored.num_edges + self._num_added

    def take_rows(self, layer: ChangedGraph) -> None:
        """Add the nodes of another layer with their features, and the values of its edges, but no edges."""
        rows = None if layer.features is None else layer.features.late.added()
        count = layer.num_nodes - layer.first_node
        names = (
            None if layer.names is None else [layer.names[node] for node in range(layer.first_node, layer.num_nodes)]
        )
        self.add_nodes(count, rows, names)
        for name in _EDGE_ARRAYS:
            own, other = getattr(self, name), getattr(layer, name)
            if own is not None:
                own.append(other.added())
        self._set("_num_added", self._num_added + layer.num_positions - layer.first_position)

    def list_of(self, node: int) -> tuple[NDArray[Any], Floats, Ints]:
        """Return the list of a node: its entries, their weights (none in an unweighted graph) and positions."""
        _, ids, weight, position = _core.lists_of(self.view, node, node + 1)
        return ids, weight, position

    def degrees(self, node_id: Ints) -> Ints:
        """Return the lengths of the lists of some nodes; each list is read."""
        return np.array([len(self.list_of(node)[0]) for node in node_id.tolist()], np.int64)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any], Ints]]:
        """Iterate over all lists: the first node of a block, and for each entry the sender and the receiver's place."""
        for first in range(0, self.num_nodes, _BLOCK_NODES):
            begin, senders, _, _ = _core.lists_of(self.view, first, min(first + _BLOCK_NODES, self.num_nodes))
            yield first, senders, np.repeat(np.arange(len(begin) - 1), np.diff(begin))

    def _ends(self, sender: Ints, receiver: Ints) -> tuple[Ints, Ints]:
        """Return the ends of the stored entries of some edges: both directions, one after the other, if undirected."""
        if self.directed:
            return np.ascontiguousarray(sender, np.int64), np.ascontiguousarray(receiver, np.int64)
        both = np.stack((sender, receiver), axis=1).astype(np.int64)
        return both.reshape(-1), np.ascontiguousarray(both[:, ::-1]).reshape(-1)

    @property
    def fingerprint(self) -> str:
        """A changed graph has none: it would be another after each change."""
        return self._refuse("fingerprint")

    @property
    def lists(self) -> NoReturn:
        """A changed graph has no arrays."""
        self._refuse("lists")

    def __getattr__(self, name: str) -> Any:
        """Name the arrays that a changed graph does not have."""
        if name in ("indptr", "indices"):
            self._refuse(name)
        raise AttributeError(f"ChangedGraph has no attribute {name!r}")

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: changes belong to this process."""
        self._refuse("a pickle")

    def _refuse(self, name: str) -> NoReturn:
        raise TypeError(f"ChangedGraph: {name} must come from a stored graph; compact the changes first")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
