"""Experiments: the one table from the names of `shadow reproduce` to experiments.

Not for: what they do; each has a file of its own.
"""

from __future__ import annotations

from difflib import get_close_matches

from shadow_gnn.studies.paper.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the paper."""
    from shadow_gnn.studies.paper.experiments.accuracy_time import AccuracyTime
    from shadow_gnn.studies.paper.experiments.collab import Collab
    from shadow_gnn.studies.paper.experiments.composition import Composition
    from shadow_gnn.studies.paper.experiments.cost_columns import CostColumns
    from shadow_gnn.studies.paper.experiments.ensemble import ENSEMBLE
    from shadow_gnn.studies.paper.experiments.extraction_time import ExtractionTime
    from shadow_gnn.studies.paper.experiments.jk_gin import JK_GIN
    from shadow_gnn.studies.paper.experiments.memory_speed import MemorySpeed
    from shadow_gnn.studies.paper.experiments.papers100m import Papers100M
    from shadow_gnn.studies.paper.experiments.pooling import POOLING
    from shadow_gnn.studies.paper.experiments.ppr_touched import PprTouched
    from shadow_gnn.studies.paper.experiments.sgc import SgcOversmoothing
    from shadow_gnn.studies.paper.experiments.table1 import Table1

    every: tuple[Experiment, ...] = (
        Table1(),
        CostColumns(),
        Papers100M(),
        Collab(),
        Composition(),
        SgcOversmoothing(),
        PprTouched(),
        MemorySpeed(),
        JK_GIN,
        POOLING,
        ExtractionTime(),
        AccuracyTime(),
        ENSEMBLE,
    )
    return {experiment.name: experiment for experiment in every}


def find_experiment(name: str) -> Experiment:
    """Return the experiment of a name; an unknown one is one line with the nearest."""
    every = experiments()
    if name not in every:
        near = get_close_matches(name, every, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"reproduce: NAME must be one of {', '.join(every)}, got {name!r}{hint}")
    return every[name]
