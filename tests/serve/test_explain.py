"""Explanations over HTTP are those of `explain`, of known nodes, new nodes and pairs."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.communities import one_thread  # noqa: F401
from tests.rounding import ROUNDING
from tests.serve.runs import KINDS, open_service

from shadow_gnn.graph.changes.compact import compact
from shadow_gnn.graph.store import open_graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.serve.app import create_app
from shadow_gnn.studies.explain.explain import explain
from shadow_gnn.training.model_file import read_model


def ask(client, body, status=200):
    response = client.post("/v1/explain", json=body)
    assert response.status_code == status, response.text
    return response.json()


def assert_equal(answer, expected, first_new=120):
    """Compare an answer with an Explanation in a graph where new nodes have ids from first_new on."""

    def ids(rows, end=None):
        parts = [row if end is None else row[end] for row in rows]
        return [part["id"] if part["id"] is not None else first_new + part["new"] for part in parts]

    assert answer["answer"] == pytest.approx(expected.answer, abs=1e-4)
    assert answer["method"] == expected.method
    size = first_new + 10
    found, wanted = np.zeros(size), np.zeros(size)
    found[ids(answer["nodes"])] = [row["contribution"] for row in answer["nodes"]]
    wanted[expected.node_id] = expected.node_contribution
    np.testing.assert_allclose(found, wanted, **ROUNDING)
    edges = {
        pair: row["contribution"]
        for pair, row in zip(
            zip(ids(answer["edges"], "from"), ids(answer["edges"], "to"), strict=True), answer["edges"], strict=True
        )
    }
    for pair, share in zip(map(tuple, expected.edge.tolist()), expected.edge_contribution.tolist(), strict=True):
        assert edges.get(pair, 0.0) == pytest.approx(share, abs=1e-4)
    columns = {row["column"]: row["contribution"] for row in answer["columns"]}
    shares = [] if expected.column_contribution is None else expected.column_contribution.tolist()
    for name, share in zip(expected.column_names, shares, strict=True):
        assert columns.get(name, 0.0) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("links", "transformer")])
def test_known_and_new_nodes_are_explained_as_in_process(kind, trained, tmp_path):
    folder = trained(kind)
    rich = KINDS[kind][0].edge_weight is not None
    values = {"weight": 2.0, "attributes": [2.0, 1.0]} if rich else {}
    new = {"features": [0.5, -1.0, 2.0], "edges": [{"to": 3, **values}, {"from": 17, **values}]}
    with TestClient(create_app(open_service(folder, tmp_path / "log"))) as client:
        known = ask(client, {"node": 3, "top": 10_000})
        fresh = ask(client, {"new_nodes": [new], "top": 10_000})
        named = {"name": "x"} if rich else {}
        assert client.post("/v1/graph/nodes", json={"nodes": [{**new, **named}]}).status_code == 200
        added = ask(client, {"node": 120, "top": 10_000})
    compact(folder / "g", tmp_path / "log", tmp_path / "all")
    before, after = (Predictor(read_model(folder / "run"), open_graph(one)) for one in (folder / "g", tmp_path / "all"))
    assert_equal(known, explain(before, None, 3))
    expected = explain(after, None, 120)
    assert_equal(fresh, expected)
    assert_equal(added, expected)
    assert fresh["prediction"]["new"] == 0


def test_a_class_may_be_chosen_and_rows_are_limited(trained):
    predictor = Predictor(read_model(trained("rich") / "run"), open_graph(trained("rich") / "g"))
    with TestClient(create_app(open_service(trained("rich")))) as client:
        by_name = ask(client, {"node": "n3", "class": "blue", "top": 10_000})
        by_number = ask(client, {"node": 3, "class": 2, "top": 3})
        assert_equal(by_name, explain(predictor, None, 3, explained_class="blue"))
        assert by_number["nodes"] == by_name["nodes"][:3]
        assert by_name["class_name"] == "blue"
        assert "explain: class must be one of the model's" in ask(client, {"node": 3, "class": "pink"}, 422)["error"]
        assert "class must be from 0 to 2" in ask(client, {"node": 3, "class": 3}, 422)["error"]
        assert "must have a node or new_nodes" in ask(client, {}, 422)["error"]
        assert "node: must be" in ask(client, {"node": 120}, 422)["error"]


def test_pairs_are_explained(trained):
    predictor = Predictor(read_model(trained("links") / "run"), open_graph(trained("links") / "g"))
    with TestClient(create_app(open_service(trained("links")))) as client:
        answer = ask(client, {"pair": [3, 5], "top": 10_000})
        assert "must have a pair alone" in ask(client, {"node": 3}, 422)["error"]
    expected = explain(predictor, None, np.array([3, 5]))
    assert_equal(answer, expected)
    assert answer["prediction"]["probability"] == pytest.approx(float(expected.prediction.probability[0]), abs=1e-5)


def test_layers_without_a_quick_explanation_are_refused(trained):
    with TestClient(create_app(open_service(trained("transformer")))) as client:
        assert "must have layers that gradients explain" in ask(client, {"node": 3}, 422)["error"]
