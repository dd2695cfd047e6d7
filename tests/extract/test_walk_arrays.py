"""Reversed lists and sums of weights against SciPy and NumPy."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array
from tests.core.test_hostile import damaged
from tests.extract.graphs import graphs, some_graphs

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import FireExtractor, RwrExtractor, walk_arrays
from shadow_gnn.extract.walk_arrays import reversed_lists, weight_sums
from shadow_gnn.graph.record import Graph


def view_of(graph: Graph) -> _core.GraphView:
    return _core.GraphView(graph.indptr, graph.indices, graph.edge_weight, not graph.directed)


@given(graphs())
def test_reversed_lists_are_the_transpose(graph: Graph) -> None:
    indptr, indices = _core.reverse_lists(view_of(graph))
    size = (graph.num_nodes, graph.num_nodes)
    transposed = csr_array((np.ones(graph.num_edges, np.int8), graph.indices, graph.indptr), shape=size).tocsc()
    assert indptr.tolist() == transposed.indptr.tolist()
    assert indices.tolist() == transposed.indices.tolist()
    assert indices.dtype == graph.indices.dtype


@pytest.mark.parametrize("num_edges", [0, 1, 63, 64, 65, 128, 1000])
def test_sums_are_of_every_64th_weight(num_edges: int) -> None:
    weight = np.random.default_rng(0).random(num_edges, dtype=np.float32)
    view = _core.GraphView(np.array([0, num_edges]), np.zeros(num_edges, np.int32), weight, False)
    expected = np.concatenate(([0], np.cumsum(weight, dtype=np.float64)))[::64]
    np.testing.assert_allclose(_core.weight_sums(view), expected, rtol=1e-12)


def test_both_are_made_once_and_go_with_the_graph() -> None:
    graph = some_graphs()["weighted, directed"]
    assert reversed_lists(graph) is reversed_lists(graph)
    assert weight_sums(graph) is weight_sums(graph)
    held = len(walk_arrays._REVERSED)
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None
    assert len(walk_arrays._REVERSED) < held


def test_neither_is_made_where_there_is_no_need() -> None:
    graph = some_graphs()["hubs"]
    assert reversed_lists(graph) is None
    assert weight_sums(graph) is None


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_bad_weight_is_named(weight: float) -> None:
    graph = some_graphs()["weighted"]
    assert graph.edge_weight is not None
    weights = graph.edge_weight.copy()
    weights[70] = weight
    bad = replace(graph, edge_weight=weights, path=Path("folder"))
    with pytest.raises(FolderError, match=r"folder: edge_weight must be finite and not negative, got .* in row 70"):
        RwrExtractor()(bad, [0])


def test_a_bad_list_is_named() -> None:
    graph = damaged([0, 1, 2], [1, 7], directed=True, wide=False, weights=None)
    with pytest.raises(FolderError, match="damaged: indices holds 7, not a node of a graph of 2"):
        FireExtractor(backward=0.5)(graph, [0])


def test_lists_of_another_graph_are_refused() -> None:
    graph, other = some_graphs()["directed"], some_graphs()["directed path"]
    options = {"positions": False, "seed": 0, "num_threads": 1}
    fire = {"forward": 0.5, "backward": 0.5, "max_nodes": 9}
    with pytest.raises(ValueError, match="reverse must have as many nodes and edges as the graph"):
        _core.extract_fire(view_of(graph), np.array([[0]]), reverse=reversed_lists(other), **fire, **options)
    with pytest.raises(ValueError, match="reverse must be given for a directed graph"):
        _core.extract_fire(view_of(graph), np.array([[0]]), reverse=None, **fire, **options)
    weighted = view_of(some_graphs()["weighted"])
    walks = {"topk": 5, "teleport": 0.5, "num_walks": 10}
    for sums in (None, np.zeros(1)):
        with pytest.raises(ValueError, match="sums must be those of the graph's weights"):
            _core.extract_rwr(weighted, np.array([[0]]), sums=sums, **walks, **options)
