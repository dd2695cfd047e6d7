"""Several runs on one graph, and runs that are read again while requests are answered."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.rounding import ROUNDING

from shadow_gnn.base.errors import RunError
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.served_run import open_shared_graph
from shadow_gnn.serve.start import Start
from shadow_gnn.serve.writer import LocalWriter
from shadow_gnn.training.runs.run import RunOptions, train_recipe


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A graph `g`, two runs of it, and a run of another kind of task."""
    place = tmp_path_factory.mktemp("runs")
    save_graph(communities(), place / "g")
    graph = open_graph(place / "g")
    for name, changes in {"one": {}, "two": {"seed": 1}, "links": {"task__kind": "link"}}.items():
        recipe = small_recipe(graph=str(place / "g"), training__num_epochs=1, **changes)
        train_recipe(recipe, place / name, options=RunOptions(graph=graph))
    return place


def start(folder, log=None, **runs):
    graph = open_graph(folder / "g")
    given = Start({name: str(path) for name, path in runs.items()})
    service = given.service(graph, lambda: LiveGraph(graph, log), lambda live, limits: LocalWriter(live, limits))
    client = TestClient(create_app(service))
    client.service = service
    return client


def predict(client, node=3, **body):
    response = client.post("/v1/predict", json={"nodes": [node], **body})
    assert response.status_code == 200, response.text
    return response.json()


def assert_of(answer, run, node=3):
    expected = open_predictor(run, open_graph(run.parent / "g")).predict([node])
    found = list(answer["predictions"][0]["probabilities"].values())
    np.testing.assert_allclose(found, expected.probability[0], **ROUNDING)


def test_runs_are_named_and_share_one_live_graph(folder):
    with start(folder, a=folder / "one", b=folder / "two", c=folder / "links") as client:
        assert_of(predict(client), folder / "one")
        assert_of(predict(client, run="a"), folder / "one")
        assert_of(predict(client, run="b"), folder / "two")
        assert predict(client)["run"] == "a"
        versions = {predict(client, run=name)["model_version"] for name in "ab"}
        assert len(versions) == 2
        pairs = client.post("/v1/links", json={"pairs": [[1, 2]], "run": "c"})
        assert pairs.status_code == 200
        assert client.post("/v1/links", json={"pairs": [[1, 2]]}).status_code == 422
        assert client.post("/v1/graph/edges", json={"edges": [{"from": 1, "to": 2}]}).json()["graph_version"] == 1
        assert {predict(client, run=name)["graph_version"] for name in "ab"} == {1}
        assert client.post("/v1/scope", json={"node": 1, "run": "b"}).json()["run"] == "b"
        wrong = client.post("/v1/predict", json={"nodes": [1], "run": "z"})
        assert (wrong.status_code, wrong.json()["error"]) == (422, "run: must be one of a, b, c, got 'z'")
        state = client.get("/v1/state").json()
        assert list(state["runs"]) == ["a", "b", "c"]
        assert (state["graph_version"], state["num_nodes"], state["follows"]) == (1, 120, False)


def test_several_requests_of_several_runs_in_one_batch_have_their_own_answers(folder):
    with start(folder, a=folder / "one", b=folder / "two") as client:
        service = client.service
        from shadow_gnn.serve.requests import PredictBody

        with service.live.lock:  # All wait together.
            futures = [(name, service.predict(PredictBody(nodes=[3], run=name))) for name in "abab"]
        for name, future in futures:
            assert_of(future.result(), folder / {"a": "one", "b": "two"}[name])


def test_a_newer_run_is_read_without_a_lost_request(folder, tmp_path):
    link = tmp_path / "run"
    link.symlink_to(folder / "one")
    with start(folder, a=link) as client:
        assert_of(predict(client), folder / "one")
        (tmp_path / "next").symlink_to(folder / "two")
        os.replace(tmp_path / "next", link)
        stop, answers = threading.Event(), []

        def ask():
            while not stop.is_set():
                answers.append(client.post("/v1/predict", json={"nodes": [3]}))

        callers = [threading.Thread(target=ask) for _ in range(3)]
        for caller in callers:
            caller.start()
        state = client.post("/v1/reload", json={}).json()
        after = predict(client)
        stop.set()
        for caller in callers:
            caller.join()
        assert_of(after, folder / "two")
        assert after["model_version"] == state["runs"]["a"]["model_version"]
        assert {answer.status_code for answer in answers} == {200}
        for answer in answers:  # Each answer is of the run that it names.
            content = answer.json()
            assert_of(content, folder / ("two" if content["model_version"] == after["model_version"] else "one"))
        client.post("/v1/graph/edges", json={"edges": [{"from": 3, "to": 90}]})
        assert predict(client)["graph_version"] == 1
        assert len(client.service.live.listeners) == 1


def test_a_reload_that_fails_leaves_the_old_run(folder, tmp_path):
    link = tmp_path / "run"
    link.symlink_to(folder / "one")
    with start(folder, a=link) as client:
        before = predict(client)
        for other, line in (
            (folder / "links", "must predict classes as before"),
            (tmp_path / "none", "no such folder"),
        ):
            link.unlink()
            link.symlink_to(other)
            answer = client.post("/v1/reload", json={"run": "a"})
            assert answer.status_code == 422
            assert line in answer.json()["error"]
            assert predict(client) == before
        assert client.post("/v1/reload", json={"run": "b"}).status_code == 422


def test_a_service_of_a_predictor_alone_cannot_reload(folder):
    from shadow_gnn.serve.service import Service

    service = Service(open_predictor(folder / "one"))
    with TestClient(create_app(service)) as client:
        answer = client.post("/v1/reload", json={})
        assert (answer.status_code, "started from run folders" in answer.json()["error"]) == (422, True)


def test_runs_of_different_graphs_are_refused(folder, tmp_path):
    save_graph(communities(), tmp_path / "other")
    recipe = small_recipe(graph=str(tmp_path / "other"), training__num_epochs=1)
    train_recipe(recipe, tmp_path / "run", options=RunOptions(graph=open_graph(tmp_path / "other")))
    runs = {"a": folder / "one", "b": tmp_path / "run"}
    with pytest.raises(ValueError, match="runs must be of one graph") as error:
        open_shared_graph(runs, None)
    assert "\n" not in str(error.value)
    assert open_shared_graph(runs, str(folder / "g")).num_nodes == 120
    assert open_shared_graph({"a": folder / "one", "b": folder / "two"}, None).path is not None


def test_limits_hold_for_explanations(folder):
    with start(folder, a=folder / "one") as client:
        client.service.limits = Limits(new_nodes=1)
        new = {"features": [0.0, 0.0, 0.0]}
        answer = client.post("/v1/explain", json={"new_nodes": [new, new]})
        assert (answer.status_code, "new_nodes must be from 0 to 1" in answer.json()["error"]) == (422, True)


def test_names_of_runs(folder):
    from shadow_gnn.cli.prediction.serve import _named_runs

    one, two = folder / "one", folder / "two"
    assert list(_named_runs(one, [f"b={two}"]).items()) == [("one", one), ("b", two)]
    assert list(_named_runs(None, [f"b={two}", f"a={one}"])) == ["b", "a"]
    for run, named, line in (
        (None, [], "a run must be given"),
        (one, [f"one={two}"], "must have different names"),
        (None, ["=x"], "must be NAME=FOLDER"),
        (None, [f"a={folder / 'none'}"], "no such folder"),
    ):
        with pytest.raises((ValueError, RunError), match=line):
            _named_runs(run, named)
