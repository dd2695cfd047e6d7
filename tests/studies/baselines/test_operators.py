"""The operators of SIGN against PyG's transform, exact PPR and triangles counted one by one."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.communities import communities

from shadow_gnn.extract.kinds.ppr import DEFAULT_TELEPORT
from shadow_gnn.studies.baselines import operators
from shadow_gnn.studies.baselines.operators import operator_names, ppr_matrix, propagated, triangle_matrix


def dense(graph):
    ones = np.ones(graph.num_edges)
    return csr_array((ones, graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2).toarray()


def test_names_begin_with_the_features_themselves():
    assert operator_names((2, 0, 1)) == [("raw", 0), ("adjacency", 1), ("adjacency", 2), ("triangles", 1)]
    with pytest.raises(ValueError, match=r"^sign: powers must be three numbers of at least 0, got \(1, -1, 0\)$"):
        operator_names((1, -1, 0))


@pytest.mark.filterwarnings("ignore:Sparse ")  # Raised inside torch, by PyG.
def test_adjacency_powers_equal_pygs_transform():
    from torch_geometric.data import Data
    from torch_geometric.transforms import SIGN

    graph = communities()
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    edges = torch.from_numpy(np.stack((graph.indices, row)).astype(np.int64))
    data = SIGN(3)(Data(x=torch.from_numpy(graph.x.matrix), edge_index=edges))
    found = dict(propagated(graph, graph.x, (3, 0, 0)))
    assert found["raw", 0] is graph.x
    for power in (1, 2, 3):
        np.testing.assert_allclose(found["adjacency", power], data[f"x{power}"], rtol=1e-4, atol=1e-5)


def test_ppr_rows_are_near_exact_scores():
    graph = communities(40)
    matrix = dense(graph)
    degree = np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    walk = np.linalg.inv(np.eye(40) - (1 - DEFAULT_TELEPORT) * matrix / degree) * DEFAULT_TELEPORT
    found = ppr_matrix(graph, topk=40).toarray()
    connected = found.sum(axis=1) > 0.5
    assert connected.sum() > 30
    share = found / found.sum(axis=1, keepdims=True)
    exact = walk / walk.sum(axis=1, keepdims=True)
    assert np.abs(share - exact)[connected].max() < 0.03
    assert np.all(np.count_nonzero(ppr_matrix(graph, topk=5).toarray(), axis=1) <= 5)


def test_ppr_in_blocks_is_the_same(monkeypatch):
    graph = communities()
    whole = ppr_matrix(graph)
    monkeypatch.setattr(operators, "_BLOCK_TARGETS", 7)
    assert (ppr_matrix(graph) != whole).nnz == 0


@pytest.mark.parametrize("products", [1 << 25, 50])
def test_triangles_equal_networkx(products, monkeypatch):
    monkeypatch.setattr(operators, "_BLOCK_PRODUCTS", products)
    graph = communities()
    found = triangle_matrix(graph).toarray()
    other = nx.from_numpy_array(dense(graph))
    for v, u in other.edges:
        assert found[v, u] == found[u, v] == len(list(nx.common_neighbors(other, v, u)))
    assert np.all(found[dense(graph) == 0] == 0)
    # Every triangle of a node is at two of its edges.
    expected = [2 * count for _, count in sorted(nx.triangles(other).items())]
    assert found.sum(axis=1).tolist() == expected


def test_powers_of_each_operator_follow_each_other():
    graph = communities()
    found = dict(propagated(graph, graph.x, (1, 2, 2)))
    assert list(found) == operator_names((1, 2, 2))
    ppr = ppr_matrix(graph).toarray()
    ppr /= ppr.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found["ppr", 2], ppr @ (ppr @ graph.x.matrix), rtol=1e-4, atol=1e-5)
    triangles = triangle_matrix(graph).toarray()
    root = np.array([1 / np.sqrt(total) if total else 0 for total in triangles.sum(axis=1)])
    triangles = root[:, None] * triangles * root[None, :]
    np.testing.assert_allclose(found["triangles", 2], triangles @ (triangles @ graph.x.matrix), rtol=1e-4, atol=1e-5)


def test_a_graph_without_edges_has_no_triangles():
    graph = communities()
    empty = replace(graph, indptr=np.zeros_like(graph.indptr), indices=graph.indices[:0])
    assert triangle_matrix(empty).nnz == 0
    found = dict(propagated(empty, graph.x, (1, 1, 1)))
    assert not found["triangles", 1].any()
    np.testing.assert_allclose(found["ppr", 1], graph.x.matrix, rtol=1e-6)
