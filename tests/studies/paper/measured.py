"""An experiment's whole way through the engine."""

from __future__ import annotations

from pathlib import Path

from shadow_gnn.studies.paper.engine import Outcome, reproduce
from shadow_gnn.studies.paper.experiment import Experiment, ReproduceOptions


def run_twice(experiment: Experiment, data: Path, out: Path) -> Outcome:
    """Run an experiment fast, check that a second time does nothing again, and return what came out."""
    options = ReproduceOptions(data=data, fast=True, out=out)
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
