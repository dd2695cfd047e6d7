"""Subgraphs: the scopes of many targets as ragged arrays.

Not for: features or labels; a Batch adds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.base.short_repr import as_html, as_line


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """One scope per row of `targets`; within a scope, nodes are ordered by hop, then by rank.

    Letters: B scopes, T targets in each, N nodes and E edges of all scopes together.

    >>> scopes
    Subgraphs(scopes: 2; nodes: 12; edges: 36)
    >>> scopes[1].targets.tolist(), scopes[1].hop.tolist()
    ([[7]], [0, 1, 1, 1, 1, 2])
    >>> len(scopes[1].indptr), len(scopes[1].indices)
    (7, 18)
    """

    targets: NDArray[np.int64]
    """[B, T] node ids; T is 1 for nodes, 2 for pairs."""
    ptr: NDArray[np.int64]
    """[B + 1], scope b has the nodes ptr[b] to ptr[b + 1]; its (distinct) targets come first."""
    node_id: NDArray[np.int64]
    """[N], ids in the whole graph."""
    hop: NDArray[np.int32]
    """[N], distance to the nearest target inside the scope, against message direction."""
    score: NDArray[np.float32]
    """[N], importance by the extractor's metric, larger is better."""
    indptr: NDArray[np.int64]
    """[N + 1], where each node's row begins in indices."""
    indices: NDArray[np.int32]
    """[E], senders of messages to each node as positions within their scope, ascending in each row."""
    edge_pos: NDArray[np.int64] | None
    """[E], position of each edge in the graph's indices; None if not requested."""
    nodes_touched: NDArray[np.int64]
    """[B], nodes visited to choose the scope."""
    edges_touched: NDArray[np.int64]
    """[B], edges visited to choose the scope."""

    def __repr__(self) -> str:
        return as_line("Subgraphs", self._facts())

    def _repr_html_(self) -> str:
        return as_html("Subgraphs", self._facts())

    def _facts(self) -> dict[str, str]:
        """Return sizes; a single scope also names its targets and its largest hop."""
        facts = {"scopes": f"{len(self):,}", "nodes": f"{len(self.node_id):,}", "edges": f"{len(self.indices):,}"}
        if len(self) == 1:
            facts = {"target": " and ".join(map(str, self.targets[0].tolist())), **facts}
            del facts["scopes"]
            facts["hops"] = f"{int(self.hop.max(initial=0))}"
        elif self.targets.shape[1] == 2:
            facts["scopes"] += " of pairs"
        return facts

    def __len__(self) -> int:
        """Return the number of scopes B."""
        return len(self.targets)

    def __getitem__(self, scope: int) -> Subgraphs:
        """Return one scope as a Subgraphs of length 1."""
        if not -len(self) <= scope < len(self):
            raise IndexError(f"Subgraphs: scope must be from {-len(self)} to {len(self) - 1}, got {scope}")
        return self.part(scope % len(self), scope % len(self) + 1)

    def __iter__(self) -> Iterator[Subgraphs]:
        """Iterate over the scopes, each as a Subgraphs of length 1."""
        return (self[scope] for scope in range(len(self)))

    def part(self, start: int, stop: int) -> Subgraphs:
        """Return the scopes start to stop as views, without a copy of nodes and edges."""
        nodes = slice(int(self.ptr[start]), int(self.ptr[stop]))
        edges = slice(int(self.indptr[nodes.start]), int(self.indptr[nodes.stop]))
        return Subgraphs(
            targets=self.targets[start:stop],
            ptr=self.ptr[start : stop + 1] - self.ptr[start],
            node_id=self.node_id[nodes],
            hop=self.hop[nodes],
            score=self.score[nodes],
            indptr=self.indptr[nodes.start : nodes.stop + 1] - edges.start,
            indices=self.indices[edges],
            edge_pos=None if self.edge_pos is None else self.edge_pos[edges],
            nodes_touched=self.nodes_touched[start:stop],
            edges_touched=self.edges_touched[start:stop],
        )

    @property
    def num_bytes(self) -> int:
        """Memory of all arrays together."""
        arrays = (getattr(self, field.name) for field in fields(self))
        return sum(array.nbytes for array in arrays if array is not None)


def select(subgraphs: Subgraphs, scopes: NDArray[np.int64]) -> Subgraphs:
    """Return the scopes at the given positions, in that order, as copies."""
    num_nodes = subgraphs.ptr[scopes + 1] - subgraphs.ptr[scopes]
    first_node = subgraphs.ptr[scopes]
    first_edge = subgraphs.indptr[first_node]
    num_edges = subgraphs.indptr[first_node + num_nodes] - first_edge
    # Row lengths of all chosen nodes, from which the new indptr follows.
    begin = stretches(subgraphs.indptr, first_node, num_nodes)
    end = stretches(subgraphs.indptr, first_node + 1, num_nodes)
    return Subgraphs(
        targets=subgraphs.targets[scopes],
        ptr=offsets(num_nodes),
        node_id=stretches(subgraphs.node_id, first_node, num_nodes),
        hop=stretches(subgraphs.hop, first_node, num_nodes),
        score=stretches(subgraphs.score, first_node, num_nodes),
        indptr=offsets(end - begin),
        indices=stretches(subgraphs.indices, first_edge, num_edges),
        edge_pos=None if subgraphs.edge_pos is None else stretches(subgraphs.edge_pos, first_edge, num_edges),
        nodes_touched=subgraphs.nodes_touched[scopes],
        edges_touched=subgraphs.edges_touched[scopes],
    )


def offsets(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the start of each of consecutive ranges of these sizes, and the end of the last one."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def stretches(array: NDArray[Any], start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[Any]:
    """Join array[start[i] : start[i] + length[i]] for all i."""
    size = array.dtype.itemsize
    joined = _core.gather_ragged(array.view(np.uint8), start * size, length * size)
    return np.asarray(joined).view(array.dtype)


def concat(parts: Sequence[Subgraphs]) -> Subgraphs:
    """Join several Subgraphs in the given order; all or none of them hold edge positions."""
    if not parts:
        raise ValueError("concat: parts must not be empty")
    if len(parts) == 1:
        return parts[0]

    def join(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    def chain(name: str) -> NDArray[np.int64]:
        """Join offset arrays, each continued where the one before ended."""
        return offsets(np.concatenate([np.diff(getattr(part, name)) for part in parts]))

    has_positions = parts[0].edge_pos is not None
    return Subgraphs(
        targets=join("targets"),
        ptr=chain("ptr"),
        node_id=join("node_id"),
        hop=join("hop"),
        score=join("score"),
        indptr=chain("indptr"),
        indices=join("indices"),
        edge_pos=join("edge_pos") if has_positions else None,
        nodes_touched=join("nodes_touched"),
        edges_touched=join("edges_touched"),
    )
