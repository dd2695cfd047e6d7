"""Plan: which jobs are left, the most informative for their CPU seconds first.

Not for: running them (study_runs.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from study_findings import Results, chosen_trial, compare, measured
from study_graphs import GRAPHS, StudyGraph
from study_jobs import LAYERS, METHODS, Cell, Ending, Job, search

from shadow_gnn.base.errors import SourceError

MAIN = ("ppr-100", "full")
"""The two methods that come first and get more seeds."""
PATIENCE_BUDGETS = 2.5
"""Assumed CPU seconds of a run until validation no longer improves, in budgets of its graph."""
PAPER_CELLS = tuple(
    Cell("ogbn-arxiv", method, layer, num_layers)
    for layer, num_layers in (("sage", 3), ("sage", 5), ("gat", 3))
    for method in ("ppr", "full", "saint")
)


@dataclass(frozen=True)
class Plan:
    """Extent of the study."""

    graphs: Mapping[str, StudyGraph]
    methods: tuple[str, ...] = tuple(METHODS)
    layers: tuple[str, ...] = tuple(LAYERS)
    depths: tuple[int, ...] = (3, 5, 7)
    num_trials: int = 6
    """Settings tried for each cell, with the first seed."""
    min_seeds: int = 3
    max_seeds: int = 10
    paper_seeds: int = 3


FULL = Plan({name: graph for name, graph in GRAPHS.items() if not graph.held_out})


def cells(plan: Plan) -> list[Cell]:
    """Return every cell of the plan."""
    return [Cell(*parts) for parts in product(plan.graphs, plan.methods, plan.layers, plan.depths)]


def weight_of(plan: Plan, cell: Cell) -> float:
    """Return the weight of a cell: one of twice the weight comes when a graph of twice the budget would."""
    weight = 1.0 if cell.method in MAIN else 8.0
    weight *= 1.0 if cell.layer == plan.layers[0] else 12.0
    return weight * {3: 1.0, 5: 8.0, 7: 16.0}[cell.num_layers]


def jobs_left(plan: Plan, results: Results) -> list[Job]:
    """Return the jobs that can be run now, in order; more follow when these are done."""
    found = [pair for cell in cells(plan) for pair in _cell_jobs(plan, cell, results)]
    for graph, layer, num_layers in product(plan.graphs, plan.layers, plan.depths):
        found += _more_seeds(plan, graph, layer, num_layers, results)
    found.sort(key=lambda pair: (pair[0] * plan.graphs[pair[1].cell.graph].budget, *_turn(pair[1])))
    return [*(job for _, job in found if job.name not in results), *_paper_jobs(plan, results)]


def _turn(job: Job) -> tuple[str, int, int, str]:
    """Order the jobs of equal weight so that methods take turns: a slow hour of the machine hits all of them."""
    return (job.cell.graph, job.trial, job.seed, job.cell.method)


def _cell_jobs(plan: Plan, cell: Cell, results: Results) -> Iterator[tuple[float, Job]]:
    """Give the trials of a cell, then the first seeds with the chosen settings, each with its weight."""
    weight = weight_of(plan, cell)
    for trial in range(plan.num_trials):
        yield weight, Job(cell, trial, "budget", 0)
    best = chosen_trial(cell, plan.num_trials, results)
    if best is None:
        return
    for seed in range(plan.min_seeds):
        yield 2 * weight, Job(cell, best, "budget", seed)
        yield 3 * weight, Job(cell, best, "patience", seed)


def _more_seeds(plan: Plan, graph: str, layer: str, num_layers: int, results: Results) -> Iterator[tuple[float, Job]]:
    """Give the next seed of both main methods while their comparison is not settled."""
    if not set(MAIN) <= set(plan.methods):
        return
    weight = weight_of(plan, Cell(graph, MAIN[0], layer, num_layers))
    endings: tuple[Ending, ...] = ("budget", "patience")
    for ending in endings:
        sides = [measured(Cell(graph, name, layer, num_layers), ending, plan.num_trials, results) for name in MAIN]
        first, second = sides
        if first is None or second is None or min(len(first.runs), len(second.runs)) < plan.min_seeds:
            continue
        if not compare(first, second).is_settled:
            for side in (first, second):
                if len(side.runs) < plan.max_seeds:
                    trial = side.runs[0].job.trial
                    yield 6 * weight, Job(side.cell, trial, ending, len(side.runs))


def _paper_jobs(plan: Plan, results: Results) -> list[Job]:
    if "ogbn-arxiv" not in plan.graphs:
        return []
    jobs = [Job(cell, 0, "recipe", seed) for seed in range(plan.paper_seeds) for cell in PAPER_CELLS]
    return [job for job in jobs if job.name not in results]


def check_settings(plan: Plan, results: Results) -> None:
    """Raise if a result has other settings than the plan's search."""
    for result in results.values():
        job = result.job
        if job.ending == "recipe" or job.cell.graph not in plan.graphs:
            continue
        settings = search(job.cell, plan.num_trials)
        if job.trial >= len(settings) or vars(settings[job.trial]) != dict(result.settings):
            raise SourceError(f"{result.name}: settings must be those of the plan; choose another study folder")


@dataclass(frozen=True)
class Progress:
    """How much of the study is done."""

    num_done: int
    num_expected: int
    """Without seeds beyond the first few."""
    hours_done: float
    hours_left: float
    """Expected CPU hours of training of the jobs that are left, without the paper's recipes."""


def progress(plan: Plan, results: Results, graphs: Sequence[str]) -> Progress:
    """Count the jobs of some graphs, and estimate the CPU hours that are left."""
    done = [result for result in results.values() if result.job.cell.graph in graphs]
    num_budget = plan.num_trials + plan.min_seeds - 1
    per_cell = num_budget + PATIENCE_BUDGETS * plan.min_seeds
    chosen = [cell for cell in cells(plan) if cell.graph in graphs]
    expected = sum(plan.graphs[cell.graph].budget * per_cell for cell in chosen)
    spent = sum(result.cpu_seconds for result in done)
    num_expected = len(chosen) * (num_budget + plan.min_seeds)
    return Progress(len(done), num_expected, spent / 3600, max(0.0, expected - spent) / 3600)
