"""Work in a fork that may be killed in its midst, and scripts of such work in a process that has computed nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
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


def run_script(script: str, *arguments: object) -> Any:
    """Run a script that has one thread and imports what attempts need before the first; return the JSON it prints."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
