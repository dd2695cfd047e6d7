"""Limits of memory, files and descriptors; folders that are read-only or vanish: one line, or success."""

from __future__ import annotations

import os
import random
import resource
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults.campaign import Campaign
from tests.faults.jobs import JOBS, Job, reference
from tests.faults.results import Result
from tests.faults.trials import Trial, run

MEGA = 1 << 20


def limits(campaign: Campaign, root: Path) -> None:
    """Limit each job 25 times in each way; afterwards the next run succeeds."""
    for name, share in campaign.chosen(JOBS):
        expected, duration = reference(root, JOBS[name])
        for number in campaign.trials(25, share):
            rng = random.Random(f"{campaign.seed} {name} {number}")
            # A search goes on without the trials that lack memory, so that its result is another one.
            memory = name != "tune"
            for what in (*MEMORY, *OTHERS) if memory else OTHERS:
                limit = partial((MEMORY | OTHERS)[what], rng.random())
                _limited(campaign, root, JOBS[name], expected, what, limit)
            if memory:
                _in_group(campaign, root, JOBS[name], expected, rng)
            _without_folder(campaign, root, JOBS[name], expected, rng.uniform(0, duration), locked=number % 2 == 0)


def _used(field: str) -> int:
    """Return a size of this process in bytes, such as VmData."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) * 1024


def limit_data(num_bytes: int, kind: int = resource.RLIMIT_DATA, field: str = "VmData") -> None:
    """Let this process have so many bytes above its data, or above what another field of its status says."""
    most = _used(field) + num_bytes
    resource.setrlimit(kind, (most, most))


def _limit_memory(kind: int, field: str, drawn: float) -> None:
    # With less, the C library or Arrow ends the process itself: it can make no thread, or no buffer.
    limit_data(128 * MEGA + int(200 * MEGA * drawn**3), kind, field)


def _limit_file(drawn: float) -> None:
    most = int(300_000 * drawn**3)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _limit_descriptors(drawn: float) -> None:
    most = len(os.listdir("/proc/self/fd")) + int(20 * drawn)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


MEMORY: dict[str, Callable[[float], None]] = {
    "RLIMIT_AS": partial(_limit_memory, resource.RLIMIT_AS, "VmSize"),
    "RLIMIT_DATA": partial(_limit_memory, resource.RLIMIT_DATA, "VmData"),
}
OTHERS: dict[str, Callable[[float], None]] = {"RLIMIT_FSIZE": _limit_file, "RLIMIT_NOFILE": _limit_descriptors}


def _limited(
    campaign: Campaign, root: Path, job: Job, expected: Result, what: str, limit: Callable[[], object]
) -> None:
    folder = job.fresh(root, "trial")
    ending = run(job.argv, folder, limit)
    campaign.counts[what] += 1
    campaign.counts["refused"] += ending.code == 2
    kept = job.half_made(folder, expected) if ending.code else job.compare(folder, expected)
    drawn = limit.args[-1] if isinstance(limit, partial) else ""
    campaign.check(f"{job.name}, {what} {drawn}", ending.fault, kept, job.finish(folder, expected))


def control_group(num_bytes: int) -> Path | None:
    """Make a control group with a limit, in either version; None where that is not allowed."""
    for root, name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = Path(root) / f"shadow-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / name).exists():
            (group / name).write_text(str(num_bytes))
            return group
        group.rmdir()  # An empty folder, where no file system of control groups is mounted.
    return None


def enter_group(group: Path) -> None:
    """Move this process into a control group."""
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _in_group(campaign: Campaign, root: Path, job: Job, expected: Result, rng: random.Random) -> None:
    """Run in a control group with room for the work, which begins with what is shared with this process."""
    group = control_group(rng.randrange(100, 300) * MEGA)
    if group is None:
        campaign.counts["control groups (not allowed here)"] = 0
        return
    try:
        _limited(campaign, root, job, expected, "control groups", partial(enter_group, group))
    finally:
        group.rmdir()


def _without_folder(campaign: Campaign, root: Path, job: Job, expected: Result, moment: float, *, locked: bool) -> None:
    """Take the folder away, or the right to write into it, while a job runs."""
    folder = job.fresh(root, "trial")
    trial = Trial(job.argv, folder)
    trial.ends_within(moment)
    if locked:
        for inner, _, _ in os.walk(folder):
            os.chmod(inner, 0o555)
    else:
        os.rename(folder, root / "away")
        shutil.rmtree(root / "away")
    ending = trial.ending()
    what = "read-only folders" if locked else "vanished folders"
    campaign.counts[what] += 1
    campaign.counts["refused"] += ending.code == 2
    if locked:
        for inner, _, _ in os.walk(folder):
            os.chmod(inner, 0o755)
        kept = job.half_made(folder, expected)
    else:
        folder, kept = job.fresh(root, "trial"), ""
    campaign.check(f"{job.name}, {what} after {moment:.3f} s", ending.fault, kept, job.finish(folder, expected))
