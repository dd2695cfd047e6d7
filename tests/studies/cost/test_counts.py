"""The paper's inference cost, on graphs small enough to count by hand."""

import numpy as np
import pytest
from tests.extract.graphs import some_graphs

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.normal import closure_batch
from shadow_gnn.normal.hops import hop_counts
from shadow_gnn.studies.cost import ModelShape, normal_cost, shadow_cost
from shadow_gnn.studies.cost import counts as counting
from shadow_gnn.studies.cost.counts import full_batch_cost, normal_macs, scope_sizes, shadow_macs
from shadow_gnn.studies.cost.equations import model_macs

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
def test_a_normal_gnn_costs_its_whole_neighborhood(layer, expected):
    assert normal_cost(GRAPH, [0], ModelShape(layer, (10, 20, 30))).tolist() == [expected]


def test_a_scope_costs_the_same_in_every_layer():
    scopes = FullExtractor(num_hops=1)(GRAPH, [1, 3])
    # {1, 0, 2, 4} with 6 directed edges; {3, 2} with 2.
    found = shadow_cost(scopes, ModelShape("gcn", (10, 20, 30)))
    expected = [nodes * (10 * 20 + 20 * 30) + edges * (10 + 20) for nodes, edges in ((4, 6), (2, 2))]
    assert found.tolist() == expected


def test_depth_costs_a_scope_linearly_and_a_normal_gnn_more():
    scopes = FullExtractor(num_hops=1)(GRAPH, [0])
    shallow, deep = (shadow_cost(scopes, ModelShape("gcn", (8,) * size))[0] for size in (2, 5))
    assert deep == 4 * shallow
    shallow, deep = (normal_cost(GRAPH, [0], ModelShape("gcn", (8,) * size))[0] for size in (2, 5))
    assert deep > 4 * shallow


def slow_normal_cost(graph, targets, network):
    """Make a closure for each target and count what is in it."""
    found = []
    for target in targets:
        batch = closure_batch(graph, [int(target)], network.num_layers, features=False)
        within = [batch.num_within(network.num_layers - done) for done in range(network.num_layers + 1)]
        edges = [int(batch.indptr[rows]) for rows in within[1:]]
        found.append(model_macs(network, within, edges))
    return found


@pytest.mark.parametrize("name", ["hubs", "big hubs", "directed", "weighted", "two components"])
@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin", "sgc"])
def test_fast_counts_equal_closures_of_single_targets(name, layer):
    graph = some_graphs()[name]
    network, targets = ModelShape(layer, (5, 7, 7, 7), skip="concat"), np.arange(graph.num_nodes)[:30]
    assert normal_cost(graph, targets, network).tolist() == slow_normal_cost(graph, targets, network)


def test_one_search_serves_all_depths():
    graph = some_graphs()["hubs"]
    found = hop_counts(graph, [3, 4, 5], 5)
    for num_layers in (1, 3, 5):
        network = ModelShape("gat", (4,) * (num_layers + 1))
        assert normal_macs(found, network).tolist() == normal_cost(graph, [3, 4, 5], network).tolist()
    with pytest.raises(ValueError, match="counts must reach 6 hops, one per layer, got 5"):
        normal_macs(found, ModelShape("gcn", (4,) * 7))
    with pytest.raises(ValueError, match="readout must be center"):
        normal_macs(found, ModelShape("gcn", (4, 4), readout="max"))


def test_a_pass_over_the_whole_graph_is_shared_by_its_targets():
    # 5 nodes, 8 directed edges, two layers; the skip's map is done for every node.
    network = ModelShape("gcn", (10, 20, 30))
    layers = (8 * 10 + 5 * 10 * 20) + (8 * 20 + 5 * 20 * 30)
    assert full_batch_cost(GRAPH, network, 2) == layers / 2
    jumping = ModelShape("gcn", (10, 20, 30), skip="concat")
    assert full_batch_cost(GRAPH, jumping, 1) == layers + 5 * (50 * 30)
    with pytest.raises(ValueError, match="num_targets must be at least 1"):
        full_batch_cost(GRAPH, network, 0)
    with pytest.raises(ValueError, match="readout must be center"):
        full_batch_cost(GRAPH, ModelShape("gcn", (1, 2), readout="sum"), 1)


def test_sizes_of_scopes_do_not_depend_on_blocks(monkeypatch):
    graph = some_graphs()["big hubs"]
    extractor, targets = PprExtractor(topk=20), np.arange(50)
    whole = scope_sizes(graph, extractor, targets)
    monkeypatch.setattr(counting, "_BLOCK_TARGETS", 7)
    seen = []
    parts = scope_sizes(graph, extractor, targets, progress=lambda *step: seen.append(step))
    assert np.array_equal(parts.nodes, whole.nodes)
    assert np.array_equal(parts.edges, whole.edges)
    assert seen[1] == ("extracting", 7, 50)
    network = ModelShape("sage", (4, 5, 6), readout="max", skip="none")
    assert shadow_macs(whole, network).tolist() == shadow_cost(extractor(graph, targets), network).tolist()


def test_pinned_on_a_generated_graph():
    """Values of this code; a change of the counts or the equations shows here."""
    graph, targets = some_graphs()["big hubs"], np.arange(0, 400, 8)
    scopes = PprExtractor(topk=20)(graph, targets)
    shapes = {layer: ModelShape(layer, (128, 256, 256, 256)) for layer in ("gcn", "sage", "gat")}
    found = {
        layer: [
            float(cost.mean().round(1)) for cost in (normal_cost(graph, targets, shape), shadow_cost(scopes, shape))
        ]
        for layer, shape in shapes.items()
    }
    expected = {"gcn": [11221345.3, 3336473.6], "sage": [21771330.6, 6613273.6], "gat": [36513566.7, 3491625.0]}
    assert found == expected
