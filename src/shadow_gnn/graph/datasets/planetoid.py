"""Planetoid: Cora, CiteSeer and PubMed with their public splits, from PyG's source.

Not for: reading their files (graph/importing/formats/planetoid.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.datasets.source import Source, in_memory
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.planetoid import PARTS, read_planetoid
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.record import Graph


def planetoid_source(name: str) -> Source:
    """Return cora, citeseer or pubmed."""
    files = tuple(f"ind.{name}.{part}" for part in PARTS)

    def addresses() -> Mapping[str, str]:
        from torch_geometric.datasets import Planetoid

        return {file: f"{Planetoid.url}/{file}" for file in files}

    def read(raw: Path, options: ImportOptions, progress: Progress) -> tuple[Graph, Summary]:
        return read_planetoid(raw, name, progress=progress)

    return Source(files, addresses, in_memory(read))
