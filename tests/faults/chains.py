"""Chains of kills and resumes of training, with other threads in between: bit-equal to the unbroken run."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.communities import communities, near_ring, small_recipe
from tests.faults.campaign import Campaign
from tests.faults.jobs import Job, reference
from tests.faults.results import run_of
from tests.faults.trials import Trial, run

NODES = {"training__num_epochs": 6, "training__batch_size": 16, "training__patience": 4}
VARIANTS: dict[str, dict[str, Any]] = {
    "nodes": NODES,
    # Everything that is drawn again in an epoch of links: their share, the negatives and the scopes.
    "links": {
        **NODES,
        "task__kind": "link",
        "link__epoch_share": 0.15,
        "link__num_negatives": 2,
        "link__negatives": "degree",
        "link__use_valid_edges": True,
        "extractor__kind": "stochastic-ppr",
        "inputs__graph_degree": True,
        "model__encoding": "drnl",
        "model__readout": "sort",
        "training__cache": "disk",
        "training__monitor": "auc",
    },
    "packed": {**NODES, "training__pack": True},
    "init": {**NODES, "training__init": "normal"},
    "warm": {**NODES, "training__warm_start": "neighbor", "training__warm_epochs": 6},
    "average": {**NODES, "training__average": 0.9, "training__label_smoothing": 0.1, "model__layer": "transformer"},
    "joint": {**NODES, "training__method": "joint", "joint__block_size": 4, "joint__max_nodes": 60},
}


def chains(campaign: Campaign, root: Path) -> None:
    """Make 200 chains of 1 to 5 kills, over the ways to train."""
    names = campaign.chosen(VARIANTS)
    for name, share in names:
        job = _prepare(root, name)
        expected, duration = reference(root, job)
        for number in campaign.trials(-(-200 // len(names)), share):
            rng = random.Random(f"{campaign.seed} {name} {number}")
            folder = job.fresh(root, "trial")
            where = f"{name}, chain {number}"
            for _ in range(rng.randint(1, 5)):
                trial = Trial(job.next_argv(folder), folder, _on_cores(rng.randint(1, 4)))
                trial.signal_after(rng.uniform(0, 0.7 * duration))
                ending = trial.ending()
                campaign.counts["kills"] += ending.code == -signal.SIGKILL
                resumed = any(folder.rglob("checkpoints/epoch-*"))
                campaign.counts["with a checkpoint"] += resumed and ending.code == -signal.SIGKILL
                if ending.code not in (0, -signal.SIGKILL):
                    campaign.check(where, ending.fault or f"exit code {ending.code}: {ending.err}")
                campaign.check(where, job.half_made(folder, expected))
            campaign.check(where, job.finish(folder, expected))
            campaign.counts["chains"] += 1


def _prepare(root: Path, name: str) -> Job:
    """Write the graph and the recipe of a variant; return the job that trains it."""
    from shadow_gnn.graph.store import save_graph
    from shadow_gnn.recipe.file import write_recipe

    place = root / "place" / f"chain-{name}"
    argv = ("train", f"../place/{place.name}/recipe.toml", "--out", "out")
    job = Job(name, argv, run_of, ("resume", "out"))
    if place.exists():
        return job
    place.mkdir()
    changes = dict(VARIANTS[name])
    save_graph(near_ring() if changes.get("task__kind") == "link" else communities(), place / "graph")
    if "training__init" in changes:
        normal = small_recipe(
            graph=str(place / "graph"), extractor=None, training__method="full", training__num_epochs=2
        )
        (place / "normal.toml").write_text(write_recipe(normal))
        ending = run(("train", "normal.toml", "--out", "normal"), place)
        assert ending.code == 0, ending
        changes["training__init"] = str(place / "normal")
    (place / "recipe.toml").write_text(write_recipe(small_recipe(graph=str(place / "graph"), **changes)))
    return job


def _on_cores(count: int) -> Any:
    """Return what lets extraction use so many threads: it takes one for each core of the process."""

    def pretend() -> None:
        cores: Sequence[int] = range(count)
        os.sched_getaffinity = lambda pid: set(cores)  # type: ignore[assignment]

    return pretend
