"""SIGKILL at a random moment or file operation: nothing half-made, the next run succeeds and removes the leftovers."""

from __future__ import annotations

import random
import signal
from functools import partial
from pathlib import Path

from tests.faults import injection
from tests.faults.campaign import Campaign
from tests.faults.jobs import JOBS, Job, reference
from tests.faults.results import Result
from tests.faults.trials import Ending, Trial

EVERY_KIND = sum(injection.KINDS.values())


def kills(campaign: Campaign, root: Path) -> None:
    """Kill each job 200 times, half of them by the clock and half at a file operation."""
    for name, share in campaign.chosen(JOBS):
        job = JOBS[name]
        expected, duration = reference(root, job)
        num_operations = _count(root, job)
        for number in campaign.trials(200, share):
            rng = random.Random(f"{campaign.seed} {name} {number}")
            _kill(campaign, root, job, expected, rng, duration, num_operations if number % 2 else 0)


def _count(root: Path, job: Job) -> int:
    """Return the file operations of a job."""
    if not injection.is_there():
        return 0
    folder = job.fresh(root, "trial")
    Trial(job.argv, folder, partial(injection.arm, root, EVERY_KIND, 0)).ending()
    return injection.num_seen()


def _kill(
    campaign: Campaign,
    root: Path,
    job: Job,
    expected: Result,
    rng: random.Random,
    duration: float,
    num_operations: int,
) -> None:
    """Kill once, also where the moment that was drawn came too late, and look at the remains."""
    while True:
        folder = job.fresh(root, "trial")
        if num_operations:
            at = rng.randrange(1, num_operations + 1)
            where = f"{job.name}, killed at file operation {at}"
            kill = partial(injection.arm, root, EVERY_KIND, at, 0, injection.KILL)
            ending = Trial(job.argv, folder, kill).ending()
        else:
            moment = rng.uniform(0, duration)
            where = f"{job.name}, killed after {moment:.3f} s"
            ending = _killed_after(job.argv, folder, moment)
        if ending.code == -signal.SIGKILL:
            break
        if ending.code:
            campaign.check(where, ending.fault or f"exit code {ending.code}")
            return
        duration *= 0.9
    campaign.counts[job.name] += 1
    if ending.left:
        campaign.check(where, "left a process")
    campaign.check(where, job.half_made(folder, expected), job.finish(folder, expected))


def _killed_after(argv: tuple[str, ...], folder: Path, moment: float) -> Ending:
    trial = Trial(argv, folder)
    trial.signal_after(moment)
    return trial.ending()
