"""Short fault campaigns: each runs some trials and finds nothing, and a program that breaks its promises is found."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults import injection
from tests.faults.__main__ import NAMES
from tests.faults.callers import Caller, Change
from tests.faults.jobs import Job
from tests.faults.results import files_of, leftovers, run_of
from tests.faults.trials import Ending

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

# Campaigns in one process share its imports; the full ones are `make faults`.
FORKING = ("kills", "chains", "disk", "cuts", "limits", "clock", "signals", "serve")
JOBS = (
    "import",
    "import --memory",
    "train",
    "predict",
    "graph compact",
    "data info",
    "nodes",
    "links",
    "warm",
    "joint",
)
COMPARING = ("equal", "growth")


def run(names: Sequence[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run campaigns in a process of their own."""
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    only = [word for name in names for word in ("--only", name)]
    command = [sys.executable, "-m", "tests.faults", *only, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**environment, "PYTHONPATH": str(ROOT)}, check=False
    )


def check(done: subprocess.CompletedProcess[str], names: Sequence[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        if injection.MISSING not in line:
            assert re.fullmatch(rf"{name}: .*[1-9].*; 0 faults; \d+ s", line)


def test_every_campaign_has_a_short_form() -> None:
    assert (*FORKING, *COMPARING) == NAMES


@pytest.mark.timeout(600)
def test_kills_disks_cuts_limits_clocks_and_signals_find_no_fault() -> None:
    jobs = [word for job in JOBS for word in ("--job", job)]
    check(run(FORKING, "--count", "1", "--seconds", "15", *jobs), FORKING)


def test_scopes_are_equal_and_nothing_grows() -> None:
    check(run(COMPARING, "--count", "300", "--job", "ppr"), COMPARING)


@pytest.mark.parametrize(
    ("ending", "fault"),
    [
        (Ending(0, "done", "", 0.1), ""),
        (Ending(2, "", "shadow: x.npy: cannot be read\n", 0.1), ""),
        (Ending(2, "", "shadow: one\nshadow: two\n", 0.1), "2 lines"),
        (Ending(2, "", "", 0.1), "0 lines"),
        (Ending(1, "", "Traceback (most recent call last):\nKeyError: 1\n", 0.1), "traceback: KeyError: 1"),
        (Ending(-11, "", "", 0.1), "exit code -11"),
        (Ending(0, "", "", 0.1, left=True), "left a process"),
    ],
)
def test_endings_that_are_no_success_and_no_line_are_faults(ending: Ending, fault: str) -> None:
    assert ending.fault.startswith(fault)
    assert bool(ending.fault) == bool(fault)


def test_what_is_half_made_different_or_left_over_is_a_fault(tmp_path: Path) -> None:
    job, expected = Job("import", (), files_of), {"a.npy": b"whole", "b.npy": b"too"}
    assert job.half_made(tmp_path, expected) == ""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.npy").write_bytes(b"who")
    assert job.half_made(tmp_path, {"a.npy": b"whole"}) == "half-made: ['a.npy']"
    (tmp_path / "out" / "a.npy").write_bytes(b"whole")
    assert job.half_made(tmp_path, expected) == "half-made: without ['b.npy']"
    assert job.compare(tmp_path, expected) == "another result: ['b.npy']"
    (tmp_path / ".out.work").mkdir()
    assert leftovers(tmp_path) == "leftovers: ['.out.work']"


def test_runs_without_their_final_name_are_not_half_made(tmp_path: Path) -> None:
    job = Job("train", (), run_of)
    for name, fault in ((".warm.0123.shadow.tmp", ""), ("warm", "half-made: RunError")):
        record = tmp_path / "out" / name / "run.json"
        record.parent.mkdir(parents=True)
        record.touch()
        assert job.half_made(tmp_path, {}).startswith(fault)
        assert bool(job.half_made(tmp_path, {})) == bool(fault)


def test_updates_that_are_lost_or_other_than_answered_are_faults() -> None:
    caller = Caller(1, random.Random(0), 9, {5.0: (9, frozenset([2]))}, num_answered=1)
    assert caller.fault({5.0: (9, frozenset([2]))}) == ""
    assert caller.fault({}) == "node 5.0 is lost"
    assert caller.fault({5.0: (9, frozenset([2, 3]))}) == "node 5.0 has the neighbors [2, 3], not [2]"
    caller.sent = Change("key", "set_edges", [], 5.0, frozenset([2, 3]))
    assert caller.fault({5.0: (9, frozenset([2, 3]))}) == ""
    assert caller.was_made({5.0: (9, frozenset([2, 3]))})
    assert not caller.was_made({5.0: (9, frozenset([2]))})


INJECTED = """
import sys
from pathlib import Path
from tests.faults import injection
injection.arm(Path(sys.argv[1]), injection.KINDS[sys.argv[2]], 2, injection.ERRORS["ENOSPC"], injection.ONCE)
for number in range(3):
    try:
        path = Path(sys.argv[1]) / f"{number}.txt"
        path.write_text("text")
        path.rename(path.with_suffix(".done"))
        print("fine", end=" ")
    except OSError as error:
        print(error.strerror, end=" ")
print(injection.num_seen())
"""


@pytest.mark.parametrize("kind", ["write", "rename", "open"])
def test_the_injector_fails_the_chosen_operation_alone(tmp_path: Path, kind: str) -> None:
    library = injection.build(tmp_path / "library")
    if library is None:
        pytest.skip(injection.MISSING)
    (tmp_path / "files").mkdir()
    environment = dict(os.environ, PYTHONPATH=str(ROOT), LD_PRELOAD=str(library))
    command = [sys.executable, "-c", INJECTED, str(tmp_path / "files"), kind]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    # Python tries a failed write again when it closes the file.
    assert re.fullmatch(r"fine No space left on device fine [34]\n", done.stdout)
