"""The paper's inference cost, on graphs small enough to count by hand."""

import numpy as np
import pytest

from shadow_gnn.analysis.cost import Network, network_macs, normal_cost, shadow_cost
from shadow_gnn.extract import FullExtractor
from shadow_gnn.ingest.memory import from_edges

# 0 - 1 - 2 - 3 and 1 - 4: a path with one side branch.
GRAPH = from_edges(np.array([0, 1, 2, 1]), np.array([1, 2, 3, 4]), 5)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        # From 0, two layers: reads {0, 1, 2, 4}, makes {0, 1} over 1 + 3 edges, then {0} over 1 edge.
        ("gcn", (4 * 10 + 2 * 10 * 20) + (1 * 20 + 1 * 20 * 30)),
        ("sage", (4 * 10 + 2 * 2 * 10 * 20) + (1 * 20 + 2 * 1 * 20 * 30)),
        ("gat", (3 * 4 * 20 + 4 * 10 * 20) + (3 * 1 * 30 + 2 * 20 * 30)),
        ("gin", (4 * 10 + 2 * 30 * 20) + (1 * 20 + 1 * 50 * 30)),
        ("mlp", 2 * 10 * 20 + 1 * 20 * 30),
    ],
)
def test_a_normal_gnn_costs_its_whole_neighbourhood(layer, expected):
    assert normal_cost(GRAPH, [0], Network(layer, (10, 20, 30))).tolist() == [expected]


def test_a_scope_costs_the_same_in_every_layer():
    scopes = FullExtractor(num_hops=1)(GRAPH, [1, 3])
    # {1, 0, 2, 4} with 6 directed edges; {3, 2} with 2.
    found = shadow_cost(scopes, Network("gcn", (10, 20, 30)))
    expected = [nodes * (10 * 20 + 20 * 30) + edges * (10 + 20) for nodes, edges in ((4, 6), (2, 2))]
    assert found.tolist() == expected


def test_depth_costs_a_scope_linearly_and_a_normal_gnn_more():
    scopes = FullExtractor(num_hops=1)(GRAPH, [0])
    shallow, deep = (shadow_cost(scopes, Network("gcn", (8,) * size))[0] for size in (2, 5))
    assert deep == 4 * shallow
    shallow, deep = (normal_cost(GRAPH, [0], Network("gcn", (8,) * size))[0] for size in (2, 5))
    assert deep > 4 * shallow


def test_bad_networks_are_named():
    with pytest.raises(ValueError, match="layer must be one of gcn, sage"):
        Network("cnn", (1, 2))
    with pytest.raises(ValueError, match="dims must be at least two positive widths"):
        Network("gcn", (1,))
    assert network_macs(Network("mlp", (2, 3)), [5, 4], [9]) == 4 * 2 * 3
