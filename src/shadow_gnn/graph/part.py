"""Part: the graph between some nodes, numbered from 0.

Not for: scopes of targets (extract), or the same nodes with fewer edges (extract/training_view.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.graph.names import NodeNames
from shadow_gnn.graph.node_ids import node_ids
from shadow_gnn.graph.record import DenseFeatures, Features, Graph, SparseFeatures, id_range

Ints = NDArray[np.int64]


def chosen_nodes(graph: Graph, nodes: ArrayLike | range, owner: str) -> Ints:
    """Return nodes, ids or names, as ids of the graph; a ValueError names the first wrong one. [K]"""
    found = np.atleast_1d(node_ids(graph, nodes, owner))
    if found.size == 0:
        return np.zeros(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"{owner}: nodes must be [K] ids or names, got {found.dtype} {list(found.shape)}")
    bad = (found < 0) | (found >= graph.num_nodes)
    if bad.any():
        raise ValueError(f"{owner}: nodes must be {id_range(graph.num_nodes)}, got {found[int(np.argmax(bad))]}")
    return found.astype(np.int64)


def subgraph(graph: Graph, nodes: ArrayLike | range) -> Graph:
    """Return the graph in memory between some nodes, in their order, with all their arrays, splits and pairs."""
    chosen = chosen_nodes(graph, nodes, "subgraph")
    by_id = np.argsort(chosen, kind="stable")
    ids = chosen[by_id]
    if (np.diff(ids) == 0).any():
        raise ValueError(f"subgraph: nodes must differ, {ids[:-1][np.diff(ids) == 0][0]} is given twice")

    def places(given: NDArray[Any]) -> Ints:
        """Return the new number of each id, -1 for nodes outside."""
        if len(ids) == 0:
            return np.full(given.shape, -1)
        at = np.minimum(np.searchsorted(ids, given), len(ids) - 1)
        return np.where(ids[at] == given, by_id[at], -1)

    indptr, indices = graph.lists
    count = np.asarray(indptr[chosen + 1] - indptr[chosen])
    position = np.repeat(indptr[chosen] - np.cumsum(count) + count, count) + np.arange(count.sum())
    sender, receiver = places(np.asarray(indices[position])), np.repeat(np.arange(len(chosen)), count)
    inside = sender >= 0
    sender, receiver, position = sender[inside], receiver[inside], position[inside]
    order = np.lexsort((sender, receiver))
    position = position[order]
    new_indptr = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(np.bincount(receiver, minlength=len(chosen)), out=new_indptr[1:])
    edges: dict[str, Any] = {
        name: None if (array := getattr(graph, name)) is None else np.asarray(array[position])
        for name in ("edge_weight", "edge_attr", "edge_id")
    }
    pairs = {name: places(np.asarray(given)) for name, given in graph.pairs.items()}
    splits = {name: places(np.asarray(given)) for name, given in graph.splits.items()}
    return Graph(
        new_indptr,
        sender[order].astype(graph.indices.dtype),
        graph.directed,
        x=_rows(graph.x, chosen),
        y=None if graph.y is None else np.asarray(graph.y[chosen]),
        splits={name: given[given >= 0] for name, given in splits.items()},
        pairs={name: given[(given >= 0).all(axis=1)] for name, given in pairs.items()},
        node_name=None
        if graph.node_name is None
        else NodeNames.of([graph.node_name[node] for node in chosen.tolist()]),
        class_name=graph.class_name,
        column_names=graph.column_names,
        import_toml=graph.import_toml,
        **edges,
    )


def _names(names: NodeNames | None, nodes: Ints) -> NodeNames | None:
    return None if names is None else NodeNames.of([names[node] for node in nodes.tolist()])


def _rows(x: Features | None, nodes: Ints) -> Features | None:
    """Return the features of some nodes in their own storage."""
    if not isinstance(x, SparseFeatures):
        return None if x is None else DenseFeatures(np.asarray(x.matrix[nodes]), x.scale)
    indptr, indices = x.lists
    count = np.asarray(indptr[nodes + 1] - indptr[nodes])
    position = np.repeat(indptr[nodes] - np.cumsum(count) + count, count) + np.arange(count.sum())
    new_indptr = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
    return SparseFeatures(new_indptr, np.asarray(indices[position]), np.asarray(x.data[position]), x.num_columns)
