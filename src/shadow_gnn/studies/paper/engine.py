"""Engine: do the jobs of an experiment, store each result, resume after a stop, and write the finding.

Not for: the jobs (a file for each experiment) or the format of a finding (report.py).
"""

from __future__ import annotations

import json
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
FAST = "Made with `--fast`: few targets, and small models where any are trained. Not comparable with the paper."
_KEY = re.compile(r"[a-z0-9][a-z0-9.-]{0,199}")


@dataclass(frozen=True)
class Tally:
    """Progress of an experiment."""

    num_done: int
    """Jobs with a stored result."""
    num_jobs: int
    """Jobs in all."""
    seconds_left: float | None
    """Estimate from the mean of the finished jobs; None before the first."""


class Watcher(Protocol):
    """Receives the events of a job."""

    def on_job(self, job: Job, tally: Tally) -> None:
        """Called when a job begins."""
        return

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """Called with the progress of a job."""
        return

    def on_end(self, job: Job, seconds: float, tally: Tally) -> None:
        """Called when a job is done and its result stored."""
        return

    def on_fault(self, job: Job, error: Exception, tally: Tally) -> None:
        """Called when a job fails; the others continue."""
        return


class Silent(Watcher):
    """A watcher that does nothing."""


@dataclass(frozen=True)
class Kept:
    """A job that is done."""

    result: Result
    """Its result."""
    seconds: float
    """Its duration."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a call of `reproduce`."""

    finding: Finding
    """The finding, as written."""
    files: tuple[Path, ...]
    """The Markdown page first, then tables and figure."""
    num_done: int
    """Jobs behind the finding."""
    num_jobs: int
    """Jobs in all."""
    faults: Mapping[str, Exception]
    """Errors of failed jobs, by key."""


def reproduce(
    experiment: Experiment,
    options: ReproduceOptions,
    *,
    only: str = "*",
    report: bool = False,
    watcher: Watcher | None = None,
) -> Outcome:
    """Do the unfinished jobs of an experiment and write the finding into options.out.

    only: a glob of job keys; other jobs are not done now, but earlier results of theirs count.
    report: do no jobs, only write the finding from the stored results.

    >>> sg.reproduce(sg.find_experiment("sgc"), sg.ReproduceOptions(fast=True))  # doctest: +SKIP
    """
    jobs = _checked(experiment, experiment.jobs(options))
    chosen = [job for job in jobs if fnmatchcase(job.key, only)]
    if not chosen:
        keys = ", ".join(job.key for job in jobs[:5]) + (f" and {len(jobs) - 5} more" if len(jobs) > 5 else "")
        raise ValueError(f"reproduce: --only must match jobs of {experiment.name}, got {only!r}; they are {keys}")
    folder = options.out
    faults: dict[str, Exception] = {}
    if not report:
        _make_folder(folder / JOBS)
        with locked(folder):
            faults = _do_jobs(chosen, read_kept(chosen, folder), folder, watcher or Silent())
    # Not locked: a report is possible while another process does the jobs.
    kept = read_kept(jobs, folder)
    if not kept:
        raise _nothing(experiment, folder, faults)
    finding = experiment.finding({key: done.result for key, done in kept.items()}, options)
    data = "\n".join(data_lines(experiment.data, options.data)) if experiment.data else ""
    parts = [finding.text, f"Data:\n\n{data}" if data else "", FAST if options.fast else ""]
    text, notes = "\n\n".join(part for part in parts if part), [*finding.notes]
    if len(kept) < len(jobs):
        notes.append(f"Made of {len(kept)} of {len(jobs)} jobs; the others are not done.")
    notes += [f"Not done: {key}: {' '.join(str(error).split())}" for key, error in faults.items()]
    finding = replace(finding, text=text, notes=tuple(notes))
    return Outcome(finding, tuple(write_finding(finding, experiment.name, folder)), len(kept), len(jobs), faults)


def read_kept(jobs: Sequence[Job], folder: Path) -> dict[str, Kept]:
    """Return the stored results of jobs, by key; results of other settings are ignored."""
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
            reason = str(error).removeprefix(f"{path}: ") if isinstance(error, RunError) else "is not a stored result"
            raise RunError(f"{path}: {reason}; remove it to repeat the job") from error
    return kept


def seconds_left(seconds: Sequence[float], num_left: int) -> float | None:
    """Estimate the time of the remaining jobs from the finished ones; None without any."""
    return sum(seconds) / len(seconds) * num_left if seconds else None


def _do_jobs(jobs: Sequence[Job], kept: Mapping[str, Kept], folder: Path, watcher: Watcher) -> dict[str, Exception]:
    """Do the jobs without a stored result, one after the other, and store each result at once."""
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
        content = {"version": VERSION, "key": job.key, "title": job.title, "settings": _plain(job.settings)}
        write_json(_job_file(folder, job), content | {"result": _plain(result), "seconds": seconds[-1]})
        watcher.on_end(job, seconds[-1], tally())
    return faults


def _checked(experiment: Experiment, jobs: Sequence[Job]) -> Sequence[Job]:
    for job in jobs:
        if not _KEY.fullmatch(job.key):
            raise ValueError(f"{experiment.name}: key of a job must be a-z, 0-9, dots and dashes, got {job.key!r}")
    if len({job.key for job in jobs}) < len(jobs):
        raise ValueError(f"{experiment.name}: keys of jobs must differ, some are the same")
    return jobs


def _nothing(experiment: Experiment, folder: Path, faults: Mapping[str, Exception]) -> Exception:
    """Return the error for an experiment without any result."""
    if faults:
        return next(iter(faults.values()))
    if any((folder / JOBS).glob("*.json")):
        hint = "the stored results have other settings: give the same --data and --fast as before"
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


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back, so that stored settings compare equal to new ones."""
    return json.loads(json.dumps(value, allow_nan=False))
