"""The bound on the spectral radius against dense eigenvalues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import dense_adjacency, graph_of

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract.spectral_bound import spectral_bound
from shadow_gnn.graph.record import Graph

GRAPHS = some_graphs()


def radius_of(graph: Graph) -> float:
    return float(np.abs(np.linalg.eigvals(dense_adjacency(graph))).max())


@given(graph=graphs())
def test_no_radius_is_above_its_bound(graph: Graph) -> None:
    bound = spectral_bound(graph)
    assert radius_of(graph) <= bound.radius * (1 + 1e-9)
    assert bound.max_weight == dense_adjacency(graph).max()


@pytest.mark.parametrize("name", [name for name in GRAPHS if "directed" not in name])
def test_the_bound_of_an_undirected_graph_is_tight(name: str) -> None:
    assert spectral_bound(GRAPHS[name]).radius <= 1.05 * radius_of(GRAPHS[name])


def test_a_star_has_the_root_of_its_leaves() -> None:
    star = graph_of(101, [(0, leaf) for leaf in range(1, 101)])
    assert spectral_bound(star).radius == pytest.approx(10, rel=1e-4)


def test_very_large_weights_do_not_overflow() -> None:
    edges = [(0, 1), (1, 2), (2, 0)]
    graph = graph_of(3, edges, weights=dict.fromkeys(edges, 3e38))
    assert spectral_bound(graph).radius == pytest.approx(6e38, rel=1e-3)


def test_the_bound_is_the_same_for_any_number_of_threads() -> None:
    first, second = (graph_of(9000, [(node, node + 1) for node in range(8999)]) for _ in range(2))
    assert spectral_bound(first, num_threads=1) == spectral_bound(second, num_threads=3)


def test_a_graph_is_passed_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, search, calls = graph_of(3, [(0, 1), (1, 2)]), _core.spectral_bound, []

    def counted(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return search(*args, **options)

    monkeypatch.setattr(_core, "spectral_bound", counted)
    assert spectral_bound(graph) == spectral_bound(graph)
    assert len(calls) == 1


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_a_weight_that_no_graph_can_have_is_named(weight: float) -> None:
    values = np.array([1, 1], np.float32)
    graph = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), edge_weight=values, path=Path("damaged"))
    values[1] = weight
    with pytest.raises(FolderError, match=r"damaged: edge_weight must be finite and not negative, got .* in row 1"):
        spectral_bound(graph)
