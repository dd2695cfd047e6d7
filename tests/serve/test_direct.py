"""Direct: a request that skips the framework gets the answer that the framework gives."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient
from pydantic import BaseModel
from tests.serve.runs import open_service

from shadow_gnn.graph.changes.live_graph import KeyConflict
from shadow_gnn.serve.app import create_app, guarded_app
from shadow_gnn.serve.direct import Direct
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.metrics import ServiceMetrics

DIRECT, USUAL = "application/json", "application/json; charset=utf-8"

REQUESTS = {
    "right": ("/v1/predict", b'{"nodes": [3]}', 200),
    "a new node": ("/v1/predict", b'{"new_nodes": [{"features": [1, 2.5, 0], "edges": [{"to": 3}]}]}', 200),
    "seeds": ("/v1/retrieve", b'{"seeds": [{"node": 1}, {"node": 2, "weight": 3}]}', 200),
    "not JSON": ("/v1/predict", b'{"nodes": [3', 400),
    "nothing": ("/v1/predict", b"", 422),
    "deep": ("/v1/predict", b"[" * 20_000, 400),
    "wrong type": ("/v1/predict", b'{"nodes": [true]}', 422),
    "not a number": ("/v1/predict", b'{"new_nodes": [{"features": [NaN, 0, 0]}]}', 422),
    "float as id": ("/v1/predict", b'{"nodes": [3.0]}', 422),
    "huge id": ("/v1/predict", b'{"nodes": [1e400]}', 422),
    "unknown field": ("/v1/predict", b'{"nodes": [3], "more": 1}', 422),
    "unknown node": ("/v1/predict", b'{"nodes": [100000]}', 422),
    "self-edge": ("/v1/graph/edges", b'{"edges": [{"from": 3, "to": 3}]}', 422),
    "link of a run for nodes": ("/v1/links", b'{"pairs": [[1, 2]]}', 422),
    "unknown path": ("/v1/nowhere", b"{}", 404),
}


@pytest.fixture(scope="module")
def client(trained, tmp_path_factory):
    app = create_app(open_service(trained("plain"), tmp_path_factory.mktemp("log") / "log"))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("name", REQUESTS)
def test_both_ways_give_one_answer(client, name):
    path, body, status = REQUESTS[name]
    answers = [client.post(path, content=body, headers={"content-type": kind}) for kind in (DIRECT, USUAL)]
    assert [answer.status_code for answer in answers] == [status, status]
    assert answers[0].content == answers[1].content
    assert answers[0].headers == answers[1].headers


def test_right_bodies_skip_the_framework_and_wrong_ones_do_not(client, monkeypatch):
    found = []
    answer = Direct.answer

    async def noting(self, *given):
        found.append(await answer(self, *given))
        return found[-1]

    monkeypatch.setattr(Direct, "answer", noting)
    for name in ("right", "seeds", "unknown node", "wrong type", "unknown path"):
        path, body, _ = REQUESTS[name]
        client.post(path, content=body, headers={"content-type": DIRECT})
    assert [one is not None for one in found] == [True, True, True, False, False]


class Body(BaseModel):
    number: int


def test_only_endpoints_with_nothing_but_a_body_are_direct():
    guarded = SimpleNamespace(limits=Limits(), metrics=ServiceMetrics())
    app = guarded_app(guarded, token=None, lifespan=None)

    @app.post("/v1/body")
    async def alone(body: Body) -> JSONResponse:
        raise KeyConflict(f"number {body.number} is taken")

    @app.post("/v1/query")
    async def with_query(body: Body, more: int) -> JSONResponse:
        return JSONResponse({"sum": body.number + more})

    with TestClient(app, raise_server_exceptions=False) as other:
        answers = [other.post(path, json={"number": 1}) for path in ("/v1/body", "/v1/query?more=2", "/v1/query")]
    assert [(answer.status_code, json.loads(answer.content)) for answer in answers] == [
        (409, {"error": "number 1 is taken"}),
        (200, {"sum": 3}),
        (422, {"error": "query.more: Field required"}),
    ]
