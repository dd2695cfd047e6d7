"""The paper's regular graphs, and nodes in them that nothing tells apart."""

import networkx
import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor
from shadow_gnn.studies.theory.regular_graphs import (
    gin_difference,
    scope_colors,
    three_regular,
    two_regular,
)


@pytest.mark.parametrize(("example", "degree"), [(three_regular(), 3), (two_regular(), 2)], ids=["3", "2"])
def test_examples_are_regular(example, degree):
    assert set(np.diff(example.graph.indptr)) == {degree}
    assert len(example.position) == example.graph.num_nodes


def test_scopes_of_the_three_regular_graph_are_those_of_the_figure():
    example = three_regular()
    first, second = FullExtractor(1)(example.graph, example.pair)
    assert sorted(first.node_id) == [0, 1, 4, 7]
    assert len(first.indices) == 2 * 4  # u with three neighbors, of which two are joined.
    assert sorted(second.node_id) == [1, 2, 3, 5]
    assert len(second.indices) == 2 * 3


def test_scope_colors_follow_triangles():
    # Nodes 0, 1 and 7 are the one triangle of the graph.
    assert scope_colors(three_regular().graph, 1, 2).tolist() == [0, 0, 1, 1, 1, 1, 1, 0]


def test_nodes_with_isomorphic_scopes_stay_together():
    example = three_regular()
    scopes = FullExtractor(1)(example.graph, [0, 7])
    assert max(gin_difference(example.graph, scopes, 4, seed) for seed in range(5)) < 1e-12


def test_an_irregular_graph_needs_no_scopes():
    from shadow_gnn.graph.importing.in_memory import from_networkx

    graph = from_networkx(networkx.path_graph(4))
    whole = FullExtractor(10)(graph, [0, 1])
    assert max(gin_difference(graph, whole, 1, seed) for seed in range(5)) > 1e-3
