"""Small runs of all kinds behind an explorer, and a slow, obvious copy of a graph with edits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.communities import communities, small_recipe
from tests.serve.runs import KINDS as SERVED
from tests.serve.runs import rich_graph

from shadow_gnn.explore.explorer import Explorer
from shadow_gnn.explore.requests import PickBody, ScopeBody
from shadow_gnn.explore.runs import open_explored
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.hybrid import train_hybrid
from shadow_gnn.training.runs.run import RunOptions, train_recipe

NORMAL = {"extractor": None, "training__method": "full", "model__encoding": "none"}
KINDS: dict[str, tuple[Graph, dict[str, Any]]] = {
    **SERVED,
    "labels": (rich_graph(False), {"inputs__labels": True, "inputs__smooth_labels": 2}),
    "smooth": (communities(), {"inputs__smooth": 1, "inputs__graph_degree": True}),
    "normal": (communities(), NORMAL),
}


def train(kind: str, folder: Path) -> Path:
    """Train a run of a kind; the folder has the graph `g` and the run `run`."""
    graph, changes = (communities(), {}) if kind == "hybrid" else KINDS[kind]
    save_graph(graph, folder / "g")
    recipe, options = small_recipe(training__num_epochs=1, **changes), RunOptions(graph=open_graph(folder / "g"))
    if kind == "hybrid":
        train_hybrid(
            {"normal": small_recipe(training__num_epochs=1, **NORMAL), "scopes": recipe}, folder / "run", options
        )
    else:
        train_recipe(recipe, folder / "run", options=options)
    return folder


def open_explorer(folder: Path, *, with_run: bool = True) -> Explorer:
    """Return an explorer with the run `run`."""
    live = LiveGraph(open_graph(folder / "g"))
    runs = [open_explored("run", folder / "run", live)] if with_run else []
    return Explorer(live, runs, name="g", source=str(folder / "g"))


def scope(explorer: Explorer, **body: Any) -> Any:
    """Ask for a scope, as JSON would."""
    return explorer.scope(ScopeBody.model_validate(body)).result(timeout=60)


def pick(explorer: Explorer, **body: Any) -> Any:
    """Pick targets, and wait for the predictions that they need."""
    while True:
        found = explorer.pick(PickBody.model_validate(body)).result(timeout=60)
        if found["progress"] == 1:
            return found


def split(explorer: Explorer, name: str = "test") -> Any:
    """Wait for the predictions of a split."""
    while (found := explorer.split("run", name))["progress"] < 1:
        explorer.pick(PickBody(by="random")).result(timeout=60)
    return found


def edited_by_hand(graph: Graph, edits: dict[str, Any]) -> Graph:
    """Return a new graph with edits, by ids and numbers alone, made from a dictionary of its entries."""
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    weight = np.ones(graph.num_edges) if graph.edge_weight is None else graph.edge_weight
    attr = np.zeros((graph.num_edges, 1)) if graph.edge_attr is None else graph.edge_attr
    entries = {
        (int(u), int(v)): (w, a) for u, v, w, a in zip(graph.indices, rows, weight, attr, strict=True)
    }  # (sender, receiver)
    first, new = graph.num_nodes, edits.get("new_nodes", [])
    width, blank = attr.shape[1], 0.0

    def at(ref: Any) -> int:
        return first + ref["new"] if isinstance(ref, dict) else ref

    def put(u: int, v: int, w: float, a: Any) -> None:
        for pair in ((u, v),) if graph.directed else ((u, v), (v, u)):
            entries[pair] = (w, a)

    x = None if graph.x is None else graph.x.rows(np.arange(first))
    y = graph.y
    for number, node in enumerate(new):
        for edge in node.get("edges", []):
            ends = (at({"new": number}), at(edge["to"])) if "to" in edge else (at(edge["from"]), at({"new": number}))
            put(*ends, edge.get("weight", 1.0), np.full(width, blank))
        if x is not None:
            x = np.concatenate((x, np.array([node.get("features", np.zeros(x.shape[1]))], np.float32)))
        if y is not None:
            unknown = np.full((1, *y.shape[1:]), 0 if y.ndim == 2 else np.nan if y.dtype.kind == "f" else -1, y.dtype)
            y = np.concatenate((y, unknown))
    splits = dict(graph.splits)
    for edit in edits.get("features", []):
        x = x.copy()
        x[edit["node"], edit["column"]] = edit["value"]
    for edit in edits.get("labels", []):
        y = y.copy()
        y[edit["node"]] = edit["class"]
        splits["train"] = np.unique([*splits["train"], edit["node"]])
    for edge in edits.get("add_edges", []):
        put(at(edge["from"]), at(edge["to"]), edge.get("weight", 1.0), np.full(width, blank))
    for edge in edits.get("remove_edges", []):
        u, v = at(edge["from"]), at(edge["to"])
        for pair in ((u, v),) if graph.directed else ((u, v), (v, u)):
            del entries[pair]
    gone = set(edits.get("remove_nodes", []))
    entries = {pair: value for pair, value in entries.items() if not gone & set(pair)}
    order = sorted(entries, key=lambda pair: (pair[1], pair[0]))
    count = first + len(new)
    indptr = np.concatenate(([0], np.cumsum(np.bincount([v for _, v in order], minlength=count)))).astype(np.int64)
    names = None if graph.node_name is None else [graph.node_name[node] for node in range(first)]
    return replace(
        graph,
        indptr=indptr,
        indices=np.array([u for u, _ in order], graph.indices.dtype),
        x=None if x is None else DenseFeatures(x),
        y=y,
        splits=splits,
        edge_weight=None if graph.edge_weight is None else np.array([entries[p][0] for p in order], np.float32),
        edge_attr=None if graph.edge_attr is None else np.array([entries[p][1] for p in order], np.float32),
        node_name=None if names is None else NodeNames.of([*names, *(n.get("name", "new") for n in new)]),
        path=None,
        fingerprint_hint=None,
    )
