"""Whole splits: the numbers of `shadow evaluate --report`, and the targets behind each of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.communities import communities, one_thread  # noqa: F401
from tests.explore.explored import open_explorer, pick, scope, split
from tests.rounding import ROUNDING

from shadow_gnn.explore.explorer import Explorer
from shadow_gnn.explore.requests import PickBody
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.inference.evaluation import evaluate_split


@pytest.mark.parametrize("kind", ["rich", "normal", "multilabel", "values", "labels"])
def test_a_split_has_the_numbers_of_the_evaluation(explored, kind):
    explorer = explored(kind)
    found = split(explorer)
    wanted = evaluate_split(explorer.runs["run"].predictor, "test", report=True)
    report = wanted.report
    assert found["count"] == wanted.num_targets
    np.testing.assert_allclose(found["value"], wanted.metrics[found["metric"]], **ROUNDING)
    assert [(one["low"], one["high"], one["count"]) for one in found["by_degree"]] == [
        (one.low, one.high, one.count) for one in wanted.by_degree
    ]
    np.testing.assert_allclose(
        [one["value"] for one in found["by_degree"]], [one.value for one in wanted.by_degree], **ROUNDING
    )
    if kind == "values":
        assert (found["confusion"], found["calibration"], found["classes"]) == (None, None, [])
        return
    assert [one["name"] for one in found["classes"]] == list(report.class_names)
    assert [one["predicted"] for one in found["classes"]] == report.predicted_count.tolist()
    assert found["confusion"] == (None if report.confusion is None else report.confusion.tolist())
    assert [one["count"] for one in found["calibration"]["bins"]] == report.calibration.count.tolist()
    np.testing.assert_allclose(found["calibration"]["error"], report.calibration.error, **ROUNDING)


def test_a_hybrid_has_the_accuracy_of_its_mean(explored):
    from shadow_gnn.inference.hybrid import evaluate_hybrid, open_hybrid

    explorer = explored("hybrid")
    wanted = evaluate_hybrid(open_hybrid(explorer.runs["run"].folder), "test", explorer.live.stored)
    np.testing.assert_allclose(split(explorer)["value"], wanted.metrics["accuracy"], **ROUNDING)


def test_links_are_compared_with_drawn_pairs(explored):
    explorer = explored("links")
    found = split(explorer)
    known, none = np.array(found["confusion"]).sum(axis=1)[::-1]
    assert known == none == found["count"] / 2
    facts = pick(explorer, run="run", split="test", by="wrong", limit=1000)
    assert facts["total"] == round((1 - found["value"]) * found["count"])
    one = facts["nodes"][0]
    assert one["label"] != one["prediction"]
    assert one["confidence"] >= 0.5
    assert {"id", "other_id"} <= set(one)


@pytest.mark.parametrize("kind", ["rich", "labels"])
def test_every_cell_leads_to_its_targets(explored, kind):
    explorer = explored(kind)
    graph, found = explorer.live.stored, split(explorer)

    def picked(**body):
        return pick(explorer, run="run", split="test", limit=1000, **body)["nodes"]

    for true, row in enumerate(found["confusion"]):
        for predicted, count in enumerate(row):
            nodes = picked(by="confused", true=true, predicted=predicted)
            assert len(nodes) == count
            assert all((node["label"], node["prediction"]) == (true, predicted) for node in nodes)
    for one in found["by_degree"]:
        nodes = picked(by="degree", bin=one["bin"])
        assert len(nodes) == one["count"]
        assert all(one["low"] <= node["degree"] <= one["high"] for node in nodes)
        right = np.mean([node["label"] == node["prediction"] for node in nodes])
        np.testing.assert_allclose(right, one["value"])
    for one in found["calibration"]["bins"]:
        nodes = picked(by="calibration", bin=one["bin"])
        assert len(nodes) == one["count"]
        assert all(one["low"] < node["confidence"] <= one["high"] for node in nodes)
    for one in found["classes"]:
        nodes = picked(**{"by": "class", "class": one["number"]})
        assert [node["id"] for node in nodes] == [
            n for n in graph.splits["test"].tolist() if graph.y[n] == one["number"]
        ]


def test_wrong_and_unsure_targets_come_in_order(explored):
    explorer = explored("rich")
    wrong = pick(explorer, run="run", split="test", by="wrong", limit=1000)
    assert all(node["label"] != node["prediction"] for node in wrong["nodes"])
    confidence = [node["confidence"] for node in wrong["nodes"]]
    assert confidence == sorted(confidence, reverse=True)
    assert wrong["total"] == len(wrong["nodes"])
    unsure = pick(explorer, run="run", split="test", by="unsure", limit=5, offset=2)
    every = pick(explorer, run="run", split="test", by="unsure", limit=1000)
    confidence = [node["confidence"] for node in every["nodes"]]
    assert confidence == sorted(confidence)
    assert unsure["nodes"] == every["nodes"][2:7]
    first = every["nodes"][0]
    shown = scope(explorer, node=first["id"], run="run")["prediction"]
    assert shown["number"] == first["prediction"]
    np.testing.assert_allclose(shown["probability"], first["confidence"], **ROUNDING)


def test_values_are_picked_by_error(explored):
    explorer = explored("values")
    nodes = pick(explorer, run="run", split="test", by="wrong", limit=1000)["nodes"]
    gaps = [abs(node["label"] - node["prediction"]) for node in nodes]
    assert gaps == sorted(gaps, reverse=True)
    with pytest.raises(ValueError, match="pick: by must not be unsure for values"):
        pick(explorer, run="run", split="test", by="unsure")


def test_nodes_are_picked_without_a_run():
    graph = communities()
    explorer = Explorer(LiveGraph(graph), name="g")
    degree = np.diff(graph.indptr)
    many = pick(explorer, by="degree", limit=10)
    order = sorted(range(120), key=lambda node: (-degree[node], node))
    assert [node["id"] for node in many["nodes"]] == order[:10]
    assert [node["id"] for node in pick(explorer, by="degree", limit=7, offset=20)["nodes"]] == order[20:27]
    assert [node["id"] for node in pick(explorer, by="degree", limit=1000)["nodes"]] == order
    some = pick(explorer, by="random", seed=1, limit=1000)
    assert sorted(node["id"] for node in some["nodes"]) == list(range(120))
    assert pick(explorer, by="random", seed=1, limit=5, offset=5)["nodes"] == some["nodes"][5:10]
    assert pick(explorer, by="random", seed=2, limit=5)["nodes"] != some["nodes"][:5]
    valid = pick(explorer, by="random", split="valid", limit=1000)["nodes"]
    assert sorted(node["id"] for node in valid) == graph.splits["valid"].tolist()
    of_class = pick(explorer, **{"by": "class", "class": 2, "limit": 1000})
    assert [node["id"] for node in of_class["nodes"]] == np.flatnonzero(graph.y == 2).tolist()
    assert of_class["total"] == int((graph.y == 2).sum())
    explorer.close()


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"by": "wrong", "split": "test"}, "pick: run must be given to pick by wrong"),
        ({"by": "wrong", "run": "run"}, "pick: split must be given to pick by predictions"),
        ({"by": "wrong", "run": "run", "split": "extra"}, "split: must be one of train, valid, test for run"),
        ({"by": "class", "split": "test"}, "pick: class must be given"),
        ({"by": "class", "class": 3}, "pick: class must be below 3, got 3"),
        ({"by": "class", "class": "pink"}, "pick: class must be the name of a class, got 'pink'"),
        ({"by": "random", "split": "extra"}, "pick: split must be one of train, valid, test, got 'extra'"),
        ({"by": "calibration", "run": "run", "split": "test"}, "pick: bin must be given"),
    ],
)
def test_wrong_picks_are_refused_in_one_line(explored, body, line):
    explorer = explored("rich")
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        pick(explorer, **body)
    assert str(caught.value).startswith(line)


def test_requests_are_answered_while_a_split_is_computed(explored, monkeypatch):
    monkeypatch.setattr("shadow_gnn.explore.splits._STEP", 2)
    explorer = open_explorer(explored("rich").runs["run"].folder.parent)
    assert explorer.split("run", "train")["progress"] < 1
    seen = set()
    while (found := explorer.split("run", "train"))["progress"] < 1:
        seen.add(found["progress"])
        assert scope(explorer, node=1, run="run")["prediction"] is not None
        first = explorer.pick(PickBody(by="wrong", run="run", split="train")).result(timeout=60)
        assert first["nodes"] == [] or first["progress"] == 1
    assert len(seen) > 2
    assert found["count"] == 60
    explorer.close()


def test_closing_leaves_a_split_unfinished(explored, monkeypatch):
    monkeypatch.setattr("shadow_gnn.explore.splits._STEP", 1)
    explorer = open_explorer(explored("rich").runs["run"].folder.parent)
    explorer.split("run", "train")
    explorer.close()
    assert not explorer._work._thread.is_alive()


def test_a_split_that_cannot_be_judged_is_refused_in_one_line(explored):
    explorer = explored("rich")
    with pytest.raises(ValueError, match="split: must be one of train, valid, test for run, got 'other'"):
        explorer.split("run", "other")
