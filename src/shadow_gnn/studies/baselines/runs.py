"""The baselines by name, and the selection for a graph.

Not for: the baselines themselves; each has its own file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.memory_available import available_memory, check_need
from shadow_gnn.studies.baselines.label_propagation import label_propagation
from shadow_gnn.studies.baselines.logistic import raw_features, sgc, smoothed_features
from shadow_gnn.studies.baselines.memory_needs import needed
from shadow_gnn.studies.baselines.operators import Powers, most_powers
from shadow_gnn.studies.baselines.problem import BaselineResult, Problem
from shadow_gnn.studies.baselines.sign import POWERS, sign

BASELINES = ("raw", "smoothed", "sgc", "sign", "lp")
"""Names in the order of the runs."""
WITHOUT_FEATURES = ("lp",)
"""Those that need no features."""
_SINGLE = {"raw": raw_features, "smoothed": smoothed_features, "sgc": sgc, "lp": label_propagation}


def what_runs(problem: Problem, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the baselines that the graph allows, in order, and the skipped ones."""
    for name in names:
        if name not in BASELINES:
            raise ValueError(f"baselines: only must name some of {', '.join(BASELINES)}, got {name!r}")
    chosen = [name for name in BASELINES if name in names]
    runs = [name for name in chosen if problem.graph.x is not None or name in WITHOUT_FEATURES]
    return runs, [name for name in chosen if name not in runs]


def run_baselines(
    problem: Problem,
    names: Sequence[str] = BASELINES,
    *,
    repeat: int = 1,
    powers: Powers | None = None,
    progress: Progress = silent,
) -> Iterator[list[BaselineResult]]:
    """Give the results of each baseline that the graph allows: one, or one for each seed of a random one.

    powers: those of SIGN, otherwise chosen on validation. A baseline that does not fit into memory is an error.

    >>> [[result.name for result in results] for results in sg.run_baselines(sg.make_problem(graph), ["lp"])]
    [['lp']]
    """
    if repeat < 1:
        raise ValueError(f"baselines: repeat must be at least 1, got {repeat}")
    for name in what_runs(problem, names)[0]:
        check_need(needed(name, problem, powers=powers or most_powers(POWERS)), available_memory())
        if name == "sign":
            yield sign(problem, progress, num_seeds=repeat, powers=powers)
        else:
            yield [_SINGLE[name](problem, progress)]
