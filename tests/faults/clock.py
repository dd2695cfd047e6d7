"""A clock of the wall that jumps by years, forward and back: kills, resumes and caches end with the same result."""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

from tests.faults import injection
from tests.faults.campaign import Campaign
from tests.faults.jobs import JOBS, reference
from tests.faults.trials import Trial


def clock(campaign: Campaign, root: Path) -> None:
    """Kill each job while the clock jumps, give its files random dates, and finish it while the clock jumps."""
    if not injection.is_there():
        campaign.counts[injection.MISSING] = 0
        return
    for name, share in campaign.chosen(JOBS):
        job = JOBS[name]
        expected, duration = reference(root, job)
        for number in campaign.trials(25, share):
            rng = random.Random(f"{campaign.seed} {name} {number}")
            folder = job.fresh(root, "trial")
            trial = Trial(job.argv, folder, partial(injection.let_clock_jump, rng.getrandbits(30)))
            trial.signal_after(rng.uniform(0, duration))
            trial.ending()
            for path in folder.rglob("*"):
                date = rng.randrange(2**31)
                os.utime(path, (date, date))
            jumping = partial(injection.let_clock_jump, rng.getrandbits(30))
            campaign.check(f"{name}, trial {number}", job.finish(folder, expected, jumping))
            campaign.counts[name] += 1
