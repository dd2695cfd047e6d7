"""Update: one change of a graph as a record that can be written down, read back and applied again.

Not for: what a caller asks for by name, or in another form (serve/requests.py); where records are kept (log.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.changes.changed_graph import ChangedGraph, NewEdges
from shadow_gnn.graph.record import Graph, id_range

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

MAX_KEY = 200
"""Characters of an idempotency key."""


def no_pairs() -> Ints:
    """Return an empty list of edges."""
    return np.zeros((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class Update:
    """Nodes to add, then edges to set, then edges to remove, then nodes to remove: all of them or none."""

    key: str | None = None
    """Two updates of the same key are the same one; None for an update that is always new."""
    digest: str = ""
    """Checksum of the request behind the update: another request must not have the same key."""
    num_nodes: int = 0
    """Nodes to add; their ids follow the last one of the graph."""
    features: Floats | None = None
    """[num_nodes, F], if the graph has features."""
    names: tuple[str, ...] | None = None
    """Names of the added nodes, if the graph has names."""
    set_edges: Ints = field(default_factory=no_pairs)
    """[K, 2] (sender, receiver); an edge that exists gets the new weight and features."""
    weight: Floats | None = None
    """[K], if the graph is weighted."""
    attr: Floats | None = None
    """[K, D], if the graph has edge features."""
    remove_edges: Ints = field(default_factory=no_pairs)
    """[R, 2] (sender, receiver); edges that do not exist are passed over."""
    remove_nodes: tuple[int, ...] = ()
    """Nodes that lose their edges, which remove_edges must list, and their names; they keep their ids."""

    def check(self, graph: Graph, owner: str = "update", *, extra_nodes: int = 0) -> None:
        """Raise a ValueError unless the update fits the graph; extra_nodes: added by updates before this one."""
        if self.key is not None and not 1 <= len(self.key) <= MAX_KEY:
            raise ValueError(f"{owner}: key must have from 1 to {MAX_KEY} characters, got {len(self.key)}")
        self.check_values(graph, owner, extra_nodes=extra_nodes)
        num_nodes = graph.num_nodes + extra_nodes + self.num_nodes
        _check_ends(owner, "edges", self.set_edges, num_nodes)
        _check_ends(owner, "edges to remove", self.remove_edges, num_nodes)
        same = np.flatnonzero(self.set_edges[:, 0] == self.set_edges[:, 1])
        if len(same):  # A stored graph may have such edges, and they can be removed.
            node = int(self.set_edges[same[0], 0])
            raise ValueError(f"{owner}: edges must join two different nodes, got {node} with itself")

    def check_values(self, graph: Graph, owner: str = "update", *, extra_nodes: int = 0) -> None:
        """Raise a ValueError unless everything but the ends of edges fits the graph; the core checks those, too."""
        if not any((self.num_nodes, len(self.set_edges), len(self.remove_edges), self.remove_nodes)):
            raise ValueError(f"{owner}: must add, change or remove something, got nothing")
        _check_nodes(self, graph, owner)
        num_nodes = graph.num_nodes + extra_nodes + self.num_nodes
        if num_nodes > _most_nodes(graph):
            raise ValueError(f"{owner}: nodes must be at most {_most_nodes(graph)} in all, got {num_nodes}")
        if len(self.set_edges):
            _check_values(self, graph, owner)
        for node in self.remove_nodes:
            if not 0 <= node < num_nodes:
                raise ValueError(f"{owner}: nodes to remove must be {id_range(num_nodes)}, got {node}")

    def apply(self, graph: ChangedGraph) -> None:
        """Make the changes; the update must have been checked."""
        if self.num_nodes:
            graph.add_nodes(self.num_nodes, self.features, self.names)
        if len(self.set_edges):
            ends = self.set_edges
            graph.set_edges(NewEdges(ends[:, 0], ends[:, 1], self.weight, self.attr))
        if len(self.remove_edges):
            graph.remove_edges(self.remove_edges[:, 0], self.remove_edges[:, 1])
        if graph.names is not None:
            for node in self.remove_nodes:
                graph.names.forget(node)

    @property
    def only_sets_edges(self) -> bool:
        """Whether the update does nothing but set edges."""
        return not (self.num_nodes or len(self.remove_edges) or self.remove_nodes)

    def to_bytes(self) -> bytes:
        """Write the update as JSON: what is left out has its default."""
        content: dict[str, Any] = {"key": self.key, "digest": self.digest}
        content |= {"num_nodes": self.num_nodes, "names": self.names}
        for name in ("features", "weight", "attr"):
            array = getattr(self, name)
            content[name] = None if array is None else array.tolist()
        for name in ("set_edges", "remove_edges"):
            content[name] = getattr(self, name).tolist()
        content["remove_nodes"] = list(self.remove_nodes)
        return json.dumps({name: value for name, value in content.items() if value}, allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Update:
        """Read an update that to_bytes has written."""
        try:
            content = json.loads(data)
            names = content.get("names")
            return cls(
                key=content.get("key"),
                digest=str(content.get("digest", "")),
                num_nodes=int(content.get("num_nodes", 0)),
                features=_floats(content.get("features")),
                names=None if names is None else tuple(map(str, names)),
                set_edges=_pairs(content.get("set_edges", [])),
                weight=_floats(content.get("weight")),
                attr=_floats(content.get("attr")),
                remove_edges=_pairs(content.get("remove_edges", [])),
                remove_nodes=tuple(map(int, content.get("remove_nodes", ()))),
            )
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FolderError(f"a record is no update: {error}") from error


def in_one_go(updates: Sequence[Update]) -> Iterator[Update]:
    """Iterate over fewer updates that change a graph in the same way: neighbors that only set edges are joined.

    Most of the time of a small update is spent around its edges, and not with them. The joined ones have no key.
    """
    for only_edges, group in groupby(updates, lambda update: update.only_sets_edges):
        some = list(group)
        if not only_edges or len(some) == 1:
            yield from some
            continue
        yield Update(
            set_edges=np.concatenate([update.set_edges for update in some]),
            weight=_concatenated([update.weight for update in some]),
            attr=_concatenated([update.attr for update in some]),
        )


def _concatenated(arrays: Sequence[Floats | None]) -> Floats | None:
    given = [array for array in arrays if array is not None]
    return np.concatenate(given) if given else None


def _floats(rows: Any) -> Floats | None:
    return None if rows is None else np.array(rows, np.float32)


def _pairs(rows: Any) -> Ints:
    return np.array(rows, np.int64).reshape(-1, 2)


def _most_nodes(graph: Graph) -> int:
    stored = graph.stored if isinstance(graph, ChangedGraph) else graph
    return 2**31 - 1 if stored.indices.dtype == np.int32 else 2**62


def _check_nodes(update: Update, graph: Graph, owner: str) -> None:
    count = update.num_nodes
    if count == 0:
        return
    columns = None if graph.x is None else graph.x.shape[1]
    if (update.features is None) != (columns is None):
        wanted = "given, as the graph has features" if columns is not None else "left out, as the graph has none"
        raise ValueError(f"{owner}: features of new nodes must be {wanted}")
    if update.features is not None:
        if update.features.shape != (count, columns):
            raise ValueError(
                f"{owner}: features must have {columns} columns for each of {count} nodes, "
                f"got {list(update.features.shape)}"
            )
        if not np.isfinite(update.features).all():
            raise ValueError(f"{owner}: features must be finite numbers that float32 can hold")
    if (update.names is None) != (graph.node_name is None):
        wanted = "given, as the graph has names" if graph.node_name is not None else "left out, as the graph has none"
        raise ValueError(f"{owner}: names of new nodes must be {wanted}")
    if update.names is not None:
        if len(update.names) != count or len(set(update.names)) != count:
            raise ValueError(f"{owner}: names must be {count} different ones, one for each node")
        if not all(update.names):
            raise ValueError(f"{owner}: names must not be empty")


def _check_ends(owner: str, name: str, pairs: Ints, num_nodes: int) -> None:
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < num_nodes:
        wrong = pairs.min() if pairs.min() < 0 else pairs.max()
        raise ValueError(f"{owner}: {name} must be of {id_range(num_nodes)}, got {int(wrong)}")


def _check_values(update: Update, graph: Graph, owner: str) -> None:
    count, weight, attr = len(update.set_edges), update.weight, update.attr
    if (weight is None) != (graph.edge_weight is None):
        wanted = "given, as the graph is weighted" if graph.edge_weight is not None else "left out: the graph has none"
        raise ValueError(f"{owner}: weights of edges must be {wanted}")
    if weight is not None and not (weight.shape == (count,) and (weight > 0).all() and np.isfinite(weight).all()):
        raise ValueError(f"{owner}: weights must be positive and finite numbers that float32 can hold, one for an edge")
    if (attr is None) != (graph.edge_attr is None):
        wanted = "given, as the graph has them" if graph.edge_attr is not None else "left out: the graph has none"
        raise ValueError(f"{owner}: features of edges must be {wanted}")
    if attr is not None and graph.edge_attr is not None:
        columns = graph.edge_attr.shape[1]
        if attr.shape != (count, columns) or not np.isfinite(attr).all():
            raise ValueError(f"{owner}: features of an edge must be {columns} finite numbers that float32 can hold")


def edges_of_nodes(graph: ChangedGraph, nodes: Ints) -> Ints:
    """Return all edges that begin or end at some nodes, (sender, receiver). [R, 2]

    In a directed graph this reads all lists, because a list holds the senders alone.
    """
    found = [no_pairs()]
    for node in nodes.tolist():
        senders = graph.list_of(node)[0].astype(np.int64)
        found.append(np.stack((senders, np.full(len(senders), node)), axis=1))
    if graph.directed:
        for first, senders, receivers in graph.blocks():
            here = np.isin(senders, nodes)
            found.append(np.stack((senders[here].astype(np.int64), first + receivers[here]), axis=1))
    return np.unique(np.concatenate(found), axis=0)
