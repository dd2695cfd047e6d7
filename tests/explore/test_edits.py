"""What if: a request with edits answers as a graph does that was made with the edits from the beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.communities import one_thread  # noqa: F401
from tests.explore.explored import KINDS, edited_by_hand, scope
from tests.rounding import ROUNDING

from shadow_gnn.inference.predictor import Predictor, ignore_note
from shadow_gnn.studies.explain.explain import with_scopes
from shadow_gnn.training.model_file import read_model

ALL = {
    "new_nodes": [
        {"features": [0.5, -1.0, 2.0], "edges": [{"to": 3}, {"from": 5}]},
        {"features": [0.0, 1.0, 0.0], "edges": [{"to": {"new": 0}}]},
    ],
    "features": [{"node": 3, "column": 1, "value": 7.5}],
    "add_edges": [{"from": 3, "to": 80}, {"from": {"new": 1}, "to": 7}],
    "remove_nodes": [40],
}


def own_edits(explorer, **more):
    """Return edits of all kinds, with an edge of the target to remove."""
    graph = explorer.live.stored
    sender = int(graph.indices[graph.indptr[3]])
    found = {**ALL, "remove_edges": [{"from": sender, "to": 3}], **more}
    if graph.x is None:
        found = {**found, "features": [], "new_nodes": [{"edges": node["edges"]} for node in ALL["new_nodes"]]}
    return found


def by_hand(explorer, edits, target, extractor=None):
    """Return the scope's nodes and the prediction of a model on a graph that was made with the edits."""
    run = explorer.runs["run"]
    graph = edited_by_hand(explorer.live.stored, edits)
    predictor = Predictor(run.predictor.trained, graph, extractor=extractor, warn=ignore_note)
    checked = predictor.check([target])
    nodes = [batch.node_id.tolist() for batch in predictor.batches(checked)]
    return nodes, predictor.predict([target]).scores[0], predictor


def ids(found, explorer):
    first = explorer.live.graph.num_nodes
    return [node["id"] if node["id"] is not None else first + node["new"] for node in found["nodes"]]


def numbers(prediction):
    """Return the scores of a prediction in the order of the classes."""
    if prediction["kind"] == "values":
        return [prediction["value"]]
    if prediction["kind"] == "links":
        return [prediction["probability"]]
    return [one["probability"] for one in sorted(prediction["probabilities"], key=lambda one: one["number"])]


@pytest.mark.parametrize(
    "kind", ["plain", "khop", "rich", "rich, directed", "values", "multilabel", "degree", "smooth"]
)
@pytest.mark.parametrize("target", [3, {"new": 0}])
def test_edits_answer_like_a_graph_made_with_them(explored, kind, target):
    explorer = explored(kind)
    edits = own_edits(explorer)
    found = scope(explorer, node=target, run="run", edits=edits, explain=True)
    wanted = 3 if target == 3 else explorer.live.graph.num_nodes
    (nodes,), scores, _ = by_hand(explorer, edits, wanted)
    assert ids(found, explorer) == nodes
    np.testing.assert_allclose(numbers(found["prediction"]), scores, **ROUNDING)
    assert (found["before"] is None) == (target != 3)


def test_the_prediction_before_the_edits_is_that_of_the_graph_as_it_is(explored):
    explorer = explored("rich")
    found = scope(explorer, node="n3", run="run", edits=own_edits(explorer))
    plain = scope(explorer, node=3, run="run")
    assert found["before"] == plain["prediction"]
    assert plain["before"] is None
    assert found["prediction"] != plain["prediction"]
    assert found["graph_version"] == plain["graph_version"] == 0


def test_every_branch_of_an_ensemble_sees_the_edits(explored):
    explorer = explored("branches")
    edits = own_edits(explorer)
    found = scope(explorer, node=3, run="run", edits=edits)
    nodes, scores, _ = by_hand(explorer, edits, 3)
    assert len(nodes) == 2
    assert set(ids(found, explorer)) == set(nodes[0]) | set(nodes[1])
    np.testing.assert_allclose(numbers(found["prediction"]), scores, **ROUNDING)
    assert found["extractor"] is None


def test_pairs_with_edits_answer_like_a_graph_made_with_them(explored):
    explorer = explored("links")
    edits = own_edits(explorer)
    first = explorer.live.graph.num_nodes
    found = scope(explorer, pair=[8, {"new": 1}], run="run", edits=edits, explain=True)
    run, graph = explorer.runs["run"], edited_by_hand(explorer.live.stored, edits)
    predictor = Predictor(run.predictor.trained, graph, warn=ignore_note)
    np.testing.assert_allclose(
        found["prediction"]["probability"], predictor.predict([[8, first + 1]]).probability[0], **ROUNDING
    )
    (batch,) = predictor.batches(predictor.check([[8, first + 1]]))
    assert ids(found, explorer) == batch.node_id.tolist()
    assert [found["nodes"][place]["id"] for place in found["target"]] == [8, None]


def test_a_new_class_of_a_neighbor_counts_where_labels_are_inputs(explored):
    explorer = explored("labels")
    graph = explorer.live.stored
    near = int(graph.indices[graph.indptr[3]])
    other = (int(graph.y[near]) + 1) % 3
    edits = {"labels": [{"node": near, "class": other}]}
    found = scope(explorer, node=3, run="run", edits=edits)
    nodes, scores, _ = by_hand(explorer, edits, 3)
    assert ids(found, explorer) == nodes[0]
    np.testing.assert_allclose(numbers(found["prediction"]), scores, **ROUNDING)
    assert numbers(found["prediction"]) != numbers(found["before"])
    (shown,) = [node for node in found["nodes"] if node["id"] == near]
    assert (shown["label"], shown["edited"]) == (other, True)
    by_name = {"labels": [{"node": f"n{near}", "class": ["red", "green", "blue"][other]}]}
    named = scope(explorer, node=3, run="run", edits=by_name)
    assert named["prediction"] == found["prediction"]


def test_all_edits_together_with_labels_as_inputs(explored):
    explorer = explored("labels")
    edits = own_edits(explorer, labels=[{"node": 7, "class": 1}])
    found = scope(explorer, node=3, run="run", edits=edits)
    nodes, scores, _ = by_hand(explorer, edits, 3)
    assert ids(found, explorer) == nodes[0]
    np.testing.assert_allclose(numbers(found["prediction"]), scores, **ROUNDING)


@pytest.mark.parametrize("kind", ["katz", "rwr", "simrank"])
def test_extractors_that_read_whole_graphs_see_edits_in_a_copy(explored, kind):
    explorer = explored("plain")
    edits, table = own_edits(explorer), {"kind": kind, "topk": 12}
    found = scope(explorer, node=3, run="run", extractor={"kind": kind, "options": {"topk": 12}}, edits=edits)
    nodes, scores, _ = by_hand(explorer, edits, 3, table)
    assert ids(found, explorer) == nodes[0]
    np.testing.assert_allclose(numbers(found["prediction"]), scores, **ROUNDING)


def test_a_normal_gnn_answers_on_scopes_with_edits(explored):
    explorer = explored("normal")
    edits, table = own_edits(explorer), {"kind": "full", "num_hops": 3}
    body = {"extractor": {"kind": "full", "options": {"num_hops": 3}}, "edits": edits}
    found = scope(explorer, node=3, run="run", **body)
    _, scores, predictor = by_hand(explorer, edits, 3, table)
    np.testing.assert_allclose(numbers(found["prediction"]), scores, **ROUNDING)
    # All nodes within as many hops as there are layers give the prediction on the whole graph.
    whole = Predictor(explorer.runs["run"].predictor.trained, predictor.graph, warn=ignore_note)
    np.testing.assert_allclose(numbers(found["prediction"]), whole.predict([3]).scores[0], **ROUNDING)
    assert any("normal GNN" in note for note in found["notes"])
    assert scope(explorer, node=3, run="run")["extractor"]["options"]["topk"] == 200


def test_a_hybrid_with_edits_is_the_mean_of_its_members(explored):
    explorer = explored("hybrid")
    run, edits = explorer.runs["run"], own_edits(explorer)
    found = scope(explorer, node=3, run="run", edits=edits)
    graph = edited_by_hand(explorer.live.stored, edits)
    expected = sum(
        weight * Predictor(read_model(run.folder / name), graph, warn=ignore_note).predict([3]).scores[0]
        for name, weight in run.hybrid.weights.items()
    )
    np.testing.assert_allclose(numbers(found["prediction"]), expected, **ROUNDING)
    assert all(with_scopes(partner.whole).extractors[0].kind == "full" for partner in run.partners)


def test_the_graph_stays_as_it_is(explored):
    explorer = explored("rich")
    before = scope(explorer, node=3, run="run", explain=True)
    scope(explorer, node=3, run="run", edits=own_edits(explorer))
    after = scope(explorer, node=3, run="run", explain=True)
    for answer in (before, after):
        del answer["milliseconds"]
    assert before == after
    assert explorer.live.version == 0
    assert explorer.about()["graph"]["nodes"] == KINDS["rich"][0].num_nodes


def test_added_edges_and_named_nodes_are_marked(explored):
    explorer = explored("plain")
    found = scope(explorer, node=3, edits={"add_edges": [{"from": 3, "to": 80}]})
    places = {node["id"]: place for place, node in enumerate(found["nodes"])}
    added = [{edge["from"], edge["to"]} for edge in found["edges"] if edge["added"]]
    assert added == [{places[3], places[80]}]
    assert {node["id"] for node in found["nodes"] if node["edited"]} == {3, 80}


def test_a_removed_target_is_alone(explored):
    found = scope(explored("rich"), node=3, run="run", edits={"remove_nodes": ["n3"]})
    assert [node["name"] for node in found["nodes"]] == ["n3"]
    assert found["edges"] == []


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        ({"features": [{"node": 3, "column": 99, "value": 1}]}, "edits: column must be below 3, got 99"),
        ({"features": [{"node": 3, "column": "d", "value": 1}]}, "edits: column must be one of the graph's 3, got 'd'"),
        ({"features": [{"node": 3, "column": 0, "value": 1e300}]}, "edits: value must be a number that float32"),
        ({"labels": [{"node": 3, "class": 1}]}, "edits: labels must be left out, as run does not read labels"),
        ({"labels": [{"node": 3, "class": 9}]}, "edits: class must be below 3, got 9"),
        ({"add_edges": [{"from": 3, "to": 3}]}, "edits: edges must join two different nodes, got 3 with itself"),
        ({"add_edges": [{"from": 3, "to": {"new": 0}}]}, "scope: new must be the place of a new node, below 0, got 0"),
        ({"add_edges": [{"from": 3, "to": 999}]}, "node: must be node ids from 0 to 119, got 999"),
        ({"remove_nodes": ["nobody"]}, "node: must be a name of the graph, got 'nobody'"),
        ({"new_nodes": [{"features": [1.0]}]}, "features: must be 3 numbers, got 1"),
        ({"add_edges": [{"from": 3, "to": 9, "weight": -1.0}]}, "edits: weights must be positive"),
    ],
)
def test_wrong_edits_are_refused_in_one_line(explored, edits, line):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        scope(explored("rich"), node=5, run="run", edits=edits)
    assert str(caught.value).startswith(line)


def test_an_edge_to_remove_must_exist(explored):
    graph = KINDS["plain"][0]
    other = next(node for node in range(4, 120) if node not in graph.neighbors(3))
    with pytest.raises(ValueError, match=f"edits: remove_edges must be edges of the graph, got 3 and {other}"):
        scope(explored("plain"), node=3, edits={"remove_edges": [{"from": 3, "to": other}]})


def test_weights_of_a_graph_without_them_are_refused(explored):
    with pytest.raises(ValueError, match="edits: weight must be left out, as the graph has no weights"):
        scope(explored("plain"), node=3, edits={"add_edges": [{"from": 3, "to": 9, "weight": 2.0}]})


def test_copies_of_large_graphs_are_refused_in_one_line(explored, monkeypatch):
    monkeypatch.setattr("shadow_gnn.explore.scopes.MOST_COPIED_ENTRIES", 10)
    with pytest.raises(ValueError, match="edits: extractor and inputs of the run must be ones that follow changes"):
        scope(explored("smooth"), node=3, run="run", edits={"remove_nodes": [5]})
    assert scope(explored("plain"), node=3, run="run", edits={"remove_nodes": [5]})["prediction"]


def test_columns_and_classes_in_another_order_than_in_training(explored, tmp_path):
    from shadow_gnn.explore.explorer import Explorer
    from shadow_gnn.explore.runs import open_explored
    from shadow_gnn.graph.changes.live_graph import LiveGraph
    from shadow_gnn.graph.record import DenseFeatures, NodeNames

    explorer = explored("labels")
    graph = explorer.live.stored
    turned = replace(
        graph,
        x=DenseFeatures(np.ascontiguousarray(graph.x.rows(np.arange(graph.num_nodes))[:, [2, 0, 1]])),
        column_names=("c", "a", "b"),
        y=2 - graph.y,
        class_name=NodeNames.of(["blue", "green", "red"]),
        path=None,
    )
    live = LiveGraph(turned)
    other = Explorer(live, [open_explored("run", explorer.runs["run"].folder, live)], name="g")
    near = int(graph.indices[graph.indptr[3]])
    own = scope(
        explorer,
        node=3,
        run="run",
        edits={"features": [{"node": 3, "column": 0, "value": 4.0}], "labels": [{"node": near, "class": 0}]},
    )
    same = scope(
        other,
        node=3,
        run="run",
        edits={"features": [{"node": 3, "column": 1, "value": 4.0}], "labels": [{"node": near, "class": 2}]},
    )
    np.testing.assert_allclose(numbers(same["prediction"]), numbers(own["prediction"]), **ROUNDING)
    target = same["nodes"][0]
    assert target["label"] == 2 - own["nodes"][0]["label"]
    assert {(one["column"], one["name"]) for one in target["features"]} == {(0, "c"), (1, "a"), (2, "b")}
    assert same["truth"] == own["truth"]
    other.close()
