"""Graph's small questions: neighbors, degrees, the graph between some nodes, and PyG's Data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn import DenseFeatures, Graph, NodeNames, SparseFeatures, from_edges, from_pyg


def full() -> Graph:
    """Return the path a - b - c - d with every array."""
    graph = from_edges(np.array([0, 1, 2]), np.array([1, 2, 3]))
    return replace(
        graph,
        x=DenseFeatures(np.arange(8, dtype=np.float32).reshape(4, 2)),
        y=np.array([0, 2, -1, 1]),
        edge_weight=np.array([1, 1, 2, 2, 3, 3], np.float32),
        edge_attr=np.arange(6, dtype=np.float32)[:, None],
        splits={"train": np.array([0, 3]), "valid": np.array([1])},
        pairs={"valid_pos": np.array([[0, 1], [2, 3]])},
        node_name=NodeNames.of(["a", "b", "c", "d"]),
        class_name=NodeNames.of(["red", "green", "blue"]),
        column_names=("p", "q"),
    )


def test_counts_neighbors_and_degrees() -> None:
    graph = full()
    assert (graph.num_features, graph.num_classes) == (2, 3)
    assert graph.degree().tolist() == [1, 2, 2, 1]
    assert graph.degree(["b", "a"]).tolist() == [2, 1]
    assert graph.degree(2).tolist() == [2]
    assert graph.neighbors("b").tolist() == graph.neighbors(1).tolist() == [0, 2]
    bare = from_edges(np.array([0]), np.array([1]))
    assert (bare.num_features, bare.num_classes) == (0, 0)
    assert replace(bare, y=np.array([0, 4])).num_classes == 5
    assert replace(bare, y=np.zeros((2, 3), np.uint8)).num_classes == 3
    assert replace(bare, y=np.array([0.5, 1], np.float32)).num_classes == 1


def test_subgraph_keeps_every_array_in_the_order_of_the_nodes() -> None:
    part = full().subgraph(["d", "c", "a"])
    assert part.indptr.tolist() == [0, 1, 2, 2]
    assert part.indices.tolist() == [1, 0]
    assert part.edge_weight is not None
    assert part.edge_weight.tolist() == [3, 3]
    assert part.edge_attr is not None
    assert part.edge_attr[:, 0].tolist() == [5, 4]
    assert part.x is not None
    assert part.x.rows(np.arange(3)).tolist() == [[6, 7], [4, 5], [0, 1]]
    assert part.y is not None
    assert part.y.tolist() == [1, -1, 0]
    assert {name: ids.tolist() for name, ids in part.splits.items()} == {"train": [2, 0], "valid": []}
    assert part.pairs["valid_pos"].tolist() == [[1, 0]]
    assert part.node_name is not None
    assert [part.node_name[node] for node in range(3)] == ["d", "c", "a"]
    assert part.column_names == ("p", "q")
    assert part.num_classes == 3


def test_subgraph_of_sparse_features() -> None:
    x = SparseFeatures(np.array([0, 2, 2, 3, 3]), np.array([0, 3, 1], np.int32), np.array([1, 2, 3], np.float32), 4)
    part = replace(full(), x=x, column_names=None).subgraph([2, 0])
    assert isinstance(part.x, SparseFeatures)
    assert part.x.rows(np.arange(2)).tolist() == [[0, 3, 0, 0], [1, 0, 0, 2]]


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))), st.permutations(range(8)), st.integers(0, 8))
def test_subgraph_has_the_edges_of_a_dense_matrix(edges: set[tuple[int, int]], order: list[int], count: int) -> None:
    dense = np.zeros((8, 8), bool)
    for sender, receiver in edges:
        dense[receiver, sender] = sender != receiver
    receiver, sender = np.nonzero(dense)
    graph = from_edges(sender, receiver, num_nodes=8, undirected=False)
    part = graph.subgraph(order[:count])
    found = np.zeros((count, count), bool)
    found[np.repeat(np.arange(count), part.degree()), part.indices] = True
    assert (found == dense[np.ix_(order[:count], order[:count])]).all()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0, 4], "subgraph: nodes must be node ids from 0 to 3, got 4"),
        ([1, 1], "subgraph: nodes must differ, 1 is given twice"),
        (["a", "e"], "subgraph: targets must name a node of the graph, got 'e'"),
        ([0.5], r"subgraph: nodes must be \[K\] ids or names, got float64"),
    ],
)
def test_wrong_nodes_are_one_line(nodes: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        full().subgraph(nodes)


def test_pyg_data_and_back() -> None:
    graph = replace(full(), edge_attr=np.array([[0], [0], [1], [1], [2], [2]], np.float32))
    data = graph.to_pyg()
    assert data.num_nodes == 4
    assert data.edge_index.tolist() == [[1, 0, 2, 1, 3, 2], [0, 1, 1, 2, 2, 3]]
    assert data.train_mask.tolist() == [True, False, False, True]
    assert data.val_mask.tolist() == [False, True, False, False]
    assert data.node_name == ["a", "b", "c", "d"]
    back = from_pyg(data)
    for name in ("indptr", "indices", "edge_weight", "edge_attr", "y"):
        assert np.array_equal(getattr(back, name), getattr(graph, name)), name
    assert {name: ids.tolist() for name, ids in back.splits.items()} == {"train": [0, 3], "valid": [1]}
    data.x[:] = 0
    assert graph.x is not None
    assert graph.x.rows(np.arange(4)).sum() == 28


def test_names_of_the_package_complete() -> None:
    import rlcompleter

    import shadow_gnn

    found = rlcompleter.Completer({"shadow_gnn": shadow_gnn}).attr_matches("shadow_gnn.open_")
    assert {text.rstrip("(") for text in found} >= {"shadow_gnn.open_graph", "shadow_gnn.open_dataset"}
