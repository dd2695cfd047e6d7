"""The memory of a recipe on a graph, by a few of its scopes."""

from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, small_recipe

from shadow_gnn.base.memory_available import available_memory, check_need
from shadow_gnn.base.memory_needs import GraphCounts, ModelCounts, full_batch_need
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.whole import WholeGraph
from shadow_gnn.training.footprint import all_needs, graph_counts, model_counts, run_need, shadow_need


def test_counts_of_a_graph():
    graph = communities()
    assert graph_counts(graph) == GraphCounts(120, graph.num_edges, 3, 3, mapped=False)
    assert graph_counts(replace(graph, x=None, y=None)) == GraphCounts(120, graph.num_edges, 0, 2, mapped=False)


def test_model_counts_a_recipe():
    recipe = small_recipe(model__layer="gat", training__precision="bf16")
    assert model_counts(recipe) == ModelCounts("gat", 2, 8, dropedge=True, half=True)


def test_scopes_decide_and_trimming_saves():
    graph = communities()
    small, large = (shadow_need(small_recipe(extractor__topk=topk), graph) for topk in (3, 60))
    assert large.parts["activations"] > 5 * small.parts["activations"]
    whole = shadow_need(small_recipe(extractor__topk=60, model__trim=False), graph)
    assert whole.parts["activations"] > large.parts["activations"]


def test_larger_batches_and_several_branches_take_more():
    graph = communities()
    one = shadow_need(small_recipe(training__batch_size=16), graph)
    assert shadow_need(small_recipe(training__batch_size=64), graph).total > one.total
    table = small_recipe().model_dump(exclude={"extractor", "branches"}, exclude_none=True)
    branches = [{"extractor": {"kind": "ppr", "topk": 10}}] * 2
    two = shadow_need(type(small_recipe()).model_validate({**table, "branches": branches}), graph)
    assert two.parts["features"] == pytest.approx(2 * one.parts["features"], rel=0.1)


def test_scopes_are_kept_only_where_a_cache_is():
    graph = communities()
    kept = shadow_need(small_recipe(), graph)
    assert 0 < kept.parts["cached scopes"] < 10**6
    assert "cached scopes" not in shadow_need(small_recipe(training__cache="none"), graph).parts
    drawn = small_recipe(extractor={"kind": "khop", "num_hops": 1, "fanout": 3})
    assert "cached scopes" not in shadow_need(drawn, graph).parts


def test_every_way_of_training_fits_for_a_small_graph():
    graph = communities()
    found = all_needs(small_recipe(), graph)
    assert [each.name for each in found] == ["shadow", "full", "saint", "neighbor", "sgc", "sign(3,3,3)"]
    for each in found:
        check_need(each, available_memory())
    assert [each.name for each in all_needs(small_recipe(), replace(graph, x=None))][-1] == "neighbor"


def test_a_graph_without_nodes_is_named():
    empty = Graph(np.zeros(1, np.int64), np.zeros(0, np.int32))
    with pytest.raises(ValueError, match=r"^memory: graph must have nodes, got none$"):
        shadow_need(small_recipe(), empty)


def test_full_batches_are_counted_by_what_the_training_targets_hear_of():
    graph = communities()
    recipe = small_recipe(training="full", extractor=None)
    few = replace(graph, splits={"train": graph.splits["train"][:1], "valid": graph.splits["valid"]})
    small, large = (run_need(recipe, each) for each in (few, graph))
    assert small.parts["activations"] < large.parts["activations"]
    everything = replace(graph, splits={**graph.splits, "train": np.arange(graph.num_nodes)})
    whole = full_batch_need(graph_counts(graph), model_counts(recipe))
    assert dict(run_need(recipe, everything).parts) == dict(whole.parts)


@pytest.mark.parametrize("method", ["saint", "neighbor"])
def test_drawn_batches_count_the_evaluation_of_the_whole_graph(method, monkeypatch):
    graph = communities()
    drawn = {"saint": {"num_walks": 1}} if method == "saint" else {}
    recipe = small_recipe(training={"method": method, "batch_size": 1}, extractor=None, **drawn)
    found = run_need(recipe, graph)
    assert found.parts["features"] >= 2 * graph.num_nodes * 3 * 4
    assert ("counts" in found.parts) == (method == "saint")
    # Where that takes too much, it goes in blocks.
    monkeypatch.setattr(WholeGraph, "max_bytes", 30_000)
    assert run_need(recipe, graph).parts["evaluation in blocks"] == 30_000
    # A graph that is too large to be counted has bounds instead, which are no smaller.
    monkeypatch.setattr("shadow_gnn.training.footprint._MOST_COUNTED", 0)
    assert run_need(recipe, graph).total >= found.total - 10**6


def test_scopes_of_pairs_are_larger_and_only_those_to_evaluate_are_kept():
    graph = replace(communities(), y=None, splits={})
    nodes, links = (small_recipe(task__kind=kind, extractor__topk=20) for kind in ("node", "link"))
    assert shadow_need(links, graph).parts["activations"] > shadow_need(nodes, graph).parts["activations"]
    none = small_recipe(task__kind="link", extractor__topk=20, training__cache="none")
    assert shadow_need(none, graph).total < shadow_need(links, graph).total
    given = replace(graph, pairs={"valid_pos": np.zeros((7, 2), np.int64)})
    few = small_recipe(task__kind="link", extractor__topk=20, link__split="given")
    assert shadow_need(few, given).total < shadow_need(links, graph).total
    assert shadow_need(links, Graph(np.zeros(4, np.int64), np.zeros(0, np.int32))).total > 0
