"""Small graphs whose classes or links can be learned, relatives with other labels, recipes that train in a second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames
from shadow_gnn.recipe import Recipe


def communities(num_nodes: int = 120, num_classes: int = 3, seed: int = 0) -> Graph:
    """Draw a graph where four of five edges stay inside a class and features hint at it; half of it is for training."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    src, dst = rng.integers(num_nodes, size=(2, 4 * num_nodes))
    for number in range(num_classes):
        edges = np.flatnonzero((y[src] == number) & (rng.random(len(src)) < 0.8))
        dst[edges] = rng.choice(np.flatnonzero(y == number), len(edges))
    x = np.eye(num_classes)[y] + rng.normal(size=(num_nodes, num_classes))
    order = rng.permutation(num_nodes)
    ends = {"train": (0, 2), "valid": (2, 3), "test": (3, 4)}
    splits = {name: np.sort(order[a * num_nodes // 4 : b * num_nodes // 4]) for name, (a, b) in ends.items()}
    graph = from_edges(src, dst, num_nodes)
    return replace(graph, x=DenseFeatures(x.astype(np.float32)), y=y.astype(np.int64), splits=splits)


def near_ring(num_nodes: int = 90, seed: int = 0) -> Graph:
    """Draw a graph whose links join nodes that are near on a ring, so that they can be told from any others."""
    rng = np.random.default_rng(seed)
    src = rng.integers(num_nodes, size=6 * num_nodes)
    return from_edges(src, (src + rng.integers(1, 5, len(src))) % num_nodes, num_nodes)


def with_labels(graph: Graph, kind: str) -> Graph:
    """Return the graph with labels of another kind that are as learnable."""
    assert graph.y is not None
    if kind == "multilabel":
        return replace(graph, y=np.stack((graph.y > 0, graph.y != 1), axis=1).astype(np.uint8), class_name=None)
    if kind == "values":
        return replace(graph, y=(10 * graph.y + 5).astype(np.float32), class_name=None)
    return graph


def names(texts: list[str]) -> NodeNames:
    """Pack names as a graph holds them."""
    parts = [text.encode() for text in texts]
    ptr = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)
    return NodeNames(ptr, np.frombuffer(b"".join(parts), np.uint8))


def small_recipe(**changes: Any) -> Recipe:
    """Return a recipe of a small model for a few epochs; keys such as model__dropout=0.5 change it."""
    table: dict[str, Any] = {
        "graph": "communities",
        "extractor": {"topk": 10},
        "model": {"hidden_dim": 8, "num_layers": 2, "dropout": 0.2, "dropedge": 0.2},
        "training": {"num_epochs": 3, "batch_size": 16},
    }
    for key, value in changes.items():
        place = table
        *tables, name = key.split("__")
        for part in tables:
            place = place.setdefault(part, {})
        place[name] = value
    return Recipe.model_validate(table)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread: on models this small a second one only waits, and where cores are shared it waits long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
