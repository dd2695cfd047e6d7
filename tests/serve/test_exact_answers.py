"""Served answers against a graph built from scratch and predicted: known nodes, new nodes, and after updates.

SHADOW_CASES=10000 python -m pytest tests/serve/test_exact_answers.py makes ten thousand cases of each kind.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.communities import one_thread, small_recipe  # noqa: F401
from tests.extract.changed import Plain, attr_of, features_of, plain_graphs, some_edge
from tests.extract.test_changed_graph import ALLOWED

from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.serve.requests import (
    AddNodesBody,
    PredictBody,
    RemoveEdgesBody,
    RemoveNodesBody,
    SetEdgesBody,
)
from shadow_gnn.serve.service import Service
from shadow_gnn.training.model_file import TrainedModel, read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

CASES = int(os.environ.get("SHADOW_CASES", "8"))
"""Random cases of each property; 10000 for a long run."""
pytestmark = pytest.mark.timeout(max(300, CASES))
many = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
LABELS = {"train": np.array([0, 2, 4]), "valid": np.array([1]), "test": np.array([3])}

kinds = st.sampled_from([name for name in ALLOWED if name != "stochastic ppr"])
layers = st.sampled_from(["sage", "gat", "gcn"])


def labelled(graph: Graph, first: int) -> Graph:
    """Return a graph with classes, of which the model reads those of 5 nodes; first: nodes that it had at first."""
    return replace(graph, y=np.arange(graph.num_nodes) % 3, splits={"train": np.arange(min(5, first))})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return a trained model by layer and by whether edges have weights and directions."""

    @cache
    def trained(layer: str, weighted: bool, directed: bool) -> TrainedModel:
        plain = Plain(8, directed, weighted, wide=False)
        for node in range(7):
            plain.set(node, node + 1, 0.5 + node)
        graph = replace(plain.graph(), y=np.arange(8) % 3, splits=LABELS)
        recipe = small_recipe(training__num_epochs=1, model__layer=layer, inputs__labels=True)
        folder = tmp_path_factory.mktemp("runs") / "run"
        train_recipe(recipe, folder, options=RunOptions(graph=graph))
        found = read_model(folder)
        with torch.no_grad():  # Far from where training leaves it, so that every input matters.
            for number, weights in enumerate(found.model.parameters()):
                weights += 0.3 * torch.cos(torch.arange(weights.numel()) + number).view_as(weights)
        return found

    return trained


def predictor(trained: TrainedModel, plain: Plain, kind: str, first: int) -> Predictor:
    return Predictor(trained, labelled(plain.graph(), first), extractor=ALLOWED[kind], warn=lambda _: None)


def edge_values(plain: Plain, sender: int, receiver: int, value: float) -> dict[str, object]:
    return {"attributes": attr_of(value, sender, receiver), **({"weight": value} if plain.weighted else {})}


def known_edges(plain: Plain, edges: list[tuple[int, int, float]]) -> list[dict[str, object]]:
    """Return edges of a request, each pair of nodes once and no node with itself, and set them."""
    once = {(a, b) if plain.directed else (min(a, b), max(a, b)): value for a, b, value in edges if a != b}
    for (a, b), value in once.items():
        plain.set(a, b, value)
    return [{"from": a, "to": b, **edge_values(plain, a, b, value)} for (a, b), value in once.items()]


def new_nodes(draw: st.DrawFn, plain: Plain, gone: set[int], *, named: bool) -> list[dict[str, object]]:
    """Draw new nodes with edges to known ones and among themselves, and add them."""
    first, count = plain.num_nodes, draw(st.integers(1, 3))
    nodes: list[dict[str, object]] = []
    plain.num_nodes += count
    for number in range(count):
        own, edges = first + number, []
        others = draw(st.lists(st.integers(0, own - 1), unique=True, max_size=4))
        for other in others:
            value = draw(st.sampled_from([0.25, 1.0, 3.0]))
            sends = draw(st.booleans())
            sender, receiver = (own, other) if sends else (other, own)
            plain.set(sender, receiver, value)
            by_name = other not in gone and draw(st.booleans())
            ref = {"new": other - first} if other >= first else f"node {other}" if by_name else other
            edges.append({"to" if sends else "from": ref, **edge_values(plain, sender, receiver, value)})
        nodes.append({"features": features_of(own), "edges": edges, **({"name": f"node {own}"} if named else {})})
    return nodes


def update(draw: st.DrawFn, plain: Plain, service: Service, gone: set[int]) -> None:
    """Make one random update to both."""
    node = st.integers(0, plain.num_nodes - 1)
    kind = draw(st.sampled_from(["set", "remove", "nodes", "remove nodes"]))
    if kind == "set":
        edges = known_edges(plain, draw(st.lists(some_edge(plain.num_nodes), min_size=1, max_size=5)))
        if edges:
            service.update(SetEdgesBody.model_validate({"edges": edges})).result()
    elif kind == "remove":
        ends = draw(st.lists(st.tuples(node, node), min_size=1, max_size=5))
        for pair in ends:
            plain.remove(*pair)
        body = {"edges": [{"from": a, "to": b} for a, b in ends]}
        service.update(RemoveEdgesBody.model_validate(body)).result()
    elif kind == "nodes":
        service.update(AddNodesBody.model_validate({"nodes": new_nodes(draw, plain, gone, named=True)})).result()
    else:
        chosen = draw(node)
        for pair in [pair for pair in plain.entries if chosen in pair]:
            del plain.entries[pair]
        gone.add(chosen)
        service.update(RemoveNodesBody(nodes=[chosen])).result()


def assert_same(service: Service, body: dict[str, object], expected: Predictor, targets: list[int]) -> None:
    answer = service.predict(PredictBody.model_validate({**body, "embedding": True})).result()
    found = expected.predict(np.array(targets), embedding=True)
    rows = answer["predictions"]
    probability = np.array([list(row["probabilities"].values()) for row in rows])
    np.testing.assert_allclose(probability, found.probability, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose([row["embedding"] for row in rows], found.embedding, rtol=1e-3, atol=1e-4)
    sizes = [len(scope.node_id) for scope in expected.extractors[0](expected.graph, targets, seed=expected.scope_seed)]
    assert [row["num_nodes"] for row in rows] == sizes


@many
@given(plain=plain_graphs(), kind=kinds, layer=layers, data=st.data())
def test_known_nodes_after_updates_are_as_imported(plain, kind, layer, data, model):
    trained, gone = model(layer, plain.weighted, plain.directed), set()
    first = plain.num_nodes
    service = Service(predictor(trained, plain, kind, first), cached=2)
    try:
        for _ in range(data.draw(st.integers(0, 5))):
            update(data.draw, plain, service, gone)
            node = data.draw(st.integers(0, plain.num_nodes - 1))
            service.predict(PredictBody(nodes=[node])).result()  # Fills the cache.
        nodes = data.draw(st.lists(st.integers(0, plain.num_nodes - 1), min_size=1, max_size=4))
        refs = [f"node {node}" if node not in gone and data.draw(st.booleans()) else node for node in nodes]
        assert_same(service, {"nodes": refs}, predictor(trained, plain, kind, first), nodes)
    finally:
        service.close()


@many
@given(plain=plain_graphs(), kind=kinds, layer=layers, data=st.data())
def test_new_nodes_after_updates_are_as_imported_and_leave_the_graph_alone(plain, kind, layer, data, model):
    trained, gone = model(layer, plain.weighted, plain.directed), set()
    first = plain.num_nodes
    service = Service(predictor(trained, plain, kind, first), cached=2)
    try:
        for _ in range(data.draw(st.integers(0, 2))):
            update(data.draw, plain, service, gone)
        before, with_new = plain.copy(), plain.copy()
        nodes = data.draw(st.lists(st.integers(0, plain.num_nodes - 1), max_size=3))
        new = new_nodes(data.draw, with_new, gone, named=False)
        targets = [*nodes, *range(before.num_nodes, with_new.num_nodes)]
        body = {"nodes": nodes, "new_nodes": new}
        assert_same(service, body, predictor(trained, with_new, kind, first), targets)
        known = list(range(before.num_nodes))
        assert_same(service, {"nodes": known}, predictor(trained, before, kind, first), known)
    finally:
        service.close()
