"""Study: shaDow and normal GNNs on full training and test sets, paired by node: `python bench/study run --folder F`.

Not for: the parts, each of which has a file here. A study that is stopped at any moment resumes with the same command.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from study_findings import chosen_trial
from study_graphs import GRAPHS, Places, StudyGraph, is_there
from study_jobs import DEFAULT, METHODS
from study_page import write_page
from study_plan import CORE, FULL, Plan, check_settings, jobs_left, progress
from study_results import ResultStore
from study_runs import Runner

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.training.runs.folder import locked

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "study-results"
SMOKE = Plan(
    {"smoke": StudyGraph("smoke", 0.1, batch_size=20)},
    (DEFAULT, "ppr-100", "full"),
    ("sage",),
    (3,),
    2,
    2,
    2,
    paper_seeds=0,
)
"""A study of seconds, on a graph folder called smoke."""


def main() -> None:
    options = read_options()
    kept = None if options.smoke else KEPT / "full" if options.full else KEPT
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    places = Places(folder, options.graphs, options.data)
    plan = SMOKE if options.smoke else plan_of(options, places)
    store = ResultStore(folder, kept)
    check_settings(plan, store.results)
    if options.command == "run":
        keep_freed_memory()
        torch.set_num_threads(1)
        with locked(folder):
            run(plan, places, store, options.hours)
    elif options.command == "status":
        status(plan, places, store)
    elif options.command == "export":
        print(f"{store.export(options.out or kept or folder, with_bits(plan, store)):,} bytes")
    else:
        write_page(plan, store.results, options.out or ROOT / "docs" / "comparison.md")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/study", description=__doc__)
    parser.add_argument("command", choices=("run", "status", "export", "page"))
    parser.add_argument("--folder", type=Path, required=True, help="the study folder: runs, results, imported graphs")
    parser.add_argument("--graphs", type=Path, default=Path("graphs"), help="folder of graph folders")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--only", nargs="+", choices=GRAPHS, help="these graphs alone")
    parser.add_argument("--methods", nargs="+", choices=(DEFAULT, *METHODS), help="run these methods alone")
    parser.add_argument("--full", action="store_true", help="the larger plan: more layers, depths, methods, settings")
    parser.add_argument("--held-out", action="store_true", help="also graphs that were never used for tuning")
    parser.add_argument("--hours", type=float, default=float("inf"), help="stop after the job that reaches this time")
    parser.add_argument("--out", type=Path, help="where export or page writes; in docs by default")
    parser.add_argument("--smoke", action="store_true", help="a study of seconds on the graph folder smoke")
    return parser.parse_args()


def plan_of(options: argparse.Namespace, places: Places) -> Plan:
    """Return the plan for the chosen graphs; runs need graphs that are on this machine, pages do not."""
    plan = FULL if options.full else CORE
    chosen = {
        name: graph for name, graph in GRAPHS.items() if name in plan.graphs or (options.held_out and graph.held_out)
    }
    if options.only:
        chosen = {name: graph for name, graph in chosen.items() if name in options.only}
    if options.command == "run":
        missing = [name for name, graph in chosen.items() if not is_there(graph, places)]
        if missing:
            print(f"not on this machine, left out: {', '.join(missing)}", file=sys.stderr)
        chosen = {name: graph for name, graph in chosen.items() if name not in missing}
        if options.methods:
            plan = replace(plan, methods=tuple(options.methods))
    return replace(plan, graphs=chosen)


def run(plan: Plan, places: Places, store: ResultStore, hours: float) -> None:
    """Run jobs until none is left or the time is up; finished ones are never repeated."""
    runner, end = Runner(plan.graphs, places, store, plan.num_trials), time.monotonic() + 3600 * hours
    while time.monotonic() < end and (left := jobs_left(plan, store.results)):
        result = runner.run(left[0])
        outcome = result.fault or f"valid {result.valid:.4f}, test {result.test:.4f}, {result.cpu_seconds:.1f} CPU s"
        print(f"{time.strftime('%H:%M:%S')} {result.name}: {outcome}", flush=True)


def status(plan: Plan, places: Places, store: ResultStore) -> None:
    """Print how much of each graph is done, and the next jobs."""
    print(f"{'graph':20}{'done':>8}{'expected':>10}{'CPU h':>9}{'left':>9}")
    for name, graph in plan.graphs.items():
        found = progress(plan, store.results, [name])
        here = "" if is_there(graph, places) else "  not on this machine"
        print(
            f"{name:20}{found.num_done:8,}{found.num_expected:10,}{found.hours_done:9.2f}{found.hours_left:9.1f}{here}"
        )
    for job in jobs_left(plan, store.results)[:5]:
        print(f"next: {job.name}")
    for result in store.results.values():
        if result.fault:
            print(f"failed: {result.name}: {result.fault}")


def with_bits(plan: Plan, store: ResultStore) -> set[str]:
    """Return the names of the results whose predictions are or may be compared: not those of settings left behind."""
    found = set()
    for name, result in store.results.items():
        job = result.job
        chosen = None if job.ending in ("recipe", "default") else chosen_trial(job.cell, plan.num_trials, store.results)
        found |= {name} if chosen in (None, job.trial) else set()
    return found


if __name__ == "__main__":
    main()
