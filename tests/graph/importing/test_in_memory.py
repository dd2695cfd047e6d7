"""Memory: PyG, NetworkX and SciPy objects, compared with what those libraries say."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from shadow_gnn.graph.importing.in_memory import from_edges, from_networkx, from_pyg, from_scipy
from shadow_gnn.graph.record import SparseFeatures


def matrix(graph):
    values = np.ones(graph.num_edges) if graph.edge_weight is None else graph.edge_weight
    return sp.csr_array((values, graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2).toarray()


def test_karate_club_equals_networkx():
    club = nx.karate_club_graph()
    np.testing.assert_array_equal(matrix(from_networkx(club)) > 0, nx.to_numpy_array(club) > 0)
    np.testing.assert_array_equal(matrix(from_networkx(club, weight="weight")), nx.to_numpy_array(club))


def test_directed_networkx_with_names():
    graph = from_networkx(nx.DiGraph([("b", "a"), ("a", "c")]), undirected=False)
    assert [graph.node_name[node] for node in range(3)] == ["b", "a", "c"]
    assert matrix(graph).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_networkx_integers_out_of_order_stay_themselves():
    drawn = nx.Graph()
    drawn.add_nodes_from([2, 0, 1])
    drawn.add_edge(2, 0)
    graph = from_networkx(drawn)
    assert graph.node_name is None
    assert graph.indices.tolist() == [2, 0]


def test_networkx_nodes_equal_as_text_are_refused():
    with pytest.raises(ValueError, match="differ as text"):
        from_networkx(nx.Graph([(1, "1")]))


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_scipy_symmetrized(form):
    values = np.array([[0, 2, 0], [0, 0, 3], [0, 0, 0]], np.float32)
    assert matrix(from_scipy(form(values))).tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
    assert matrix(from_scipy(form(values), undirected=False)).tolist() == values.T.tolist()
    with pytest.raises(ValueError, match="square"):
        from_scipy(form(values[:2]))


def test_pyg_data():
    data = Data(
        x=torch.arange(6.0).reshape(3, 2),
        edge_index=torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]),
        edge_attr=torch.arange(5.0),
        y=torch.tensor([1, 0, 2]),
        train_mask=torch.tensor([True, False, False]),
        val_mask=torch.tensor([False, True, False]),
    )
    graph = from_pyg(data)
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.edge_attr[:, 0].tolist() == [0, 0, 2, 2]
    assert graph.edge_id.tolist() == [0, 0, 2, 2]
    assert graph.y.tolist() == [1, 0, 2]
    assert {name: ids.tolist() for name, ids in graph.splits.items()} == {"train": [0], "valid": [1]}
    np.testing.assert_array_equal(graph.x.rows(np.arange(3)), data.x)


def test_pyg_sparse_features_stay_sparse():
    dense = torch.tensor([[0.0, 2, 0], [1, 0, 3]])
    graph = from_pyg(Data(x=dense.to_sparse(), edge_index=torch.tensor([[0], [1]]), num_nodes=2))
    assert isinstance(graph.x, SparseFeatures)
    np.testing.assert_array_equal(graph.x.rows(np.arange(2)), dense)


@pytest.mark.parametrize(
    ("values", "error", "fault"),
    [
        ({"y": torch.tensor([1, 2])}, ValueError, "from_pyg: y: labels must have one row per node"),
        ({"x": torch.tensor([[1.0], [float("nan")], [0.0]])}, ValueError, "row 1 is not"),
        ({"edge_index": torch.tensor([[0], [3]])}, ValueError, r"dst must be in 0\.\.2, got 3"),
        ({"edge_index": None}, TypeError, "must be a torch_geometric Data"),
    ],
)
def test_pyg_faults_are_the_callers(values, error, fault):
    values = {"edge_index": torch.tensor([[0], [1]]), "num_nodes": 3} | values
    with pytest.raises(error, match=fault):
        from_pyg(Data(**values))


def test_edges_without_num_nodes():
    assert from_edges([0, 4], [1, 0]).num_nodes == 5
    assert from_edges([], []).num_nodes == 0
