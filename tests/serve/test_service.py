"""Answers over HTTP: those of `shadow predict`, for known nodes, for new ones and after updates."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.rounding import ROUNDING
from tests.serve.runs import KINDS, open_service

from shadow_gnn.extract import PprExtractor, Seeds
from shadow_gnn.extract.retrieval import retrieve
from shadow_gnn.graph.changes.compact import compact
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.recommendations import recommend
from shadow_gnn.serve import requests, writer
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.servable import check_servable
from shadow_gnn.serve.service import _Call
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

NODE_KINDS = [kind for kind in KINDS if kind != "links"]


@pytest.fixture
def serve(trained, tmp_path):
    """Return a client of a service, by kind of run; the log is kept until the end of the test."""
    clients = []

    def start(kind="plain", **options):
        service = open_service(trained(kind), tmp_path / "log", **options)
        client = TestClient(create_app(service), raise_server_exceptions=False)
        client.__enter__()
        client.service = service
        clients.append(client)
        return client

    def stop():
        while clients:
            clients.pop().__exit__(None, None, None)

    start.stop = stop
    yield start
    stop()


def ask(client, path, body, status=200, method="POST"):
    response = client.request(method, path, json=body)
    assert response.status_code == status, response.text
    return response.json()


def edge(kind, sender, receiver, value=2.0):
    values = {"weight": value, "attributes": [value, 1.0]} if kind.startswith("rich") else {}
    return {"from": sender, "to": receiver, **values}


def new_node(kind, edges, name=None, features=(0.5, -1.0, 2.0)):
    rows = []
    for way, other in edges:
        row = edge(kind, 0, 0)
        del row["from"]
        del row["to"]
        rows.append({way: other, **row})
    return {"features": list(features), "edges": rows, **({} if name is None else {"name": name})}


def assert_predicted(rows, predictor, targets):
    """Compare answers with those of a predictor."""
    expected = predictor.predict(np.array(targets), embedding=True)
    for number, row in enumerate(rows):
        if expected.kind == "values":
            np.testing.assert_allclose(row["value"], expected.predicted[number], rtol=1e-4, atol=1e-3)
        else:
            found = np.array(list(row["probabilities"].values()))
            np.testing.assert_allclose(found, expected.probability[number], **ROUNDING)
        if "embedding" in row:
            np.testing.assert_allclose(row["embedding"], expected.embedding[number], **ROUNDING)


def predictor_of(folder, graph):
    return Predictor(read_model(folder / "run"), open_graph(graph))


@pytest.mark.parametrize("kind", NODE_KINDS)
def test_known_nodes_are_answered_as_by_a_predictor(kind, serve, trained):
    client = serve(kind)
    found = ask(client, "/v1/predict", {"nodes": [3, 17, 3, 119], "embedding": True})
    assert [row["id"] for row in found["predictions"]] == [3, 17, 3, 119]
    assert found["graph_version"] == 0
    predictor = predictor_of(trained(kind), trained(kind) / "g")
    assert_predicted(found["predictions"], predictor, [3, 17, 3, 119])
    sizes = [row["num_nodes"] for row in found["predictions"]]
    assert sizes[0] == sizes[2] > 1


@pytest.mark.parametrize("kind", NODE_KINDS)
def test_new_nodes_are_answered_as_if_imported_and_updates_as_if_folded(kind, serve, trained, tmp_path):
    """The graph with the same nodes comes from the log of another service, folded into a folder."""
    client = serve(kind)
    named = KINDS[kind][0].node_name is not None
    both = [
        new_node(kind, [("to", 3), ("from", 17), ("to", {"new": 1})], "x" if named else None),
        new_node(kind, [("to", 5)], "y" if named else None, (1.0, 2.0, -3.0)),
    ]
    live = ask(client, "/v1/predict", {"nodes": [3, 4], "new_nodes": both, "embedding": True})
    assert [(row["id"], row["new"]) for row in live["predictions"]] == [(3, None), (4, None), (None, 0), (None, 1)]
    assert client.service.live.graph.num_nodes == 120
    before = ask(client, "/v1/predict", {"nodes": [3, 4]})
    ids = ask(client, "/v1/graph/nodes", {"nodes": both})["ids"]
    assert ids == [120, 121]
    added = ask(client, "/v1/predict", {"nodes": [3, 4, 120, 121], "embedding": True})
    ask(client, "/v1/graph/edges", {"edges": [edge(kind, 4, 120), edge(kind, 9, 10)]})
    ask(client, "/v1/graph/edges", {"edges": [{"from": 3, "to": 120}, {"from": 120, "to": 3}]}, method="DELETE")
    ask(client, "/v1/graph/nodes", {"nodes": [7]}, method="DELETE")
    last = ask(client, "/v1/predict", {"nodes": [3, 4, 120, 121, 7, 9], "embedding": True})
    assert (added["graph_version"], last["graph_version"]) == (1, 4)
    serve.stop()
    plain = open_service(trained(kind), tmp_path / "log2")
    from concurrent.futures import wait

    from shadow_gnn.serve.requests import AddNodesBody

    wait([plain.update(AddNodesBody.model_validate({"nodes": both}))])
    plain.close()
    compact(trained(kind) / "g", tmp_path / "log2", tmp_path / "one")
    compact(trained(kind) / "g", tmp_path / "log", tmp_path / "all")
    one, final = (predictor_of(trained(kind), tmp_path / name) for name in ("one", "all"))
    assert one.graph.num_nodes == 122
    assert_predicted(live["predictions"], one, [3, 4, 120, 121])
    assert_predicted(added["predictions"], one, [3, 4, 120, 121])
    assert_predicted(last["predictions"], final, [3, 4, 120, 121, 7, 9])
    assert_predicted(before["predictions"], predictor_of(trained(kind), trained(kind) / "g"), [3, 4])
    assert client.service.metrics.updates.labels("made")._value.get() == 4


def test_a_restart_replays_the_log(serve):
    client = serve()
    ask(client, "/v1/graph/edges", {"edges": [{"from": 1, "to": 2}]})
    scope = ask(client, "/v1/scope", {"node": 1})
    serve.stop()
    again = ask(serve(), "/v1/scope", {"node": 1})
    assert again == scope
    assert [1, 2] in again["edges"]


def test_requests_in_one_batch_do_not_see_each_other_s_new_nodes(serve, trained):
    client = serve("rich")
    service = client.service
    from shadow_gnn.serve.requests import PredictBody

    bodies = [
        {"new_nodes": [new_node("rich", [("to", node), ("to", "n3")], features=(float(node), 0.0, 1.0))], "nodes": [3]}
        for node in (5, 6, 7)
    ]
    alone = [ask(client, "/v1/predict", body)["predictions"] for body in bodies]
    asks = []
    real = service._work.submit
    service._work.submit = lambda work, size=1: asks.append(work.ask) or real(work, size)
    futures = [service.predict(PredictBody.model_validate(body)) for body in bodies]
    for future in futures:
        future.result()
    results, stages = service.scorer.score(asks)
    assert stages.num_targets == 6
    for result, expected in zip(results, alone, strict=True):
        found = result.predictions.probability
        rows = np.array([list(row["probabilities"].values()) for row in expected])
        np.testing.assert_allclose(found, rows, **ROUNDING)


def test_names_classes_and_columns(serve):
    client = serve("rich")
    by_name = ask(client, "/v1/predict", {"nodes": ["n3"]})["predictions"][0]
    assert by_name["name"] == "n3"
    assert list(by_name["probabilities"]) == ["red", "green", "blue"]
    assert by_name["class_name"] == ["red", "green", "blue"][by_name["class"]]
    node = new_node("rich", [("to", "n5")])
    listed = ask(client, "/v1/predict", {"new_nodes": [{**node, "features": [0.0, 2.0, 0.0]}]})
    named = ask(client, "/v1/predict", {"new_nodes": [{**node, "features": {"b": 2.0}}]})
    assert listed["predictions"] == named["predictions"]


def test_links_and_recommendations(serve, trained):
    client = serve("links")
    predictor = predictor_of(trained("links"), trained("links") / "g")
    pairs = [[3, 5], [5, 3], [10, 60]]
    found = ask(client, "/v1/links", {"pairs": pairs})["probabilities"]
    np.testing.assert_allclose(found, predictor.predict(np.array(pairs)).probability, **ROUNDING)
    best = ask(client, "/v1/links", {"recommend": 4, "top": 5, "num_candidates": 30})
    expected = recommend(predictor, 4, top=5, num_candidates=30)
    assert best["num_candidates"] == expected.num_candidates
    np.testing.assert_allclose([row["probability"] for row in best["recommended"]], expected.probability, **ROUNDING)
    assert "use /v1/links" in ask(client, "/v1/predict", {"nodes": [1]}, 422)["error"]


def test_retrieval_and_scopes(serve, trained):
    client = serve("rich")
    graph = open_graph(trained("rich") / "g")
    body = {"seeds": [{"node": "n4", "weight": 2.0}, {"node": 9}], "topk": 20}
    found = ask(client, "/v1/retrieve", body)
    expected = retrieve(graph, Seeds({4: 2.0, 9: 1.0}), PprExtractor(topk=20))
    assert found["nodes"] == expected.rows(graph.node_name)
    assert found["edges"] == expected.edges.tolist()
    text = ask(client, "/v1/retrieve", {**body, "format": "text", "relation": "knows"})["text"]
    assert text.splitlines() == expected.lines(graph.node_name, "knows")
    assert " — knows — n" in text
    scope = ask(client, "/v1/scope", {"node": "n4"})
    assert scope["nodes"][0] == {"id": 4, "name": "n4", "hop": 0, "score": scope["nodes"][0]["score"]}


@pytest.mark.parametrize("kind", ["plain", "khop", "branches"])
def test_cached_scopes_are_never_stale(kind, serve, trained):
    """After each random update, answers are those of a service that caches nothing."""
    client = serve(kind)
    bare = open_service(trained(kind), cached=0)
    other = TestClient(create_app(bare))
    rng = np.random.default_rng(0)
    nodes = list(range(0, 120, 11))
    with other:
        for step in range(12):
            first = [row["num_nodes"] for row in ask(client, "/v1/predict", {"nodes": nodes})["predictions"]]
            assert len(first) == len(nodes)
            a, b = rng.choice(120, 2, replace=False).tolist()
            for one in (client, other):
                ask(one, "/v1/graph/edges", {"edges": [{"from": a, "to": b}]}, method="POST" if step % 3 else "DELETE")
            found, expected = (ask(one, "/v1/predict", {"nodes": nodes})["predictions"] for one in (client, other))
            for left, right in zip(found, expected, strict=True):
                assert left["num_nodes"] == right["num_nodes"]
                np.testing.assert_allclose(
                    list(left["probabilities"].values()), list(right["probabilities"].values()), **ROUNDING
                )
    assert all(cache.hits > 0 for cache in client.service.scorer.caches)


@pytest.mark.parametrize(
    ("path", "body", "status", "line"),
    [
        ("/v1/predict", {}, 422, "nodes and new_nodes must be from 1 to 50, got 0"),
        ("/v1/predict", {"nodes": list(range(51))}, 422, "must be from 1 to 50, got 51"),
        ("/v1/predict", {"nodes": [120]}, 422, "node: must be node ids from 0 to 119, got 120"),
        ("/v1/predict", {"nodes": [-1]}, 422, "body.nodes.0"),
        ("/v1/predict", {"nodes": [10**30]}, 422, "body.nodes.0"),
        ("/v1/predict", {"nodes": [True]}, 422, "body.nodes.0"),
        ("/v1/predict", {"nodes": ["nobody"]}, 422, "node: must be a name of the graph, got 'nobody'"),
        ("/v1/predict", {"nodes": [1.5]}, 422, "body.nodes.0"),
        ("/v1/predict", {"nodes": [1], "file": "/etc/passwd"}, 422, "body.file: Extra inputs are not permitted"),
        ("/v1/predict", {"new_nodes": [{}]}, 422, "features: must be given for every new node"),
        ("/v1/predict", {"new_nodes": [{"features": [1.0]}]}, 422, "features: must be 3 numbers, got 1"),
        ("/v1/predict", {"new_nodes": [{"features": [1.0, 2.0, 1e300]}]}, 422, "features must be finite numbers"),
        ("/v1/predict", {"new_nodes": [{"features": {"z": 1.0}}]}, 422, "must be of columns of the graph, got 'z'"),
        ("/v1/predict", {"new_nodes": [{"features": [0, 0, 0], "edges": [{}]}]}, 422, "must each have `to` or `from`"),
        (
            "/v1/predict",
            {"new_nodes": [{"features": [0.0, 0.0, 0.0], "edges": [{"to": {"new": 0}}]}]},
            422,
            "must join two different nodes",
        ),
        (
            "/v1/predict",
            {"new_nodes": [{"features": [0.0, 0.0, 0.0], "edges": [{"to": 1}]}]},
            422,
            "weight must be given for every edge",
        ),
        (
            "/v1/predict",
            {"new_nodes": [{"features": [0.0, 0.0, 0.0], "edges": [edge("rich", 1, 1) | {"to": 2}]}]},
            422,
            "must each have `to` or `from`, and not both",
        ),
        ("/v1/graph/edges", {"edges": [edge("rich", 1, 1)]}, 422, "edges must join two different nodes, got 1"),
        ("/v1/graph/edges", {"edges": [edge("rich", 1, 2), edge("rich", 2, 1)]}, 422, "edges: must not repeat"),
        ("/v1/graph/edges", {"edges": [edge("rich", 1, 2, 1e300)]}, 422, "weights must be positive and finite"),
        ("/v1/graph/edges", {"edges": [edge("rich", 1, 2, -1.0)]}, 422, "weights must be positive and finite"),
        ("/v1/graph/edges", {"edges": []}, 422, "body.edges"),
        ("/v1/graph/nodes", {"nodes": [{"features": [0.0, 0.0, 0.0]}]}, 422, "name: must be given for every new node"),
        ("/v1/graph/nodes", {"nodes": [new_node("rich", [], "n3")]}, 422, "'n3' is taken"),
        ("/v1/retrieve", {"seeds": [{"node": 1, "weight": 0.0}]}, 422, "body.seeds.0.weight"),
        ("/v1/retrieve", {"seeds": [{"node": 1}], "topk": 10**9}, 422, "topk must be from 1 to 10000"),
        ("/v1/scope", {"node": 1, "branch": 1}, 422, "branch must be below 1, got 1"),
        ("/v1/links", {"pairs": [[1, 2]]}, 422, "run must be one that predicts links"),
        ("/v1/none", {}, 404, "Not Found"),
    ],
)
def test_wrong_requests_are_one_line_and_change_nothing(path, body, status, line, serve):
    client = serve("rich", limits=Limits(nodes=50))
    error = ask(client, path, body, status)["error"]
    assert line in error
    assert "\n" not in error
    assert client.service.live.version == 0


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"nodes": [' + b"9" * 5000 + b"]}", 400),
        (b'{"nodes": [NaN]}', 422),
        (b'{"new_nodes": [{"features": [NaN, Infinity, 1e999]}]}', 422),
        (b'{"nodes": ["\\ud800"]}', 422),
        (b'{"new_nodes": [{"features": {"\\ud800": 1.0}}]}', 422),
        (b"\xff\xfe", 400),
        (b'{"nodes": [1], "x": "' + b"a" * 2_000_000 + b'"}', 413),
    ],
)
def test_hostile_bodies_are_refused(data, status, serve):
    client = serve("rich", limits=Limits(body_bytes=1_000_000))
    response = client.post("/v1/predict", content=data, headers={"Content-Type": "application/json"})
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    assert ask(client, "/v1/predict", {"nodes": [1]})


def test_a_key_makes_an_update_once(serve):
    client = serve("rich")
    body = {"nodes": [new_node("rich", [("to", "n1")], "fresh")], "key": "k1"}
    first = ask(client, "/v1/graph/nodes", body)
    ask(client, "/v1/graph/nodes", {"nodes": ["fresh"]}, method="DELETE")
    assert ask(client, "/v1/graph/nodes", body) == first
    assert client.service.live.graph.num_nodes == 121
    error = ask(client, "/v1/graph/edges", {"edges": [edge("rich", 1, 2)], "key": "k1"}, 409)["error"]
    assert "key must be new" in error


def test_a_token_is_demanded_and_compared(serve, trained):
    service = open_service(trained("plain"))
    with TestClient(create_app(service, token="secret-1")) as client:
        assert client.post("/v1/predict", json={"nodes": [1]}).status_code == 401
        assert client.post("/v1/predict", json={"nodes": [1]}, headers={"Authorization": "Bearer x"}).status_code == 401
        assert client.get("/metrics").status_code == 401
        assert client.get("/healthz").status_code == 200
        good = client.post("/v1/predict", json={"nodes": [1]}, headers={"Authorization": "Bearer secret-1"})
        assert good.status_code == 200


def test_health_readiness_and_metrics(serve):
    client = serve()
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"ready": True}
    ask(client, "/v1/predict", {"nodes": [1, 2, 3]})
    text = client.get("/metrics").text
    assert 'shadow_requests_total{path="/v1/predict",status="200"} 1.0' in text
    assert "shadow_batch_targets_sum 3.0" in text
    assert 'shadow_stage_seconds_count{stage="model"} 1.0' in text
    client.service.ready = False
    assert client.get("/readyz").status_code == 503


def test_the_description_of_every_body_has_examples_that_fit(serve):
    client = serve()
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    bodies = [kind for name, kind in vars(requests).items() if name.endswith("Body") and not name.startswith("_")]
    assert len(bodies) == 10
    for body in bodies:
        examples = schemas[body.__name__]["examples"]
        assert examples
        for example in examples:
            body.model_validate_json(json.dumps(example))


@pytest.mark.parametrize("body", [b"[" * 20_000, b'{"nodes": ["\xff"]}'])
def test_a_body_that_no_reader_of_json_takes_is_one_line(serve, body):
    answer = serve().post("/v1/predict", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()) == (400, {"error": "body: must be JSON in UTF-8 and of few levels"})


def test_a_full_queue_says_when_to_come_back(serve):
    client = serve(limits=Limits(queue=0))
    response = client.post("/v1/predict", json={"nodes": [1]})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")


def test_a_request_that_takes_too_long_is_given_up(serve):
    client = serve(limits=Limits(seconds=0.05))
    with client.service.live.lock:
        assert client.post("/v1/predict", json={"nodes": [1]}).status_code == 504
    assert client.get("/healthz").status_code == 200


def test_updates_pause_after_a_commit_while_a_prediction_runs(serve, monkeypatch):
    client, pauses = serve(), []
    monkeypatch.setattr(writer, "time", SimpleNamespace(sleep=pauses.append))
    work, updates = client.service._work, client.service.writer._updates
    begun, go = threading.Event(), threading.Event()

    def update(sender):
        ask(client, "/v1/graph/edges", {"edges": [edge("plain", sender, 17)]})
        while updates.busy:
            time.sleep(0.001)

    update(3)
    assert pauses == []
    prediction = work.submit(_Call(lambda: begun.set() or go.wait()))
    begun.wait()
    update(4)
    go.set()
    prediction.result()
    assert pauses == [writer.PAUSE]


def test_a_full_disk_refuses_updates_and_predictions_go_on(serve, monkeypatch):
    import errno
    import os

    client = serve()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    body = {"edges": [{"from": 1, "to": 2}]}
    monkeypatch.setattr(os, "pwrite", full)
    assert "No space left" in ask(client, "/v1/graph/edges", body, 507)["error"]
    ask(client, "/v1/predict", {"nodes": [1]})
    monkeypatch.undo()
    assert ask(client, "/v1/graph/edges", body)["graph_version"] == 1


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"inputs__smooth": 1}, "must have no smoothed inputs"),
        ({"inputs__smooth_labels": 1}, "must have no smoothed labels"),
        ({"inputs__graph_degree": True}, "must not have inputs.graph_degree"),
        ({"extractor": None, "training__method": "full"}, "must have an extractor"),
        ({"extractor": {"kind": "rwr", "topk": 5, "num_walks": 20}}, "extractor must be ppr, khop, full, node, heat"),
    ],
)
def test_runs_that_cannot_be_right_are_refused_at_the_start(changes, line, tmp_path):
    graph = communities()
    save_graph(graph, tmp_path / "g")
    train_recipe(small_recipe(training__num_epochs=1, **changes), tmp_path / "run", options=RunOptions(graph=graph))
    with pytest.raises(ValueError, match=line) as error:
        open_service(tmp_path)
    assert "\n" not in str(error.value)


def test_columns_in_another_order_are_refused(trained):
    graph = open_graph(trained("rich") / "g")
    turned = DenseFeatures(np.ascontiguousarray(graph.x.matrix[:, ::-1]))
    other = replace(graph, x=turned, column_names=graph.column_names[::-1], path=None)
    with pytest.raises(ValueError, match="columns of the graph must be in the order of training"):
        check_servable(Predictor(read_model(trained("rich") / "run"), other))
