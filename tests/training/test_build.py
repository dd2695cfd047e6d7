"""Build: every name of a recipe becomes a model that runs, learns by its seed alone, and is refused in one line."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import (
    KINDS,
    CachedExtractor,
    CombinedExtractor,
    FullExtractor,
    KhopExtractor,
    Part,
    PprExtractor,
    RwrExtractor,
    SimilarExtractor,
    SimrankExtractor,
    StochasticPprExtractor,
)
from shadow_gnn.extract.training_view import feature_statistics
from shadow_gnn.graph.store import save_graph
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.layers.table import LAYERS
from shadow_gnn.nn.readouts.table import READOUTS
from shadow_gnn.recipe import (
    ModelRecipe,
)
from shadow_gnn.training.build import BranchEdges, build_extractor, build_model, with_cache

GRAPH = communities()
TARGETS = np.arange(7)
HEADS = ("linear", "normalized", "unit")


def recipe(**changes):
    return ModelRecipe(**{"hidden_dim": 8, "num_layers": 2, **changes})


def batches_of(model, graph=GRAPH, edge_pos=False):
    scopes = PprExtractor(10, edge_pos=edge_pos)(graph, TARGETS)
    return [collate(graph, scopes, model=branch) for branch in model.branches]


def logits(model, graph=GRAPH, edge_pos=False):
    return model(batches_of(model, graph, edge_pos))


@pytest.mark.parametrize("layer", [*LAYERS, "TransformerConv", "GATv2Conv"])
def test_every_layer_by_its_name(layer):
    model = build_model(recipe(layer=layer), in_dim=3, out_dim=4)
    assert logits(model).shape == (7, 4)


@pytest.mark.parametrize("readout", [*READOUTS, "MedianAggregation"])
@pytest.mark.parametrize("skip", ["none", "max", "sum", "concat", "residual"])
def test_every_readout_with_every_skip(readout, skip):
    model = build_model(recipe(readout=readout, skip=skip, sort_size=3), in_dim=3, out_dim=4)
    assert logits(model).shape == (7, 4)


@pytest.mark.parametrize("encoding", ["hop", "ppr", "none"])
@pytest.mark.parametrize("join", ["add", "concat"])
def test_every_encoding(encoding, join):
    assert logits(build_model(recipe(encoding=encoding, encoding_join=join), in_dim=3, out_dim=4)).shape == (7, 4)


@pytest.mark.parametrize("ensemble", ["attention", "mean"])
@pytest.mark.parametrize("shared", [False, True])
def test_several_branches(ensemble, shared):
    one = build_model(recipe(), in_dim=3, out_dim=4)
    two = build_model(recipe(ensemble=ensemble, share_weights=shared), in_dim=3, out_dim=4, num_branches=2)
    assert logits(two).shape == (7, 4)
    count = {model: sum(weight.numel() for weight in model.branches.parameters()) for model in (one, two)}
    assert (count[two] == 2 * count[one]) is not shared


def test_branches_may_differ():
    model = build_model([recipe(), recipe(layer="gat", readout="max")], in_dim=3, out_dim=4)
    assert [layout.order for layout in model.layouts] == ["hop", "subgraph"]
    assert logits(model).shape == (7, 4)


def test_weights_depend_on_the_seed_alone():
    before = torch.get_rng_state()
    first, second, other = (build_model(recipe(), in_dim=3, out_dim=4, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(logits(first), logits(second))
    assert not torch.equal(logits(first), logits(other))


@pytest.mark.parametrize(("out_dim", "values", "normed"), [(4, False, True), (2, False, False), (4, True, False)])
def test_logits_are_normalized_where_that_makes_sense(out_dim, values, normed):
    model = build_model(recipe(head="normalized"), in_dim=3, out_dim=out_dim, values=values)
    assert (model.head.norm is not None) is normed
    for head in ("unit", "linear"):
        assert build_model(recipe(head=head), in_dim=3, out_dim=4).head.norm is None


@pytest.mark.parametrize("num_branches", [1, 2])
def test_embeddings_have_length_one_except_for_the_linear_head(num_branches):
    for head in HEADS:
        model = build_model(recipe(head=head), in_dim=3, out_dim=4, num_branches=num_branches).eval()
        for branch, batch in zip(model.branches, batches_of(model), strict=True):
            found = branch(batch)
            if head == "linear":
                torch.testing.assert_close(found.mean(dim=1), torch.zeros(7), atol=1e-5, rtol=0)
                torch.testing.assert_close(found.var(dim=1, correction=0), torch.ones(7), atol=1e-3, rtol=0)
            else:
                torch.testing.assert_close(found.norm(dim=1), torch.ones(7))


def test_the_linear_head_drops_a_share_of_the_embedding():
    shares = [build_model(recipe(head=head, dropout=0.3), in_dim=3, out_dim=4).head.dropout for head in HEADS]
    assert shares == [0.3, 0.0, 0.0]


@pytest.mark.parametrize("layer", ["sage", "sgc", "GATConv"])
def test_residual_layers_start_as_a_map_of_the_inputs_at_any_depth(layer):
    deep, other = (
        build_model(recipe(layer=layer, skip="residual", num_layers=num_layers), in_dim=3, out_dim=4).eval()
        for num_layers in (2, 7)
    )
    assert len(other.branches[0].backbone.layers) == 7
    first, second = deep.branches[0].backbone.layers[0], other.branches[0].backbone.layers[0]
    second.entry.load_state_dict(first.entry.state_dict())
    other.branches[0].encoding.load_state_dict(deep.branches[0].encoding.state_dict())
    other.head.load_state_dict(deep.head.state_dict())
    torch.testing.assert_close(logits(deep), logits(other))


def test_statistics_scale_the_features():
    statistics = feature_statistics(GRAPH)
    scaled = build_model(recipe(), in_dim=3, out_dim=4, statistics=statistics)
    assert torch.equal(scaled.scaling.mean, torch.from_numpy(statistics.mean))
    assert not torch.equal(logits(scaled), logits(build_model(recipe(), in_dim=3, out_dim=4)))


def test_edge_arrays_are_asked_for_where_they_are_read():
    weighted = build_model(recipe(), in_dim=3, out_dim=4, edge_weight=True, edge_dim=2)
    assert weighted.layouts[0].edge_arrays == ("weight",)
    plain = build_model(recipe(edge_weights=False), in_dim=3, out_dim=4, edge_weight=True)
    assert plain.layouts[0].edge_arrays == ()
    model = build_model(recipe(layer="TransformerConv"), in_dim=3, out_dim=4, edge_dim=2)
    assert model.layouts[0].edge_arrays == ("attr",)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"layer": "sagee"},
            "layer must be gcn, sage, gin, mlp, gat, gatconv, sgc, transformer or a class of torch_geometric.nn.conv",
        ),
        ({"layer": "TransformrConv"}, "got 'TransformrConv'; did you mean TransformerConv?"),
        ({"layer": "GINEConv"}, "GINEConv must have edge features, the graph has none"),
        ({"readout": "centre"}, "got 'centre'; did you mean center?"),
        ({"readout": "MedianAggregatio"}, "did you mean MedianAggregation?"),
        ({"layer": "gat", "hidden_dim": 7}, "must be a multiple of num_heads 4, got 7"),
    ],
)
def test_what_cannot_be_built_is_one_line(changes, text):
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        build_model(recipe(**changes), in_dim=3, out_dim=4)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "file"])
def test_every_kind_is_built_with_the_options_of_a_run(kind):
    made = build_extractor(KINDS[kind](), training=True, edge_pos=True, hide="before")
    assert made == KINDS[kind](edge_pos=True, hide="before")


def test_evaluation_draws_nothing_again():
    options = {"topk": 5, "teleport": 0.3, "max_nodes": 4}
    drawn = StochasticPprExtractor(**options)
    assert build_extractor(drawn, training=True, edge_pos=True) == StochasticPprExtractor(**options, edge_pos=True)
    assert build_extractor(drawn, training=False) == PprExtractor(**options)
    for walks in (RwrExtractor(5, 0.3, 9, resample=True), SimrankExtractor(5, 0.3, 9, resample=True)):
        assert build_extractor(walks, training=True) == walks
        assert build_extractor(walks, training=False) == replace(walks, resample=False)
    combined = CombinedExtractor((Part(drawn, 0.5), Part(FullExtractor(1))), topk=9)
    expected = CombinedExtractor((Part(PprExtractor(**options), 0.5), Part(FullExtractor(1))), topk=9, hide="before")
    assert build_extractor(combined, training=False, hide="before") == expected
    khop = KhopExtractor(3, 4, True, 9)
    assert build_extractor(khop, training=False) == khop


def test_only_deterministic_extractors_are_cached():
    assert isinstance(with_cache(PprExtractor(), max_bytes=10, folder=None), CachedExtractor)
    assert isinstance(with_cache(KhopExtractor(), max_bytes=10, folder=None), KhopExtractor)


def test_a_scope_graph_and_an_index_are_opened(tmp_path):
    save_graph(GRAPH, tmp_path / "other")
    extractor = SimilarExtractor(topk=5, index=tmp_path / "other", scope_graph=str(tmp_path / "other"))
    made = build_extractor(extractor, training=True)
    assert made.key.count(GRAPH.fingerprint) == 2
    assert made.edge_graph(GRAPH) is GRAPH
    for key in ("scope_graph", "index"):
        with pytest.raises(FolderError, match=f"^extractor.{key}: graph: nowhere must be a graph folder "):
            build_extractor(SimilarExtractor(**{key: "nowhere"}), training=True)


def test_each_branch_reads_the_arrays_that_its_own_edges_have():
    each = [BranchEdges(edge_dim=0, edge_weight=weighted) for weighted in (False, True)]
    model = build_model([recipe()] * 2, in_dim=3, out_dim=4, branch_edges=each)
    assert [layout.edge_arrays for layout in model.layouts] == [(), ("weight",)]
    with pytest.raises(ValueError, match="branches must have edges with the same arrays to share weights"):
        build_model([recipe(share_weights=True)] * 2, in_dim=3, out_dim=4, branch_edges=each)
