"""A cache folder in which the built-in graph has all its nodes and edges, but a tenth of its targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shadow_gnn.graph.datasets.builtin import BUILT_IN, open_dataset, provenance
from shadow_gnn.graph.store import save_graph

SHARE = 10


def fill_cache(folder: Path) -> None:
    """Write every built-in graph as SHADOW_CACHE holds it, with every tenth node of each split."""
    for name in BUILT_IN:
        graph = open_dataset(name)
        splits = {split: graph.split(split)[::SHARE] for split in graph.splits}
        save_graph(replace(graph, splits=splits), folder / f"{name}-{provenance(name)['sha256'][:16]}")
