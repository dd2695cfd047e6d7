"""A full, failing or read-only disk at every n-th write, fsync, rename, open and mmap of each command.

Nothing is silent: a command succeeds with the whole result, or ends with one line; the last good version stays.
"""

from __future__ import annotations

import random
import shutil
from functools import partial
from pathlib import Path

from tests.faults import injection
from tests.faults.campaign import Campaign
from tests.faults.injection import ERRORS, FROM_THEN_ON, KINDS, ONCE
from tests.faults.jobs import JOBS, Job, reference
from tests.faults.results import Result, files_of
from tests.faults.trials import run

Place = tuple[str, str, int, bool]
"""Kind of operation, error, number of the operation, and whether all later ones fail as well."""

_ERRORS = (("ENOSPC", True), ("EIO", False), ("EROFS", True))


def disk(campaign: Campaign, root: Path) -> None:
    """Fail every operation of every job, with one of the errors; other seeds draw other ones."""
    if not injection.is_there():
        campaign.counts[injection.MISSING] = 0
        return
    for name, share in campaign.chosen(JOBS):
        expected, _ = reference(root, JOBS[name])
        places = _places(root, JOBS[name], random.Random(f"{campaign.seed} {name}"))
        campaign.counts["places"] += len(places)
        for number in campaign.trials(len(places), share):
            _fail(campaign, root, JOBS[name], expected, places[number % len(places)])


def _places(root: Path, job: Job, rng: random.Random) -> list[Place]:
    """Return every place where a job can fail, in any order, each with one of the errors."""
    places: list[Place] = []
    for kind, bit in KINDS.items():
        ending = run(job.argv, job.fresh(root, "trial"), partial(injection.arm, root, bit, 0))
        assert ending.code == 0, ending
        for at in range(1, injection.num_seen() + 1):
            error, stays = rng.choice(_ERRORS)
            places.append((kind, error, at, stays))
    rng.shuffle(places)
    return places


def _fail(campaign: Campaign, root: Path, job: Job, expected: Result, place: Place) -> None:
    kind, error, at, stays = place
    folder = job.fresh(root, "trial")
    # Half of the folders have an earlier version, which must outlive the failure.
    replaces = job.result is files_of and at % 2 == 0
    if replaces:
        for path in (root / "whole").iterdir():
            (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
    arm = partial(injection.arm, root, KINDS[kind], at, ERRORS[error], FROM_THEN_ON if stays else ONCE)
    ending = run(job.next_argv(folder), folder, arm)
    campaign.counts["failures"] += injection.num_seen() >= at
    campaign.counts["refused"] += ending.code == 2
    where = f"{job.name}, {error} at {kind} {at}{' and all later' if stays else ''}{', replacing' if replaces else ''}"
    kept = job.compare(folder, expected) if replaces or ending.code == 0 else job.half_made(folder, expected)
    campaign.check(where, ending.fault, kept, job.finish(folder, expected))
