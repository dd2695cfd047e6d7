"""Build: every name of a recipe becomes a model that runs, learns by its seed alone, and is refused in one line."""

import re

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import (
    CachedExtractor,
    CombinedExtractor,
    FireExtractor,
    FullExtractor,
    HeatExtractor,
    KatzExtractor,
    KhopExtractor,
    NodeExtractor,
    PprExtractor,
    RwrExtractor,
    ScopeGraphExtractor,
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
    CombinedRecipe,
    FireRecipe,
    FullRecipe,
    HeatRecipe,
    KatzRecipe,
    KhopRecipe,
    ModelRecipe,
    NodeRecipe,
    PprRecipe,
    RwrRecipe,
    SimilarRecipe,
    SimrankRecipe,
)
from shadow_gnn.recipe.records import EXTRACTORS
from shadow_gnn.training.build import EdgeWidths, build_extractor, build_model, with_cache

GRAPH = communities()
TARGETS = np.arange(7)


def recipe(**changes):
    return ModelRecipe(**{"hidden_dim": 8, "num_layers": 2, **changes})


def logits(model, graph=GRAPH, edge_pos=False):
    extractors = [PprExtractor(10, edge_pos=edge_pos)] * len(model.orders)
    batches = [
        collate(graph, extractor(graph, TARGETS), order=order, edges=edges)
        for extractor, order, edges in zip(extractors, model.orders, model.edges, strict=True)
    ]
    return model(batches)


@pytest.mark.parametrize("layer", [*LAYERS, "TransformerConv", "GATv2Conv"])
def test_every_layer_by_its_name(layer):
    model = build_model(recipe(layer=layer), in_dim=3, out_dim=4)
    assert logits(model).shape == (7, 4)


@pytest.mark.parametrize("readout", [*READOUTS, "MedianAggregation"])
@pytest.mark.parametrize("skip", ["none", "max", "sum", "concat"])
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
    assert model.orders == ("hop", "subgraph")
    assert logits(model).shape == (7, 4)


def test_weights_depend_on_the_seed_alone():
    before = torch.get_rng_state()
    first, second, other = (build_model(recipe(), in_dim=3, out_dim=4, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(logits(first), logits(second))
    assert not torch.equal(logits(first), logits(other))


@pytest.mark.parametrize(("out_dim", "values", "normed"), [(4, False, True), (2, False, False), (4, True, False)])
def test_logits_are_normalised_where_that_makes_sense(out_dim, values, normed):
    model = build_model(recipe(), in_dim=3, out_dim=out_dim, values=values)
    assert (model.head.norm is not None) is normed
    assert build_model(recipe(head_norm=False), in_dim=3, out_dim=4).head.norm is None


def test_statistics_scale_the_features():
    statistics = feature_statistics(GRAPH)
    scaled = build_model(recipe(), in_dim=3, out_dim=4, statistics=statistics)
    assert torch.equal(scaled.scaling.mean, torch.from_numpy(statistics.mean))
    assert not torch.equal(logits(scaled), logits(build_model(recipe(), in_dim=3, out_dim=4)))


def test_edge_arrays_are_asked_for_where_they_are_read():
    weighted = build_model(recipe(), in_dim=3, out_dim=4, edge_weight=True, edge_dim=2)
    assert weighted.edges == (("weight",),)
    assert build_model(recipe(edge_weights=False), in_dim=3, out_dim=4, edge_weight=True).edges == ((),)
    model = build_model(recipe(layer="TransformerConv"), in_dim=3, out_dim=4, edge_dim=2)
    assert model.edges == (("attr",),)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"layer": "sagee"},
            "layer must be gcn, sage, gin, mlp, gat, gatconv, sgc or a class of torch_geometric.nn.conv",
        ),
        ({"layer": "TransformrConv"}, "got 'TransformrConv'; did you mean TransformerConv?"),
        ({"layer": "GINConv"}, "must be made from in_channels and out_channels alone"),
        ({"readout": "centre"}, "got 'centre'; did you mean center?"),
        ({"readout": "MedianAggregatio"}, "did you mean MedianAggregation?"),
        ({"layer": "gat", "hidden_dim": 7}, "must be a multiple of num_heads 4, got 7"),
    ],
)
def test_what_cannot_be_built_is_one_line(changes, text):
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        build_model(recipe(**changes), in_dim=3, out_dim=4)
    assert "\n" not in str(caught.value)


def test_extractors_get_the_parameters_of_their_recipes():
    ppr = PprRecipe(topk=5, teleport=0.3, threshold=0.1, threshold_kind="absolute", tolerance=1e-4, max_nodes=4)
    options = {"topk": 5, "teleport": 0.3, "threshold": 0.1, "threshold_kind": "absolute", "tolerance": 1e-4}
    assert build_extractor(ppr, training=True) == PprExtractor(**options, max_nodes=4)
    drawn = ppr.model_copy(update={"kind": "stochastic-ppr"})
    assert build_extractor(drawn, training=True, edge_pos=True) == StochasticPprExtractor(
        **options, max_nodes=4, edge_pos=True
    )
    assert build_extractor(drawn, training=False) == PprExtractor(**options, max_nodes=4)
    khop = KhopRecipe(num_hops=3, fanout=4, replace=True, max_nodes=9)
    assert build_extractor(khop, training=True) == KhopExtractor(3, 4, True, 9)
    assert build_extractor(FullRecipe(num_hops=1, max_nodes=3), training=True) == FullExtractor(1, 3)
    assert build_extractor(NodeRecipe(), training=True, edge_pos=True) == NodeExtractor(True)


def test_sums_over_walks_and_of_scores_are_built_with_all_their_options():
    katz = KatzRecipe(topk=7, attenuation=0.01, tolerance=1e-5, precision=0.3)
    assert build_extractor(katz, training=True, hide="after") == KatzExtractor(7, 0.01, 1e-5, 0.3, hide="after")
    heat = HeatRecipe(topk=7, t=5.0, tolerance=1e-5, precision=0.3)
    assert build_extractor(heat, training=True, edge_pos=True) == HeatExtractor(7, 5.0, 1e-5, 0.3, edge_pos=True)
    parts = [{"weight": 0.5, "extractor": {"kind": "stochastic-ppr"}}, {"extractor": {"kind": "full", "num_hops": 1}}]
    combined = CombinedRecipe.model_validate({"topk": 9, "parts": parts})
    for training, drawn in ((True, StochasticPprExtractor), (False, PprExtractor)):
        expected = CombinedExtractor(((0.5, drawn(topk=9)), (1.0, FullExtractor(1))), topk=9, hide="before")
        assert build_extractor(combined, training=training, hide="before") == expected


def test_walks_get_the_parameters_of_their_recipes_and_are_drawn_anew_only_in_training():
    fire = FireRecipe(forward=0.3, backward=0.2, max_nodes=9)
    assert build_extractor(fire, training=True, edge_pos=True, hide="before") == FireExtractor(
        0.3, 0.2, 9, edge_pos=True, hide="before"
    )
    for resample in (False, True):
        rwr = RwrRecipe(topk=5, teleport=0.3, num_walks=9, resample=resample)
        assert build_extractor(rwr, training=True) == RwrExtractor(5, 0.3, 9, resample)
        assert build_extractor(rwr, training=False) == RwrExtractor(5, 0.3, 9)
        options = {"topk": 5, "decay": 0.3, "num_walks": 9, "walk_length": 2, "candidates": 7}
        simrank = SimrankRecipe(**options, resample=resample)
        assert build_extractor(simrank, training=True) == SimrankExtractor(**options, resample=resample)
        assert build_extractor(simrank, training=False) == SimrankExtractor(**options)


@pytest.mark.parametrize("kind", [kind for kind in EXTRACTORS if kind != "file"])
def test_every_kind_is_built_with_its_defaults(kind):
    made = build_extractor(EXTRACTORS[kind](kind=kind), training=True, edge_pos=True, hide="before")
    name = "".join(part.capitalize() for part in kind.split("-"))
    assert (type(made).__name__, made.edge_pos, made.hide) == (f"{name}Extractor", True, "before")


def test_only_deterministic_extractors_are_cached():
    assert isinstance(with_cache(PprExtractor(), max_bytes=10, folder=None), CachedExtractor)
    assert isinstance(with_cache(KhopExtractor(), max_bytes=10, folder=None), KhopExtractor)


def test_a_scope_graph_and_an_index_are_opened(tmp_path):
    save_graph(GRAPH, tmp_path / "other")
    made = build_extractor(
        SimilarRecipe(topk=5, index=str(tmp_path / "other"), scope_graph=str(tmp_path / "other")), training=True
    )
    assert isinstance(made, ScopeGraphExtractor)
    assert isinstance(made.extractor, SimilarExtractor)
    assert made.scope_graph.fingerprint == made.extractor.index.fingerprint == GRAPH.fingerprint
    for key in ("scope_graph", "index"):
        with pytest.raises(FolderError, match=f"^extractor.{key}: nowhere: is not a folder$"):
            build_extractor(SimilarRecipe(**{key: "nowhere"}), training=True)


def test_each_branch_reads_the_arrays_that_its_own_edges_have():
    each = [EdgeWidths(0, False), EdgeWidths(0, True)]
    assert build_model([recipe()] * 2, in_dim=3, out_dim=4, branch_edges=each).edges == ((), ("weight",))
    with pytest.raises(ValueError, match="branches must have edges with the same arrays to share weights"):
        build_model([recipe(share_weights=True)] * 2, in_dim=3, out_dim=4, branch_edges=each)
