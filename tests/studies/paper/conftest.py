"""A folder of small graphs named as the paper's datasets, and one thread for all tests of experiments."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.communities import communities, one_thread

from shadow_gnn.graph.store import save_graph

__all__ = ["data_folder", "one_thread"]


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """Return a folder with small graphs in the place of two datasets: an inductive and a transductive one."""
    for seed, name in enumerate(("flickr", "ogbn-arxiv")):
        save_graph(communities(200, seed=seed), tmp_path / "data" / name)
    return tmp_path / "data"
