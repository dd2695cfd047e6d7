"""In memory: graphs from Python objects: arrays, SciPy matrices, PyG Data or NetworkX graphs.

Not for: files (formats/).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.build import build_graph
from shadow_gnn.graph.importing.formats.npz import Matrix, graph_of_matrix
from shadow_gnn.graph.importing.nodes import checked_splits, dense_features, labels, sparse_features
from shadow_gnn.graph.importing.options import ImportOptions, Merge
from shadow_gnn.graph.record import Array, Features, Graph, NodeNames

MASKS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}


@contextmanager
def _caller_fault() -> Iterator[None]:
    """Turn a fault of a source into one of the caller's argument."""
    try:
        yield
    except SourceError as error:
        raise ValueError(str(error)) from error


def from_edges(
    src: Any,
    dst: Any,
    num_nodes: int | None = None,
    *,
    weight: Any = None,
    edge_attr: Any = None,
    undirected: bool = True,
    merge: Merge = "first",
) -> Graph:
    """Make a graph from edges src -> dst; num_nodes defaults to the highest id plus one.

    >>> sg.from_edges([0, 1, 2], [1, 2, 3])
    Graph(nodes: 4; edges: 3 undirected; features: none; labels: none)
    >>> sg.from_edges([0, 1], [1, 2], weight=[0.5, 2.0], undirected=False).directed
    True
    """
    src, dst = np.asarray(src), np.asarray(dst)
    for name, ids in (("src", src), ("dst", dst)):
        if ids.dtype.kind not in "iu" and ids.size:
            raise ValueError(f"from_edges: {name} must be integer node ids, got {ids.dtype}; from_tables takes names")
    if num_nodes is None:
        num_nodes = 1 + max((int(ids.max()) for ids in (src, dst) if ids.size), default=-1)
    graph, _ = build_graph(src, dst, num_nodes, weight=weight, edge_attr=edge_attr, undirected=undirected, merge=merge)
    return graph


def from_scipy(matrix: Any, *, undirected: bool = True, merge: Merge = "first") -> Graph:
    """Make a graph from a square sparse matrix: entry (i, j) is an edge i -> j; values other than 1 are weights.

    >>> from scipy.sparse import csr_array
    >>> sg.from_scipy(csr_array(np.array([[0, 1], [1, 0]]))).num_edges
    2
    """
    coo = matrix.tocoo()
    found = Matrix(coo.row, coo.col, coo.data, (coo.shape[0], coo.shape[1]))
    with _caller_fault():
        graph, _ = graph_of_matrix(found, "from_scipy", ImportOptions(directed=not undirected, merge=merge))
    return graph


def from_networkx(graph: Any, *, weight: str | None = None, undirected: bool = True) -> Graph:
    """Make a graph from a NetworkX graph; nodes that are not 0..N-1 keep their text as name.

    weight: the edge attribute used as weight; 1 for edges without it.

    >>> import networkx as nx
    >>> sg.from_networkx(nx.karate_club_graph()).num_nodes
    34
    """
    nodes = list(graph.nodes)
    if all(type(node) is int for node in nodes) and sorted(nodes) == list(range(len(nodes))):
        nodes, names = list(range(len(nodes))), None
    else:
        names = _names([str(node) for node in nodes])
    number = {node: position for position, node in enumerate(nodes)}
    edges = list(graph.edges(data=weight, default=1.0)) if weight else list(graph.edges())
    src = np.fromiter((number[edge[0]] for edge in edges), np.int64, len(edges))
    dst = np.fromiter((number[edge[1]] for edge in edges), np.int64, len(edges))
    values = np.fromiter((edge[2] for edge in edges), np.float32, len(edges)) if weight else None
    built, _ = build_graph(src, dst, len(nodes), weight=values, undirected=undirected)
    return replace(built, node_name=names)


def from_pyg(data: Any, *, undirected: bool = True) -> Graph:
    """Make a graph from a PyG Data object: edge_index, edge_weight, edge_attr, x, y and the three masks.

    >>> from torch_geometric.data import Data
    >>> sg.from_pyg(Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]])))
    Graph(nodes: 3; edges: 2 undirected; features: 3 float32; labels: none)
    """
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None or not hasattr(data, "num_nodes"):
        raise TypeError(f"from_pyg: data must be a torch_geometric Data with edge_index, got {type(data).__name__}")
    edges = _numpy(edge_index)
    num_nodes = int(data.num_nodes)
    weight, attr = (
        None if (value := getattr(data, name, None)) is None else _numpy(value) for name in ("edge_weight", "edge_attr")
    )
    graph, _ = build_graph(
        edges[0], edges[1], num_nodes, weight=weight, edge_attr=attr, undirected=undirected, keep_edge_id=True
    )
    masks = {name: _numpy(mask) for name, key in MASKS.items() if (mask := getattr(data, key, None)) is not None}
    y = getattr(data, "y", None)
    with _caller_fault():
        return replace(
            graph,
            x=_features(getattr(data, "x", None), num_nodes),
            y=None if y is None else labels(_numpy(y), num_nodes, "from_pyg: y"),
            splits=checked_splits(masks, num_nodes, "from_pyg"),
        )


def _features(x: Any, num_nodes: int) -> Features | None:
    if x is None:
        return None
    import torch

    if x.layout is torch.strided:
        return dense_features(_numpy(x), num_nodes, "from_pyg: x")
    if x.layout is torch.sparse_csr:
        indptr, indices, data = (_numpy(part) for part in (x.crow_indices(), x.col_indices(), x.values()))
    else:
        # Coalesced entries are sorted by row and column, so only the row ends are missing.
        coo = x.to_sparse_coo().coalesce()
        (row, indices), data = _numpy(coo.indices()), _numpy(coo.values())
        indptr = np.searchsorted(row, np.arange(x.shape[0] + 1))
    return sparse_features(indptr, indices, data, (x.shape[0], x.shape[1]), num_nodes, "from_pyg: x")


def _numpy(tensor: Any) -> Array:
    array: Array = tensor.detach().cpu().numpy()
    return array


def _names(texts: list[str]) -> NodeNames:
    if len(set(texts)) != len(texts):
        raise ValueError("from_networkx: nodes must differ as text, two of them do not")
    return NodeNames.of(texts)
