"""Hostile requests of a service: bodies without end, values out of range, nodes that are not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.attacks.attempt import Attack

Build = Callable[[Path], Callable[[], object]]


@cache
def trained(kind: str, folder: Path) -> Path:
    """Train a run of some kind once."""
    from tests.serve.runs import train

    return train(kind, folder)


def request(path: str, body: Any, *, kind: str = "plain", method: str = "POST", **headers: str) -> Build:
    """Return a request to a service of a run of some kind; its answer becomes an error of one line."""

    def build(place: Path) -> Callable[[], object]:
        from fastapi.testclient import TestClient
        from tests.serve.runs import open_service

        from shadow_gnn.serve.app import create_app

        folder = trained(kind, place.parent / f"trained {kind}")
        content = body if isinstance(body, bytes) else json.dumps(body).encode()

        def action() -> object:
            with TestClient(create_app(open_service(folder, place / "log"))) as client:
                given = {"content-type": "application/json", **headers}
                answer = client.request(method, f"/v1/{path}", content=content, headers=given)
            if answer.status_code < 400:
                return answer.text
            raise ValueError(f"{answer.status_code}: {answer.json()['error']}")

        return action

    return build


DEEP = b"[" * 100_000
NEW = {"features": [1.0, 2.0, 3.0]}

ATTACKS = {
    "request_of_nothing": Attack(request("predict", b""), "422: body: Field required"),
    "request_of_deep_lists": Attack(
        request("predict", b'{"nodes": ' + DEEP), "400: body: must be JSON in UTF-8 and of few levels"
    ),
    "request_of_a_list": Attack(
        request("predict", []), "422: body: Input should be a valid dictionary or object to extract fields from"
    ),
    "request_that_is_not_utf8": Attack(
        request("predict", b'{"nodes": ["\xff"]}'), "400: body: must be JSON in UTF-8 and of few levels"
    ),
    "request_of_an_unknown_key": Attack(
        request("predict", {"nodes": [1], "__class__": 1}), "422: body.__class__: Extra inputs are not permitted"
    ),
    "request_of_a_node_that_is_not_there": Attack(
        request("predict", {"nodes": [5000]}), "422: node: must be node ids from 0 to 119, got 5000"
    ),
    "request_of_a_negative_node": Attack(
        request("predict", {"nodes": [-1]}),
        "422: body.nodes.0.constrained-int: Input should be greater than or equal to 0",
    ),
    "request_of_a_node_beyond_64_bits": Attack(
        request("predict", b'{"nodes": [' + b"9" * 40 + b"]}"),
        "422: body.nodes.0.constrained-int: Input should be less than 4611686018427387904",
    ),
    "request_of_5000_digits": Attack(
        request("predict", b'{"nodes": [' + b"9" * 5000 + b"]}"), "400: body: must be JSON in UTF-8 and of few levels"
    ),
    "request_of_a_half_node": Attack(
        request("predict", {"nodes": [1.5]}), "422: body.nodes.0.constrained-int: Input should be a valid integer"
    ),
    "request_of_a_name_in_a_plain_graph": Attack(
        request("predict", {"nodes": ["n1"]}), "422: node: must be an id, as the graph has no names, got 'n1'"
    ),
    "request_of_an_unknown_name": Attack(
        request("predict", {"nodes": ["\ud800"]}, kind="rich"),
        "422: body.nodes.0.constrained-int: Input should be a valid integer",
    ),
    "request_of_too_many_nodes": Attack(
        request("predict", {"nodes": [1] * 100_000}),
        "422: predict: nodes and new_nodes must be from 1 to 1000, got 100000",
    ),
    "request_of_infinite_features": Attack(
        request("predict", b'{"new_nodes": [{"features": [1e999, 0, 0]}]}'),
        "422: body.new_nodes.0.features.list[float].0: Input should be a finite number",
    ),
    "request_of_features_beyond_float32": Attack(
        request("predict", {"new_nodes": [{"features": [1e300, 0.0, 0.0]}]}),
        "422: predict: features must be finite numbers that float32 can hold",
    ),
    "request_of_too_few_features": Attack(
        request("predict", {"new_nodes": [{"features": [1.0]}]}), "422: features: must be 3 numbers, got 1"
    ),
    "request_of_an_edge_with_itself": Attack(
        request("predict", {"new_nodes": [NEW | {"edges": [{"to": {"new": 0}}]}]}),
        "422: edges: must join two different nodes, got a new node with itself",
    ),
    "request_of_a_new_node_that_is_not_there": Attack(
        request("predict", {"new_nodes": [NEW | {"edges": [{"to": {"new": 9}}]}]}),
        "422: edges: new must be the place of a new node, below 1, got 9",
    ),
    "request_of_a_run_that_is_a_path": Attack(
        request("predict", {"nodes": [1], "run": "../../etc"}), "422: run: must be one of default, got '../../etc'"
    ),
    "update_of_weights_in_a_plain_graph": Attack(
        request("graph/edges", {"edges": [{"from": 1, "to": 2, "weight": 2.0}]}),
        "422: edges: weight must be left out: it has none",
    ),
    "update_of_a_negative_weight": Attack(
        request(
            "graph/edges",
            {"edges": [{"from": "n1", "to": "n2", "weight": -2.0, "attributes": [1.0, 2.0]}]},
            kind="rich",
        ),
        "422: update: weights must be positive and finite numbers that float32 can hold",
    ),
    "update_of_too_many_attributes": Attack(
        request(
            "graph/edges",
            {"edges": [{"from": "n1", "to": "n2", "weight": 2.0, "attributes": [1.0] * 1000}]},
            kind="rich",
        ),
        "422: edges: attributes must be 2 numbers for each edge",
    ),
    "update_of_an_edge_twice": Attack(
        request("graph/edges", {"edges": [{"from": 1, "to": 2}, {"from": 2, "to": 1}]}),
        "422: edges: must not repeat, 1 of 2 do",
    ),
    "update_of_a_loop": Attack(
        request("graph/edges", {"edges": [{"from": 1, "to": 1}]}),
        "422: update: edges must join two different nodes, got 1 with itself",
    ),
    "update_of_nothing": Attack(
        request("graph/edges", {"edges": []}),
        "422: body.edges: List should have at least 1 item after validation, not 0",
    ),
    "update_with_a_long_key": Attack(
        request("graph/edges", {"edges": [{"from": 1, "to": 2}], "key": "k" * 999}),
        "422: body.key: String should have at most 200 characters",
    ),
    "update_of_a_name_that_is_taken": Attack(
        request("graph/nodes", {"nodes": [NEW | {"name": "n1"}]}, kind="rich"),
        "422: update: names of new nodes must be new, 'n1' is taken",
    ),
    "removal_of_a_node_that_is_not_there": Attack(
        request("graph/nodes", {"nodes": [999]}, method="DELETE"), "422: node: must be node ids from 0 to 119, got 999"
    ),
    "retrieval_around_nothing": Attack(
        request("retrieve", {"seeds": []}), "422: body.seeds: List should have at least 1 item after validation, not 0"
    ),
    "retrieval_of_too_many_nodes": Attack(
        request("retrieve", {"seeds": [{"node": 1}], "topk": 2**62}),
        "422: retrieve: topk must be from 1 to 10000, got 4611686018427387904",
    ),
    "retrieval_with_a_tiny_teleport": Attack(
        request("retrieve", {"seeds": [{"node": 1}], "teleport": 1e-17}),
        "422: body.teleport: Input should be greater than or equal to 0.01",
    ),
    "explanation_of_a_class_that_is_none": Attack(
        request("explain", {"node": 1, "class": 99}), "422: explain: class must be from 0 to 2, got 99"
    ),
    "explanation_of_nothing": Attack(
        request("explain", {}), "422: explain: request must have a node or new_nodes, and no pair"
    ),
    "scope_of_a_branch_that_is_none": Attack(
        request("scope", {"node": 1, "branch": 9}), "422: scope: branch must be below 1, got 9"
    ),
    "links_of_a_run_of_nodes": Attack(
        request("links", {"pairs": [[1, 2]]}),
        "422: links: run must be one that predicts links, this one predicts classes",
    ),
    "links_of_a_node_with_itself": Attack(
        request("links", {"pairs": [[1, 1]]}, kind="links"),
        "422: links: pairs must be of two different nodes, got 1 with itself in row 0",
    ),
    "path_that_is_not_there": Attack(request("../../etc/passwd", {}), "404: Not Found"),
    "body_that_claims_too_much": Attack(
        request("predict", {"nodes": [1]}, **{"content-length": str(2**62)}),
        "413: body: must have at most 16777216 bytes",
    ),
    "body_of_many_bytes": Attack(request("predict", b" " * (1 << 27)), "413: body: must have at most 16777216 bytes"),
}
