"""GNN benchmark: the Coauthor and Amazon graphs, from PyG's source.

Not for: reading their files (graph/importing/formats/gnn_benchmark.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.datasets.source import Source, in_memory
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.gnn_benchmark import read_gnn_benchmark
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.importing.splits import draw
from shadow_gnn.graph.record import Graph

SPLIT_SHARES = (60.0, 20.0, 20.0)
SPLIT_SEED = 0
"""These graphs have no official split: train, valid and test are drawn in these percentages with this seed."""

_FILES = {
    "coauthor-cs": "ms_academic_cs.npz",
    "coauthor-physics": "ms_academic_phy.npz",
    "amazon-computers": "amazon_electronics_computers.npz",
    "amazon-photo": "amazon_electronics_photo.npz",
}


def benchmark_source(name: str) -> Source:
    """Return coauthor-cs, coauthor-physics, amazon-computers or amazon-photo."""
    file = _FILES[name]

    def addresses() -> Mapping[str, str]:
        from torch_geometric.datasets import Amazon

        return {file: f"{Amazon.url}{file}"}

    def read(raw: Path, options: ImportOptions, progress: Progress) -> tuple[Graph, Summary]:
        graph, summary = read_gnn_benchmark(raw / file, progress=progress)
        return replace(graph, splits=draw(graph.y, graph.num_nodes, SPLIT_SHARES, SPLIT_SEED)), summary

    return Source((file,), addresses, in_memory(read))
