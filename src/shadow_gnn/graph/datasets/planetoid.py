"""Planetoid: Cora, CiteSeer and PubMed with their public splits, from where PyG takes them.

Not for: reading their files (graph/importing/formats/planetoid.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from shadow_gnn.graph.datasets.source import Reading, Source, in_memory
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.planetoid import PARTS, read_planetoid
from shadow_gnn.graph.record import Graph


def planetoid_source(name: str) -> Source:
    """Return cora, citeseer or pubmed."""
    files = tuple(f"ind.{name}.{part}" for part in PARTS)

    def addresses() -> Mapping[str, str]:
        from torch_geometric.datasets import Planetoid

        return {file: f"{Planetoid.url}/{file}" for file in files}

    def read(reading: Reading) -> tuple[Graph, Summary]:
        return read_planetoid(reading.raw, name, progress=reading.progress)

    return Source(files, addresses, in_memory(read))
