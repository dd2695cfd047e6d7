"""Layerwise inference: equal to each node alone and to dense matrices, in any blocks, in memory or in a file."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.nn.scopes import OWN_LAYERS, PYG_LAYERS, UNTRIMMED, make_branch, shake
from tests.normal.reference import SKIPS, dense_logits, exact_graph, in_double, normal_model

from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.scaling import InputScaling
from shadow_gnn.normal import BlockOptions, closure_batch, embeddings, layerwise, layerwise_logits

EXACT = {"atol": 1e-10, "rtol": 1e-10}
AT_ONCE, IN_BLOCKS = BlockOptions(), BlockOptions(block_nodes=7)


@pytest.fixture(scope="module")
def graph():
    return exact_graph()


def one_by_one(model: ShadowGNN, graph: Graph, *, embed: bool = False) -> np.ndarray:
    num_layers, arrays = len(model.branches[0].backbone.layers), model.layouts[0].edge_arrays
    with torch.no_grad():
        batches = (
            in_double(closure_batch(graph, [node], num_layers, edge_arrays=arrays)) for node in range(graph.num_nodes)
        )
        return torch.cat([model.embed(batch) if embed else model(batch) for batch in batches]).numpy()


@pytest.mark.parametrize("options", [AT_ONCE, IN_BLOCKS], ids=["at once", "in blocks"])
@pytest.mark.parametrize("layer", OWN_LAYERS)
def test_equals_each_node_alone_and_dense_matrices(layer, options, graph):
    for skip in SKIPS:
        model = normal_model(layer, num_layers=3, skip=skip).eval()
        found = layerwise_logits(model, graph, options)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, one_by_one(model, graph), **EXACT)
        np.testing.assert_allclose(found, dense_logits(model, layer, graph).detach().numpy(), **EXACT)
        read = embeddings(model, graph, options)
        np.testing.assert_allclose(read, one_by_one(model, graph, embed=True), **EXACT)


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin"])
@pytest.mark.parametrize("undirected", [True, False])
def test_weighted_and_directed_graphs(layer, undirected):
    graph = exact_graph(undirected=undirected)
    model = normal_model(layer, edge_weight=True).eval()
    expected = dense_logits(model, layer, graph, weighted=True).detach().numpy()
    for options in (AT_ONCE, IN_BLOCKS):
        np.testing.assert_allclose(layerwise_logits(model, graph, options), expected, **EXACT)


@pytest.mark.parametrize("layer", PYG_LAYERS)
def test_pyg_layers_that_trim_run_in_blocks(layer, graph):
    model = normal_model(layer, edge_dim=3).eval()
    for options in (AT_ONCE, IN_BLOCKS):
        np.testing.assert_allclose(layerwise_logits(model, graph, options), one_by_one(model, graph), **EXACT)


@pytest.mark.parametrize("layer", UNTRIMMED)
def test_layers_that_do_not_trim_run_at_once_or_are_refused(layer, graph):
    model = normal_model(layer).eval()
    everything = in_double(closure_batch(graph, np.arange(graph.num_nodes), None))
    with torch.no_grad():
        np.testing.assert_allclose(layerwise_logits(model, graph), model(everything).numpy(), **EXACT)
    with pytest.raises(ValueError, match="layerwise: block_nodes must be all 40 nodes for layers that see the whole"):
        layerwise_logits(model, graph, IN_BLOCKS)


def test_features_are_scaled_as_the_model_does(graph):
    mean, std = torch.arange(5.0), torch.arange(1.0, 6.0)
    model = shake(ShadowGNN([make_branch("gcn", encoding="none")], Head(8, 4), scaling=InputScaling(mean, std))).eval()
    expected = dense_logits(model, "gcn", graph).detach().numpy()
    for options in (AT_ONCE, IN_BLOCKS):
        np.testing.assert_allclose(layerwise_logits(model, graph, options), expected, **EXACT)


@pytest.mark.parametrize("block_nodes", [1, 3, 39, 40, 1000])
def test_blocks_of_any_size_give_the_same(block_nodes, graph):
    model = normal_model("sage", skip="max").eval()
    told = []
    options = BlockOptions(block_nodes=block_nodes, on_block=lambda done, count: told.append((done, count)))
    np.testing.assert_allclose(layerwise_logits(model, graph, options), layerwise_logits(model, graph), **EXACT)
    num_blocks = -(-40 // block_nodes)
    count = 1 if num_blocks == 1 else 2 * num_blocks
    assert told == [(done, count) for done in range(1, count + 1)]


@pytest.mark.parametrize("skip", ["none", "concat"])
@pytest.mark.parametrize("max_bytes", [1, 3000, 20_000, 60_000])
def test_small_budgets_use_files_and_give_the_same(skip, max_bytes, graph, tmp_path):
    model = normal_model("gcn", num_layers=3, skip=skip).eval()
    found = layerwise_logits(model, graph, BlockOptions(max_bytes=max_bytes, folder=tmp_path))
    np.testing.assert_allclose(found, layerwise_logits(model, graph), **EXACT)
    assert list(tmp_path.iterdir()) == []


def test_blocks_are_cut_by_what_their_rows_and_edges_cost():
    # A star: the hub's row is far longer than all others.
    leaves = np.arange(1, 1001)
    indptr = np.concatenate(([0], 1000 + np.arange(1001)))
    star = Graph(indptr, np.concatenate((leaves, np.zeros(1000, np.int64))).astype(np.int32))
    star = replace(star, x=DenseFeatures(np.ones((1001, 5), np.float32)))
    model = normal_model("sage").eval()
    row, edge = 8 * 8 * 6, 8 * 8 + 2 * 40
    work = layerwise._Pass(model, star, BlockOptions(max_bytes=2 * 100 * (row + edge)), logits=True)
    assert work.blocks[:3] == [(0, 1), (1, 101), (101, 201)]
    assert work.blocks[-1] == (901, 1001)
    one = layerwise._Pass(model, star, BlockOptions(), logits=True)
    assert one.blocks == [(0, 1001)]


def test_a_file_is_used_only_beyond_the_budget(graph, tmp_path, monkeypatch):
    made = []
    real = layerwise.new_array
    monkeypatch.setattr(layerwise, "new_array", lambda *given: made.append(given) or real(*given))
    model = normal_model("gcn", num_layers=3).eval()
    layerwise_logits(model, graph, BlockOptions(block_nodes=7))
    assert made == []
    layerwise_logits(model, graph, BlockOptions(block_nodes=7, max_bytes=1000, folder=tmp_path))
    assert [shape for shape, _, _ in made] == [(40, 4), (40, 8), (40, 8)]


def test_the_model_is_left_as_it_was_and_draws_nothing(graph):
    model = normal_model("sage", dropedge=0.5).train()
    first, second = (layerwise_logits(model, graph, IN_BLOCKS) for _ in range(2))
    assert model.training
    np.testing.assert_array_equal(first, second)


def test_graphs_without_edges_or_nodes():
    model = normal_model("gcn").eval()
    for num_nodes in (0, 3):
        x = DenseFeatures(np.ones((num_nodes, 5), np.float32))
        graph = Graph(np.zeros(num_nodes + 1, np.int64), np.zeros(0, np.int32), x=x)
        assert layerwise_logits(model, graph).shape == (num_nodes, 4)
    np.testing.assert_allclose(
        layerwise_logits(model, graph, BlockOptions(block_nodes=2)), layerwise_logits(model, graph), **EXACT
    )


def test_only_normal_models_are_taken(graph):
    def fails(match, *branches):
        model = ShadowGNN(branches, Head(8, 4), torch.nn.Identity() if len(branches) > 1 else None)
        with pytest.raises(ValueError, match=f"layerwise: model must be a normal GNN .*, got {match}"):
            layerwise_logits(model, graph)

    fails("encoding 'hop'", make_branch())
    fails("a readout that pools", make_branch(readout="max", encoding="none"))
    fails("2 branches", make_branch(encoding="none"), make_branch(encoding="none"))
    fails("pairs as targets", make_branch(encoding="none", num_targets=2))
    with pytest.raises(ValueError, match="BlockOptions: block_nodes must be at least 1, got 0"):
        BlockOptions(block_nodes=0)
    with pytest.raises(ValueError, match="BlockOptions: precision must be one of float32, bf16, float64, got 'half'"):
        BlockOptions(precision="half")
