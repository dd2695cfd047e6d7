"""Plan: which jobs are left, the most informative for their CPU seconds first.

Not for: running them (study_runs.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from study_findings import Results, chosen_trial, compare, measured
from study_graphs import GRAPHS, StudyGraph
from study_jobs import DEFAULT, LAYERS, METHODS, Cell, Ending, Job, search

from shadow_gnn.base.errors import SourceError

MAIN = ("ppr-100", "full")
"""The two methods that come first and get more seeds."""
PATIENCE_BUDGETS = 2.5
"""Assumed CPU seconds of a run until validation no longer improves, in budgets of its graph."""
DEFAULT_BUDGETS = 2.0
"""Assumed CPU seconds of the default, which trains two models."""
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
    endings: tuple[Ending, ...] = ("budget", "patience")
    """How runs end, besides those of the default and of the paper's recipes."""
    by_graph: bool = False
    """Finish a layer and depth of one graph before the next graph, instead of many graphs at once."""


FULL = Plan({name: graph for name, graph in GRAPHS.items() if not graph.held_out}, (DEFAULT, *METHODS))
"""About 800 CPU hours."""
CORE = Plan(
    {name: graph for name, graph in FULL.graphs.items() if name not in ("pubmed-official", "linux-calls")},
    (DEFAULT, "ppr-100", "full", "saint", "ppr-200"),
    ("sage", "gcn"),
    (3, 5),
    num_trials=3,
    max_seeds=3,
    paper_seeds=0,
    endings=("budget",),
    by_graph=True,
)
"""The part that decides most: about 22 CPU hours."""


def cells(plan: Plan) -> list[Cell]:
    """Return every cell of the plan."""
    return [Cell(*parts) for parts in product(plan.graphs, plan.methods, plan.layers, plan.depths)]


def weight_of(plan: Plan, cell: Cell) -> float:
    """Return the weight of a cell: one of twice the weight comes when a graph of twice the budget would."""
    weight = 1.0 if cell.method in (*MAIN, DEFAULT) else 8.0
    weight *= 1.0 if cell.layer == plan.layers[0] else 12.0
    return weight * {3: 1.0, 5: 8.0, 7: 16.0}[cell.num_layers]


def jobs_left(plan: Plan, results: Results) -> list[Job]:
    """Return the jobs that can be run now, in order; more follow when these are done."""
    found = [pair for cell in cells(plan) for pair in _cell_jobs(plan, cell, results)]
    for graph, layer, num_layers in product(plan.graphs, plan.layers, plan.depths):
        found += _more_seeds(plan, graph, layer, num_layers, results)
    found.sort(key=lambda pair: _place(plan, *pair))
    return [*(job for _, job in found if job.name not in results), *_paper_jobs(plan, results)]


def _place(plan: Plan, weight: float, job: Job) -> tuple[float, float, float, str, int, int, str]:
    """Order the jobs; those of equal weight take turns by method, so that a slow hour of the machine hits all."""
    cell, budget = job.cell, plan.graphs[job.cell.graph].budget
    turn = (cell.graph, job.trial, job.seed, cell.method)
    if not plan.by_graph:
        return (weight * budget, 0.0, 0.0, *turn)
    level = plan.layers.index(cell.layer) * len(plan.depths) + plan.depths.index(cell.num_layers)
    others = len(plan.layers) * len(plan.depths) if cell.method not in (*MAIN, DEFAULT) else 0
    return (float(level + others), budget, weight, *turn)


def _cell_jobs(plan: Plan, cell: Cell, results: Results) -> Iterator[tuple[float, Job]]:
    """Give the trials of a cell, then the first seeds with the chosen settings, each with its weight."""
    weight = weight_of(plan, cell)
    if cell.method == DEFAULT:
        for seed in range(plan.min_seeds):
            yield (weight if seed == 0 else 2 * weight), Job(cell, 0, "default", seed)
        return
    for trial in range(plan.num_trials):
        yield weight, Job(cell, trial, "budget", 0)
    best = chosen_trial(cell, plan.num_trials, results)
    if best is None:
        return
    for seed in range(plan.min_seeds):
        for place, ending in enumerate(plan.endings, start=2):
            yield place * weight, Job(cell, best, ending, seed)


def _more_seeds(plan: Plan, graph: str, layer: str, num_layers: int, results: Results) -> Iterator[tuple[float, Job]]:
    """Give the next seed of both main methods while their comparison is not settled."""
    if not set(MAIN) <= set(plan.methods) or plan.max_seeds <= plan.min_seeds:
        return
    weight = weight_of(plan, Cell(graph, MAIN[0], layer, num_layers))
    for ending in plan.endings:
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
    if "ogbn-arxiv" not in plan.graphs or plan.paper_seeds == 0:
        return []
    jobs = [Job(cell, 0, "recipe", seed) for seed in range(plan.paper_seeds) for cell in PAPER_CELLS]
    return [job for job in jobs if job.name not in results]


def check_settings(plan: Plan, results: Results) -> None:
    """Raise if a result has other settings than the plan's search."""
    for result in results.values():
        job = result.job
        if job.ending in ("recipe", "default") or job.cell.graph not in plan.graphs:
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
    num_expected, expected = 0, 0.0
    for cell in cells(plan):
        if cell.graph in graphs:
            num_jobs, budgets = _expected(plan, cell)
            num_expected += num_jobs
            expected += plan.graphs[cell.graph].budget * budgets
    spent = sum(result.cpu_seconds for result in done)
    return Progress(len(done), num_expected, spent / 3600, max(0.0, expected - spent) / 3600)


def _expected(plan: Plan, cell: Cell) -> tuple[int, float]:
    """Return the runs of a cell, and their CPU seconds in budgets of its graph."""
    if cell.method == DEFAULT:
        return plan.min_seeds, DEFAULT_BUDGETS * plan.min_seeds
    num_budget = plan.num_trials + plan.min_seeds - 1
    num_patience = plan.min_seeds if "patience" in plan.endings else 0
    return num_budget + num_patience, num_budget + PATIENCE_BUDGETS * num_patience
