"""What a recipe costs: the equations on its scopes, on whole neighborhoods, and shared over the whole graph."""

import numpy as np
import pytest
from tests.communities import communities, small_recipe

from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.studies.cost.counts import full_batch_cost, normal_cost, shadow_cost
from shadow_gnn.studies.cost.equations import ModelShape, ensemble_macs
from shadow_gnn.studies.cost.recipe import input_dim, model_shape, recipe_costs

GRAPH = communities()
TARGETS = np.asarray(GRAPH.splits["test"])


def test_three_lines_by_the_equations():
    shadow, normal, whole = recipe_costs(small_recipe(model__layer="gat"), GRAPH, TARGETS, len(TARGETS))
    network = ModelShape("gat", (3, 8, 8))
    scopes = PprExtractor(topk=10)(GRAPH, TARGETS)
    assert [line.name for line in (shadow, normal, whole)] == ["shadow", "normal", "full batch"]
    assert shadow.macs.value == pytest.approx(shadow_cost(scopes, network).mean())
    assert shadow.num_nodes == pytest.approx(len(scopes.node_id) / len(TARGETS))
    assert normal.macs.value == pytest.approx(normal_cost(GRAPH, TARGETS, network).mean())
    assert whole.macs.value == pytest.approx(full_batch_cost(GRAPH, network, len(TARGETS)))
    assert normal.ratio.value == pytest.approx(normal.macs.value / shadow.macs.value)
    assert shadow.ratio.value == 1.0


def test_a_sample_has_an_interval():
    line = recipe_costs(small_recipe(), GRAPH, TARGETS[:10], len(TARGETS))[1]
    assert line.macs.low < line.macs.value < line.macs.high
    assert line.macs.num_targets == 10


def test_branches_add_up():
    branches = [{"extractor": {"topk": 10}}, {"extractor": {"kind": "khop", "num_hops": 1}}]
    recipe = small_recipe(branches=branches, extractor=None)
    network = ModelShape("sage", (3, 8, 8))
    parts = [
        shadow_cost(extractor(GRAPH, TARGETS), network) for extractor in (PprExtractor(topk=10), KhopExtractor(1, 20))
    ]
    assert recipe_costs(recipe, GRAPH, TARGETS, len(TARGETS))[0].macs.value == pytest.approx(
        ensemble_macs(parts, 8).mean()
    )


def test_a_normal_recipe_is_compared_with_default_scopes():
    recipe = small_recipe(training__method="full", extractor=None)
    shadow = recipe_costs(recipe, GRAPH, TARGETS, len(TARGETS))[0]
    expected = shadow_cost(PprExtractor()(GRAPH, TARGETS), ModelShape("sage", (3, 8, 8))).mean()
    assert shadow.macs.value == pytest.approx(expected)


def test_pooling_is_counted_for_scopes_alone():
    plain, pooled = (
        recipe_costs(small_recipe(**change), GRAPH, TARGETS, len(TARGETS)) for change in ({}, {"model__readout": "max"})
    )
    assert pooled[0].macs.value > plain[0].macs.value
    assert pooled[1].macs == plain[1].macs


def test_input_columns():
    assert input_dim(small_recipe(), GRAPH) == 3
    assert input_dim(small_recipe(inputs__smooth=2, inputs__labels=True), GRAPH) == 3 * 3 + 3
    model = small_recipe(model__encoding_join="concat").model
    assert model_shape(model, 3).dims == (3 + 8, 8, 8)
    given, own = (recipe_costs(small_recipe(), GRAPH, TARGETS, len(TARGETS), in_dim=width)[0] for width in (500, None))
    assert given.macs.value > own.macs.value


def test_a_layer_without_an_equation_is_named():
    with pytest.raises(ValueError, match="layer must be one of gcn, sage"):
        recipe_costs(small_recipe(model__layer="TransformerConv"), GRAPH, TARGETS, len(TARGETS))
