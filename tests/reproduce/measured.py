"""A folder of small graphs named as the paper's data sets, and an experiment's whole way through the engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.communities import communities, one_thread

from shadow_gnn.reproduce.engine import Outcome, reproduce
from shadow_gnn.reproduce.experiment import Experiment, Options
from shadow_gnn.store import save_graph

__all__ = ["data_folder", "one_thread", "run_twice"]


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """Return a folder with small graphs in the place of two data sets: an inductive and a transductive one."""
    for seed, name in enumerate(("flickr", "ogbn-arxiv")):
        save_graph(communities(200, seed=seed), tmp_path / "data" / name)
    return tmp_path / "data"


def run_twice(experiment: Experiment, data: Path, out: Path) -> Outcome:
    """Run an experiment fast, check that a second time does nothing anew, and return what came out."""
    options = Options(data=data, fast=True, out=out)
    outcome = reproduce(experiment, options)
    assert outcome.faults == {}
    assert outcome.num_done == outcome.num_jobs > 0
    for path in outcome.files:
        assert path.stat().st_size > 0
    assert [path.suffix for path in outcome.files].count(".png") == 1
    kept = {path: path.stat().st_mtime_ns for path in (out / "jobs").iterdir()}
    again = reproduce(experiment, options)
    assert {path: path.stat().st_mtime_ns for path in (out / "jobs").iterdir()} == kept
    assert again.finding.tables == outcome.finding.tables
    return outcome
