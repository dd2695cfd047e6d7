"""Small trained runs on graphs of several kinds, and services on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.communities import communities, near_ring, small_recipe, with_labels

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph, NodeNames
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.hybrid import train_hybrid
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.serve.service import Service
from shadow_gnn.training.defaults import choose_hybrid
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe


def rich_graph(directed: bool) -> Graph:
    """Return communities with weights, edge features, names of nodes and of columns."""
    plain = communities()
    rng = np.random.default_rng(3)
    src, dst = rng.integers(plain.num_nodes, size=(2, 500))
    keep = src != dst
    graph = from_edges(src[keep], dst[keep], plain.num_nodes, undirected=not directed)
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    low, high = np.minimum(row, graph.indices), np.maximum(row, graph.indices)
    value = (1 + (3 * low + 5 * high) % 7).astype(np.float32)
    return replace(
        plain,
        indptr=graph.indptr,
        indices=graph.indices,
        directed=directed,
        edge_weight=value / 4,
        edge_attr=np.stack((value, -value), axis=1),
        node_name=NodeNames.of([f"n{node}" for node in range(plain.num_nodes)]),
        class_name=NodeNames.of(["red", "green", "blue"]),
        column_names=("a", "b", "c"),
    )


KINDS: dict[str, tuple[Graph, dict[str, Any]]] = {
    "plain": (communities(), {}),
    "khop": (communities(), {"extractor": {"kind": "khop", "num_hops": 2, "fanout": 3}}),
    "rich": (rich_graph(False), {"model__layer": "gat"}),
    "rich, directed": (rich_graph(True), {"model__layer": "gat"}),
    "branches": (
        communities(),
        {"extractor": None, "branches": [{"extractor": {"topk": 5}}, {"extractor": {"kind": "full", "num_hops": 1}}]},
    ),
    "values": (with_labels(communities(), "values"), {}),
    "multilabel": (with_labels(communities(), "multilabel"), {}),
    "degree": (communities(), {"inputs__degree": True}),
    "labels": (communities(), {"inputs__labels": True}),
    "transformer": (communities(), {"model__layer": "transformer"}),
    "links": (near_ring(), {"task__kind": "link"}),
}


def train(kind: str, folder: Path) -> Path:
    """Train a run of a kind; the folder has the graph `g` and the run `run`."""
    graph, changes = KINDS[kind]
    save_graph(graph, folder / "g")
    train_recipe(small_recipe(training__num_epochs=1, **changes), folder / "run", options=RunOptions(graph=graph))
    return folder


def train_hybrid_run(folder: Path, graph: Graph | None = None, *changes: str) -> Path:
    """Train a hybrid, the default of `shadow train --graph`; the folder has the graph `g` and the hybrid `run`."""
    save_graph(communities() if graph is None else graph, folder / "g")
    opened = open_graph(folder / "g")
    small = ("training.num_epochs=2", "model.hidden_dim=8", "extractor.topk=10", *changes)
    found = choose_hybrid(opened, str(folder / "g"), small)
    train_hybrid(found.members, folder / "run", RunOptions(graph=opened))
    return folder


def open_service(folder: Path, log: Path | None = None, **options: Any) -> Service:
    return Service(Predictor(read_model(folder / "run"), open_graph(folder / "g")), log, **options)
