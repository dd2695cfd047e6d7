"""Saint: Flickr, Reddit and Yelp as published by GraphSAINT, from PyG's source.

Not for: Reddit with all its edges, a different dataset (PyG's Reddit; this one is its Reddit2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shadow_gnn.graph.datasets.source import Source, in_memory
from shadow_gnn.graph.importing.formats.saint import read_saint

_KEYS = {
    "adj_full.npz": "adj_full_id",
    "feats.npy": "feats_id",
    "class_map.json": "class_map_id",
    "role.json": "role_id",
}
_PYG = {"flickr": "Flickr", "reddit": "Reddit2", "yelp": "Yelp"}


def saint_source(name: str) -> Source:
    """Return flickr, reddit or yelp."""

    def addresses() -> Mapping[str, str]:
        from torch_geometric import datasets

        known: Any = getattr(datasets, _PYG[name])
        return {
            file: f"https://drive.usercontent.google.com/download?id={getattr(known, key)}&confirm=t"
            for file, key in _KEYS.items()
        }

    return Source(tuple(_KEYS), addresses, in_memory(read_saint))
