"""Hybrids, normal runs and inputs of labels: answers are those of `shadow predict` on the same scopes."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401
from tests.rounding import ROUNDING
from tests.serve.runs import train_hybrid_run

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.changes.compact import compact
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.hybrid import open_hybrid, predict_hybrid
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.served_run import NORMAL_SCOPES, open_served
from shadow_gnn.serve.service import Service
from shadow_gnn.training.runs.run import RunOptions, train_recipe

NEW = {"features": [0.5, -1.0, 2.0], "edges": [{"to": 3}, {"to": 17}]}


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory):
    return train_hybrid_run(tmp_path_factory.mktemp("hybrid"))


def serve(folder, log=None, extractor=None, notes=None):
    note = (lambda _: None) if notes is None else notes.append
    run = open_served(folder / "run", open_graph(folder / "g"), extractor, note=note)
    return TestClient(create_app(Service(run, log)))


def rows(client, **body):
    response = client.post("/v1/predict", json=body)
    assert response.status_code == 200, response.text
    return response.json()["predictions"]


def probabilities(found):
    return np.array([list(row["probabilities"].values()) for row in found])


@pytest.mark.parametrize("extractor", [None, PprExtractor(topk=10), PprExtractor(topk=30)])
def test_a_hybrid_is_answered_as_predicted_on_scopes(hybrid, extractor):
    graph = open_graph(hybrid / "g")
    nodes = [int(graph.splits["train"][0]), int(graph.splits["test"][0]), 3]
    with serve(hybrid, extractor=extractor) as client:
        found = rows(client, nodes=nodes)
    expected = predict_hybrid(open_hybrid(hybrid / "run"), np.array(nodes), graph, extractor=extractor or NORMAL_SCOPES)
    np.testing.assert_allclose(probabilities(found), expected.probability, **ROUNDING)
    assert [row["class"] for row in found] == expected.predicted.tolist()


def test_members_with_the_same_scopes_extract_them_once(hybrid):
    graph = open_graph(hybrid / "g")
    scopes = open_predictor(hybrid / "run" / "scopes", graph)
    with serve(hybrid, extractor=PprExtractor(topk=10)) as client:
        (row,) = rows(client, nodes=[3])
    assert row["num_nodes"] == len(scopes.extractors[0](graph, [3]).node_id)


def test_new_nodes_and_updates_of_a_hybrid_are_as_imported(hybrid, tmp_path):
    with serve(hybrid, tmp_path / "log") as client:
        (fresh,) = rows(client, new_nodes=[NEW])
        assert client.post("/v1/graph/nodes", json={"nodes": [NEW]}).json()["ids"] == [120]
        assert client.post("/v1/graph/edges", json={"edges": [{"from": 4, "to": 120}]}).status_code == 200
        added = rows(client, nodes=[120, 3, 4])
    compact(hybrid / "g", tmp_path / "log", tmp_path / "all")
    expected = predict_hybrid(
        open_hybrid(hybrid / "run"), np.array([120, 3, 4]), open_graph(tmp_path / "all"), extractor=NORMAL_SCOPES
    )
    np.testing.assert_allclose(probabilities(added), expected.probability, **ROUNDING)
    assert np.abs(probabilities([fresh]) - probabilities(added[:1])).max() > 0


def test_thresholds_of_several_labels_are_those_of_the_mean(tmp_path):
    folder = train_hybrid_run(tmp_path, with_labels(communities(), "multilabel"))
    expected = predict_hybrid(
        open_hybrid(folder / "run"), np.arange(20), open_graph(folder / "g"), extractor=NORMAL_SCOPES
    )
    with serve(folder) as client:
        found = rows(client, nodes=list(range(20)))
    names = list(found[0]["probabilities"])
    assert [[name in row["labels"] for name in names] for row in found] == expected.predicted.astype(bool).tolist()


def test_a_hybrid_has_no_embedding(hybrid):
    with serve(hybrid) as client:
        answer = client.post("/v1/predict", json={"nodes": [1], "embedding": True})
    assert answer.status_code == 422
    assert "embedding must be left out for a hybrid" in answer.json()["error"]


def test_a_normal_run_answers_on_scopes_and_says_so(tmp_path):
    graph = communities()
    save_graph(graph, tmp_path / "g")
    recipe = small_recipe(training__num_epochs=1, extractor=None, training__method="full", inputs__labels=True)
    train_recipe(recipe, tmp_path / "run", options=RunOptions(graph=graph))
    for extractor in (None, PprExtractor(topk=15)):
        notes = []
        with serve(tmp_path, extractor=extractor, notes=notes) as client:
            found = rows(client, nodes=[3, 17])
        predictor = open_predictor(tmp_path / "run", open_graph(tmp_path / "g"), extractor=extractor or NORMAL_SCOPES)
        np.testing.assert_allclose(probabilities(found), predictor.predict([3, 17]).probability, **ROUNDING)
        (line,) = [note for note in notes if "scopes" in note]
        assert "trained on the whole graph" in line


def test_explanations_of_a_hybrid_are_weighted_means(hybrid):
    from shadow_gnn.studies.explain.explain import explain

    graph, weights = open_graph(hybrid / "g"), open_hybrid(hybrid / "run").weights
    with serve(hybrid) as client:
        answer = client.post("/v1/explain", json={"node": 3, "top": 1000}).json()
    members = {
        "normal": open_predictor(hybrid / "run" / "normal", graph, extractor=NORMAL_SCOPES),
        "scopes": open_predictor(hybrid / "run" / "scopes", graph),
    }
    each = {name: explain(one, None, 3, explained_class=answer["class"]) for name, one in members.items()}
    assert answer["answer"] == pytest.approx(sum(weights[name] * one.answer for name, one in each.items()), abs=1e-4)
    expected = np.zeros(120)
    for name, one in each.items():
        np.add.at(expected, one.node_id, weights[name] * one.node_contribution)
    found = np.zeros(120)
    for row in answer["nodes"]:
        found[row["id"]] = row["contribution"]
    np.testing.assert_allclose(found, expected, atol=1e-4)
