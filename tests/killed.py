"""Work in a fork that may be killed at any moment, and scripts of this in a process that has computed nothing yet."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def attempt(work: Callable[[], object], patience: float | None = None) -> int:
    """Do the work in a fork, killed after some seconds if it has not ended; return how it ended, as `wait` says it."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if patience is not None:
        time.sleep(patience)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def seconds_of(work: Callable[[], object]) -> float:
    """Do the work in a fork, where it must succeed; return the seconds it took."""
    begin = time.monotonic()
    assert attempt(work) == 0
    return time.monotonic() - begin


def kill_and_finish(
    work: Callable[[], object], moments: Iterable[float], check: Callable[[], object] = lambda: None
) -> int:
    """Start the work again and again, killed after so many seconds each time, then let it end; return the kills.

    check: called after each kill.
    """
    kills = 0
    for moment in moments:
        status = attempt(work, moment)
        assert status in (0, signal.SIGKILL), status
        kills += status == signal.SIGKILL
        check()
    assert attempt(work) == 0
    return kills


def run_script(script: str, *arguments: object) -> Any:
    """Run a script that has one thread and imports what attempts need before the first; return the JSON it prints."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
