"""Backbone and Branch: trimmed equals untrimmed, a batch its scopes, a full scope a normal GNN; DropEdge."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.nn.reference import DENSE
from tests.nn.scopes import (
    EXTRACTORS,
    OWN_LAYERS,
    PLAIN,
    PYG_LAYERS,
    READOUTS,
    UNTRIMMED,
    batch_of,
    make_branch,
    make_layers,
    random_graph,
    shake,
)

from shadow_gnn.extract import FullExtractor, NodeExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.encoding import Encoding
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.readouts.readout import Readout
from shadow_gnn.nn.sparse.adjacency import Adjacency, drop_edges

pytestmark = pytest.mark.usefixtures("one_thread")

EXACT = {"atol": 1e-10, "rtol": 1e-10}
SKIPS = ["none", "max", "sum", "concat", "residual"]
TARGETS = [0, 7, 12, 20, 33]


@pytest.fixture(scope="module")
def graph():
    return random_graph()


@pytest.fixture(scope="module")
def batches(graph):
    return {name: batch_of(graph, TARGETS, extractor) for name, extractor in EXTRACTORS.items()}


@pytest.mark.parametrize("layer", [*OWN_LAYERS, *PYG_LAYERS])
def test_trimmed_equals_untrimmed(layer, batches):
    for skip in SKIPS:
        for num_layers in range(1, 6):
            branch = shake(make_branch(layer, num_layers=num_layers, skip=skip)).eval()
            assert branch.layouts[0].order == "hop"
            for batch in batches.values():
                trimmed = branch(batch)
                branch.trims = False
                torch.testing.assert_close(trimmed, branch(batch), **EXACT)
                torch.testing.assert_close(trimmed, branch(batch.in_subgraph_order()), **EXACT)
                branch.trims = True


@pytest.mark.parametrize("layer", ["sage", "gatconv", "TransformerConv"])
def test_trimmed_equals_untrimmed_for_directed_graphs_and_pairs(layer):
    directed = random_graph(undirected=False, num_edges=120)
    for targets, num_targets in ((TARGETS, 1), ([[0, 7], [12, 20], [3, 3]], 2)):
        branch = shake(make_branch(layer, num_layers=3, num_targets=num_targets)).eval()
        batch = batch_of(directed, targets)
        trimmed = branch(batch)
        branch.trims = False
        torch.testing.assert_close(trimmed, branch(batch), **EXACT)


def test_trimmed_gradients_equal_untrimmed_ones(batches):
    for layer in ("gcn", "sage", "gat", "gin"):
        branch = shake(make_branch(layer, num_layers=3, options=LayerOptions(activation="elu")))
        found = []
        for branch.trims in (True, False):
            branch.zero_grad()
            (branch(batches["ppr"]) ** 3).sum().backward()
            found.append([parameter.grad.clone() for parameter in branch.parameters()])
        for trimmed, whole in zip(*found, strict=True):
            torch.testing.assert_close(trimmed, whole, **EXACT)


def test_each_layer_sees_only_the_rows_that_the_targets_need(graph):
    batch = batch_of(graph, TARGETS, FullExtractor(2, edge_pos=True))
    backbone = Backbone(make_layers("sage", 5, 8, 3, LayerOptions()))
    within = [batch.num_within(hops) for hops in range(3)]
    assert within[0] == 5
    assert within[0] < within[1] < within[2] == batch.num_nodes
    assert backbone.row_counts(batch, trim=True) == [within[2], within[2], within[1], within[0]]
    assert backbone.row_counts(batch, trim=False) == [batch.num_nodes] * 4
    assert backbone.row_counts(batch.in_subgraph_order(), trim=True) == [batch.num_nodes] * 4
    counts = backbone.row_counts(batch, trim=True)
    outputs = backbone.double()(batch.x[: counts[0]], batch, counts, keep_all=True)
    assert [len(output) for output in outputs] == counts[1:]
    assert len(backbone(batch.x, batch, counts, keep_all=False)) == 1


@pytest.mark.parametrize("layer", UNTRIMMED)
def test_layers_that_reach_further_are_not_trimmed(layer, batches):
    branch = shake(make_branch(layer, num_layers=3)).eval()
    assert branch.layouts[0].order == "subgraph"
    batch = batches["full"]
    assert branch.backbone.row_counts(batch, trim=True) == [batch.num_nodes] * 4
    torch.testing.assert_close(branch(batch), branch(batch.in_subgraph_order()), **EXACT)


def test_trim_can_be_switched_off():
    assert make_branch(trim=False).layouts[0].order == "subgraph"
    assert make_branch(readout="max").layouts[0].order == "subgraph"


@pytest.mark.parametrize("layer", [*OWN_LAYERS, *PYG_LAYERS, *UNTRIMMED])
def test_batch_equals_each_scope_alone(layer, graph, batches):
    branch = shake(make_branch(layer, num_layers=2, skip="concat", edge_dim=3)).eval()
    together = branch(batches["ppr"])
    for row, target in enumerate(TARGETS):
        alone = branch(batch_of(graph, [target]))
        torch.testing.assert_close(together[row : row + 1], alone, **EXACT)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("skip", SKIPS)
def test_readout_of_a_batch_equals_each_scope_alone(readout, skip, graph, batches):
    branch = shake(make_branch("gcn", readout, skip=skip)).eval()
    for name, batch in batches.items():
        together = branch(batch)
        torch.testing.assert_close(together, branch(batch.in_subgraph_order()), **EXACT)
        for row, target in enumerate(TARGETS):
            alone = branch(batch_of(graph, [target], EXTRACTORS[name], order="subgraph"))
            torch.testing.assert_close(together[row : row + 1], alone, **EXACT)


@pytest.mark.parametrize("name", OWN_LAYERS)
@pytest.mark.parametrize("undirected", [True, False])
def test_full_scope_equals_a_normal_gnn_at_the_target(name, undirected):
    graph = random_graph(undirected=undirected)
    whole = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    whole[rows, np.asarray(graph.indices)] = 1
    for num_layers in (1, 2, 3):
        layers = [shake(layer, seed) for seed, layer in enumerate(make_layers(name, 5, 8, num_layers, LayerOptions()))]
        # Symmetric weights need the degrees of the neighbors at the border: one hop more.
        num_hops = num_layers + (name in ("gcn", "sgc"))
        batch = batch_of(graph, TARGETS, FullExtractor(num_hops, edge_pos=True))
        x = torch.from_numpy(graph.x.rows(np.arange(graph.num_nodes))).double()
        for layer in layers:
            x = DENSE[name](layer, x, whole)
        backbone = Backbone(layers)
        counts = backbone.row_counts(batch, trim=True)
        (found,) = backbone(batch.x[: counts[0]], batch, counts, keep_all=False)
        torch.testing.assert_close(found[batch.target_node[:, 0]], x[TARGETS], **EXACT)


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gatconv", "gin", "sgc", "SAGEConv", "GATConv"])
def test_dropedge_draws_once_and_keeps_trimming_valid(layer, batches):
    branch = shake(make_branch(layer, num_layers=3, dropedge=0.4)).train()
    batch = batches["ppr"]
    torch.manual_seed(3)
    trimmed = branch(batch)
    torch.manual_seed(3)
    kept = drop_edges(Adjacency(batch.indptr, batch.indices), 0.4).weight != 0
    left = replace(
        batch,
        indptr=torch.cat((torch.zeros(1, dtype=torch.int64), kept.cumsum(0)))[batch.indptr],
        indices=batch.indices[kept],
    )
    plain = branch.eval()
    if layer == "gin":  # Its sums are over the edges that are left, scaled to the degree before.
        receiver = batch.edge_index()[1]
        number = torch.bincount(receiver[kept], minlength=batch.num_nodes).clamp(min=1)
        left = replace(left, edge_scale=(batch.indptr.diff().double() / number)[receiver[kept]])
    torch.testing.assert_close(trimmed, plain(left), **EXACT)
    branch.train().trims = False
    torch.manual_seed(3)
    torch.testing.assert_close(trimmed, branch(batch), **EXACT)
    assert not torch.allclose(trimmed, branch(batch))
    assert not torch.allclose(trimmed, plain.eval()(batch))


@pytest.mark.parametrize("edge_weight", [False, True])
def test_gin_sums_of_equal_rows_are_those_of_evaluation(edge_weight, batches):
    """With equal features everywhere, DropEdge changes no sum, except in rows that lost all their edges."""
    batch = replace(batches["full"], x=torch.ones_like(batches["full"].x))
    branch = shake(make_branch("gin", encoding="none", num_layers=1, dropedge=0.3, edge_weight=edge_weight))
    branch.trims, rows = False, [batch.num_nodes] * 2
    (whole,) = branch.eval().backbone(batch.x, batch, rows, keep_all=False)
    torch.manual_seed(3)
    (found,) = branch.train().backbone(batch.x, batch, rows, keep_all=False)
    torch.manual_seed(3)
    kept = drop_edges(Adjacency(batch.indptr, batch.indices), 0.3).weight
    left = torch.zeros(batch.num_nodes).index_add(0, batch.edge_index()[1], kept)
    same = (left > 0) | (batch.indptr.diff() == 0)
    assert 0 < int(same.sum()) < batch.num_nodes
    assert float(left.sum()) < batch.num_edges
    torch.testing.assert_close(found[same], whole[same], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("layer", [*OWN_LAYERS, "SAGEConv", "GCNConv"])
@pytest.mark.parametrize("dropedge", [0.0, 0.4])
@pytest.mark.parametrize("edge_weight", [False, True])
def test_the_degrees_inside_a_batch_given_again_change_nothing(layer, dropedge, edge_weight, batches):
    batch = batches["full"]
    batch = replace(batch, edge_weight=(4 * batch.edge_weight).round() / 4)  # Their sums are exact in float32.
    branch = shake(make_branch(layer, num_layers=3, dropedge=dropedge, edge_weight=edge_weight)).train()
    weight = batch.edge_weight if edge_weight else torch.ones(batch.num_edges)
    degree = torch.zeros(batch.num_nodes).index_add(0, batch.edge_index()[1], weight)
    found = []
    for given in (batch, replace(batch, degree=degree)):
        torch.manual_seed(3)
        found.append(branch(given))
    torch.testing.assert_close(*found, **EXACT)


@pytest.mark.parametrize("layer", ["gcn", "sage", "gin", "sgc"])
def test_degrees_of_a_larger_graph_and_factors_of_edges_count(layer, batches):
    batch = batches["full"]
    branch = shake(make_branch(layer, encoding="none", num_layers=1)).eval()
    plain = branch(batch)
    assert torch.equal(branch(replace(batch, edge_scale=torch.ones(batch.num_edges))), plain)
    assert not torch.allclose(branch(replace(batch, edge_scale=torch.full((batch.num_edges,), 2.0))), plain)
    larger = branch(replace(batch, degree=batch.indptr.diff().float() + 3))
    assert torch.allclose(larger, plain) == (layer == "gin")


def test_attention_uses_neither_degrees_nor_factors(batches):
    batch = batches["full"]
    odd = replace(batch, degree=torch.rand(batch.num_nodes), edge_scale=torch.rand(batch.num_edges))
    for layer in ("gat", "gatconv", "mlp"):
        branch = shake(make_branch(layer)).eval()
        assert torch.equal(branch(odd), branch(batch))


def test_dropped_edges_take_their_features_along(batches):
    branch = shake(make_branch("TransformerConv", dropedge=0.5, edge_dim=3)).train()
    batch = batches["ppr"]
    torch.manual_seed(3)
    found = branch(batch)
    torch.manual_seed(3)
    kept = drop_edges(Adjacency(batch.indptr, batch.indices), 0.5).weight != 0
    indptr = torch.cat((torch.zeros(1, dtype=torch.int64), kept.cumsum(0)))[batch.indptr]
    left = replace(batch, indptr=indptr, indices=batch.indices[kept], edge_attr=batch.edge_attr[kept])
    torch.testing.assert_close(found, branch.eval()(left), **EXACT)


@pytest.mark.parametrize("layer", [*OWN_LAYERS, "GATConv", "GraphConv", "GCNConv"])
def test_isolated_targets_and_zero_features_stay_finite(layer):
    empty = Graph(np.zeros(4, np.int64), np.zeros(0, np.int32))
    for graph, targets in ((empty, [0, 2]), (from_edges([0], [1], 3), [2, 0]), (empty, [])):
        batch = replace(batch_of_plain(graph, targets), x=None)
        batch = replace(batch, x=torch.zeros(batch.num_nodes, 5))
        for readout in READOUTS:
            branch = make_branch(layer, readout, num_layers=3)
            out = branch(batch)
            assert out.shape == (len(targets), 8)
            assert out.isfinite().all()
            out.sum().backward()
            assert all(
                parameter.grad.isfinite().all() for parameter in branch.parameters() if parameter.grad is not None
            )


def batch_of_plain(graph, targets):
    return collate(graph, FullExtractor(1)(graph, targets))


def test_a_node_alone_gives_what_a_perceptron_gives(graph):
    alone = batch_of(graph, TARGETS, NodeExtractor(edge_pos=True))
    scopes = batch_of(graph, TARGETS)
    branch = shake(make_branch("mlp", num_layers=3, encoding="none")).eval()
    torch.testing.assert_close(branch(alone), branch(scopes), **EXACT)


def test_edge_arrays_that_are_asked_for():
    assert make_branch().layouts[0].edge_arrays == ()
    assert make_branch(edge_weight=True).layouts[0].edge_arrays == ("weight",)
    assert make_branch("TransformerConv", edge_dim=3).layouts[0].edge_arrays == ("attr",)
    assert make_branch("TransformerConv", edge_dim=3, edge_weight=True).layouts[0].edge_arrays == ("weight", "attr")
    assert make_branch("SAGEConv", edge_dim=3).layouts[0].edge_arrays == ()


def test_wrong_arguments_are_named(batches):
    with pytest.raises(ValueError, match="Backbone: layers must not be empty"):
        Backbone([])
    with pytest.raises(ValueError, match="Backbone: layers must fit together, got 8 columns for 5"):
        Backbone([*make_layers("gcn", 5, 8, 1, LayerOptions()), *make_layers("gcn", 5, 8, 1, LayerOptions())])
    with pytest.raises(ValueError, match="Backbone: dropedge must be from 0 to below 1, got 1"):
        Backbone(make_layers("gcn", 5, 8, 1, LayerOptions()), dropedge=1)
    backbone = Backbone(make_layers("gcn", 4, 8, 1, LayerOptions()))
    with pytest.raises(ValueError, match="Branch: backbone must read the encoding's 5 columns, got 4"):
        Branch(Encoding("hop", 5, 8), backbone, Readout(backbone.layer_dims, 8, PLAIN))
    with pytest.raises(ValueError, match="batch must hold edge_weight, got none; its Loader needs model=model"):
        make_branch(edge_weight=True).double()(replace(batches["ppr"], edge_weight=None))
    with pytest.raises(ValueError, match="PygLayer: TransformerConv must get edge_attr, got none"):
        make_branch("TransformerConv", edge_dim=3).double()(replace(batches["ppr"], edge_attr=None))
