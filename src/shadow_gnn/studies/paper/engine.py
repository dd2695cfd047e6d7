"""Engine: do the jobs of an experiment, keep each result, resume after a stop, and write the finding.

Not for: what the jobs are (experiment.py and a file for each experiment) or how a finding looks (report.py).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from shadow_gnn.base.errors import RunError, ShadowError, WriteError
from shadow_gnn.studies.paper.data import data_lines
from shadow_gnn.studies.paper.experiment import Experiment, Finding, Job, ReproduceOptions, Result
from shadow_gnn.studies.paper.report import write_finding
from shadow_gnn.training.runs.folder import locked, read_json, write_json

VERSION = 1
JOBS = "jobs"
_KEY = re.compile(r"[a-z0-9][a-z0-9.-]{0,199}")


@dataclass(frozen=True)
class Tally:
    """How far an experiment is."""

    num_done: int
    """Jobs whose results are kept."""
    num_jobs: int
    """Jobs in all."""
    seconds_left: float | None
    """From the mean of the jobs that are done; None before the first."""


class Watcher(Protocol):
    """Receives the events of a job."""

    def on_job(self, job: Job, tally: Tally) -> None:
        """Called when a job begins."""
        ...

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """Called with the progress of a job."""
        ...

    def on_end(self, job: Job, seconds: float, tally: Tally) -> None:
        """Called when a job is done and its result kept."""
        ...

    def on_fault(self, job: Job, error: Exception, tally: Tally) -> None:
        """Called when a job cannot be done; the others continue."""
        ...


class Silent:
    """A watcher that does nothing."""

    def on_job(self, job: Job, tally: Tally) -> None:
        """Do nothing."""

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """Do nothing."""

    def on_end(self, job: Job, seconds: float, tally: Tally) -> None:
        """Do nothing."""

    def on_fault(self, job: Job, error: Exception, tally: Tally) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Kept:
    """A job that was done before."""

    result: Result
    """Its result."""
    seconds: float
    """How long it took."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a call of `reproduce`."""

    finding: Finding
    """The finding that was written."""
    files: tuple[Path, ...]
    """The Markdown page first, then tables and figure."""
    num_done: int
    """Jobs whose results the finding is made of."""
    num_jobs: int
    """Jobs in all."""
    faults: Mapping[str, Exception]
    """Jobs that could not be done, by key."""


def reproduce(
    experiment: Experiment,
    options: ReproduceOptions,
    *,
    only: str = "*",
    report: bool = False,
    watcher: Watcher | None = None,
) -> Outcome:
    """Do the jobs of an experiment that are not done yet and write the finding into options.out.

    only: a glob of job keys; jobs that do not match are not done, but count if they were done before.
    report: do no jobs, only write the finding from the kept results.
    """
    jobs = _checked(experiment, experiment.jobs(options))
    chosen = [job for job in jobs if fnmatchcase(job.key, only)]
    if not chosen:
        raise ValueError(
            f"reproduce: --only must match jobs of {experiment.name}, got {only!r}; they are {_some_keys(jobs)}"
        )
    folder = options.out
    faults: dict[str, Exception] = {}
    if not report:
        _make_folder(folder / JOBS)
        with locked(folder):
            faults = _do_jobs(chosen, read_kept(chosen, folder), folder, watcher or Silent())
    # Not locked: a report can be made while another process does the jobs.
    kept = read_kept(jobs, folder)
    if not kept:
        raise _nothing(experiment, folder, faults)
    finding = experiment.finding({key: done.result for key, done in kept.items()}, options)
    finding = _complete(finding, experiment, options, _Work(jobs, kept, faults))
    return Outcome(finding, tuple(write_finding(finding, experiment.name, folder)), len(kept), len(jobs), faults)


def read_kept(jobs: Sequence[Job], folder: Path) -> dict[str, Kept]:
    """Return the kept results of jobs, by key; results of other settings are ignored."""
    kept = {}
    for job in jobs:
        path = _job_file(folder, job)
        if not path.exists():
            continue
        try:
            content = read_json(path)
            if content["version"] == VERSION and content["settings"] == _plain(job.settings):
                kept[job.key] = Kept(content["result"], float(content["seconds"]))
        except (RunError, KeyError, TypeError, ValueError) as error:
            reason = str(error).removeprefix(f"{path}: ") if isinstance(error, RunError) else "is not a kept result"
            raise RunError(f"{path}: {reason}; remove it to have the job done again") from error
    return kept


def seconds_left(seconds: Sequence[float], num_left: int) -> float | None:
    """Estimate the time of the remaining jobs from that of the others; None if there are none."""
    return sum(seconds) / len(seconds) * num_left if seconds else None


def _do_jobs(jobs: Sequence[Job], kept: Mapping[str, Kept], folder: Path, watcher: Watcher) -> dict[str, Exception]:
    """Do the jobs without a kept result, one after the other, and keep each result at once."""
    faults: dict[str, Exception] = {}
    seconds = [kept[job.key].seconds for job in jobs if job.key in kept]

    def tally() -> Tally:
        num_left = len(jobs) - len(seconds) - len(faults)
        return Tally(len(seconds), len(jobs), seconds_left(seconds, num_left))

    for job in jobs:
        if job.key in kept:
            continue
        watcher.on_job(job, tally())
        begin = time.monotonic()
        try:
            result = job.run(watcher.on_progress)
        except WriteError:  # The next job would find the disk as full.
            raise
        except (ShadowError, ValueError, MemoryError) as error:
            faults[job.key] = error
            watcher.on_fault(job, error, tally())
            continue
        seconds.append(time.monotonic() - begin)
        _keep(job, result, seconds[-1], folder)
        watcher.on_end(job, seconds[-1], tally())
    return faults


def _keep(job: Job, result: Result, seconds: float, folder: Path) -> None:
    content = {
        "version": VERSION,
        "key": job.key,
        "title": job.title,
        "settings": _plain(job.settings),
        "result": _plain(result),
        "seconds": seconds,
    }
    write_json(_job_file(folder, job), content)


@dataclass(frozen=True, eq=False)
class _Work:
    jobs: Sequence[Job]
    kept: Mapping[str, Kept]
    faults: Mapping[str, Exception]


def _complete(finding: Finding, experiment: Experiment, options: ReproduceOptions, work: _Work) -> Finding:
    """Add the parts of every finding: its data, --fast, and the number of jobs."""
    data = "\n".join(data_lines(experiment.data, options.data)) if experiment.data else ""
    fast = "Made with `--fast`: few targets, and small models where any are trained. Not to be compared with the paper."
    parts = [finding.text, f"Data:\n\n{data}" if data else "", fast if options.fast else ""]
    notes = list(finding.notes)
    if len(work.kept) < len(work.jobs):
        notes.append(f"Made of {len(work.kept)} of {len(work.jobs)} jobs; the others are not done.")
    notes += [f"Not done: {key}: {' '.join(str(error).split())}" for key, error in work.faults.items()]
    return replace(finding, text="\n\n".join(part for part in parts if part), notes=tuple(notes))


def _checked(experiment: Experiment, jobs: Sequence[Job]) -> Sequence[Job]:
    for job in jobs:
        if not _KEY.fullmatch(job.key):
            raise ValueError(f"{experiment.name}: key of a job must be a-z, 0-9, dots and dashes, got {job.key!r}")
    if len({job.key for job in jobs}) < len(jobs):
        raise ValueError(f"{experiment.name}: keys of jobs must differ, some are the same")
    return jobs


def _nothing(experiment: Experiment, folder: Path, faults: Mapping[str, Exception]) -> Exception:
    """Say why there is nothing to write a finding of."""
    if faults:
        return next(iter(faults.values()))
    if any((folder / JOBS).glob("*.json")):
        hint = "the kept results have other settings: give the same --data and --fast as before"
    else:
        hint = f"run shadow reproduce {experiment.name} without --report first"
    return RunError(f"{folder}: must hold results of {experiment.name} for a report, got none; {hint}")


def _job_file(folder: Path, job: Job) -> Path:
    return folder / JOBS / f"{job.key}.json"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder}: cannot be made: {error.strerror or error}") from error


def _some_keys(jobs: Sequence[Job]) -> str:
    shown = [job.key for job in jobs[:5]]
    return ", ".join(shown) + (f" and {len(jobs) - 5} more" if len(jobs) > 5 else "")


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back, so that kept settings compare equal to new ones."""
    import json

    return json.loads(json.dumps(value, allow_nan=False))
