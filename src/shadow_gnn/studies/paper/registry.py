"""Registry: the one table of experiments, by their names for `shadow reproduce`.

Not for: the experiments themselves (experiments/).
"""

from __future__ import annotations

from difflib import get_close_matches

from shadow_gnn.studies.paper.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the paper."""
    from shadow_gnn.studies.paper.experiments.accuracy_time import AccuracyTime
    from shadow_gnn.studies.paper.experiments.composition import COMPOSITION
    from shadow_gnn.studies.paper.experiments.cost_columns import COST_COLUMNS
    from shadow_gnn.studies.paper.experiments.extraction_time import ExtractionTime
    from shadow_gnn.studies.paper.experiments.leaderboards import COLLAB, PAPERS100M
    from shadow_gnn.studies.paper.experiments.memory_speed import MemorySpeed
    from shadow_gnn.studies.paper.experiments.ppr_touched import PPR_TOUCHED
    from shadow_gnn.studies.paper.experiments.score_tables import ENSEMBLE, JK_GIN, POOLING
    from shadow_gnn.studies.paper.experiments.sgc import SgcOversmoothing
    from shadow_gnn.studies.paper.experiments.table1 import Table1

    every: tuple[Experiment, ...] = (
        Table1(),
        COST_COLUMNS,
        PAPERS100M,
        COLLAB,
        COMPOSITION,
        SgcOversmoothing(),
        PPR_TOUCHED,
        MemorySpeed(),
        JK_GIN,
        POOLING,
        ExtractionTime(),
        AccuracyTime(),
        ENSEMBLE,
    )
    return {experiment.name: experiment for experiment in every}


def find_experiment(name: str) -> Experiment:
    """Return the experiment of a name; the error for an unknown one suggests the closest name.

    >>> sg.find_experiment("sgc").name
    'sgc'
    """
    every = experiments()
    if name not in every:
        near = get_close_matches(name, every, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"reproduce: NAME must be one of {', '.join(every)}, got {name!r}{hint}")
    return every[name]
