"""The baselines by name, and which of them a graph allows.

Not for: what one of them does; each has a file of its own.
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
"""Their names, in the order in which they are run."""
WITHOUT_FEATURES = ("lp",)
"""Those that need no features."""


def what_runs(problem: Problem, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the baselines that the graph allows, in their order, and those that have to be skipped."""
    for name in names:
        if name not in BASELINES:
            raise ValueError(f"baselines: only must name some of {', '.join(BASELINES)}, got {name!r}")
    chosen = [name for name in BASELINES if name in names]
    if problem.graph.x is not None:
        return chosen, []
    return [name for name in chosen if name in WITHOUT_FEATURES], [
        name for name in chosen if name not in WITHOUT_FEATURES
    ]


def run_baselines(
    problem: Problem,
    names: Sequence[str] = BASELINES,
    *,
    repeat: int = 1,
    powers: Powers | None = None,
    progress: Progress = silent,
) -> Iterator[list[BaselineResult]]:
    """Give the results of each baseline that the graph allows: one, or one for each seed of those that draw.

    powers: those of SIGN, which are otherwise chosen on validation. One that does not fit into memory is a fault.
    """
    if repeat < 1:
        raise ValueError(f"baselines: repeat must be at least 1, got {repeat}")
    for name in what_runs(problem, names)[0]:
        check_need(needed(name, problem, powers=powers or most_powers(POWERS)), available_memory())
        if name == "raw":
            yield [raw_features(problem, progress)]
        elif name == "smoothed":
            yield [smoothed_features(problem, progress)]
        elif name == "sgc":
            yield [sgc(problem, progress)]
        elif name == "sign":
            yield sign(problem, progress, num_seeds=repeat, powers=powers)
        else:
            yield [label_propagation(problem, progress)]
