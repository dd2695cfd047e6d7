"""Starting ranks as a user does, with torchrun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def torchrun(*arguments: object, num_ranks: int = 2, **options: Any) -> subprocess.Popen[str]:
    """Start a module with its arguments in several ranks; a port that is free is chosen."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(num_ranks), "-m"]
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, *launcher, *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def finished(process: subprocess.Popen[str], timeout: float = 240) -> tuple[int, str, str]:
    """Wait for the end and return the exit code, stdout and stderr; whatever happens, no process is left."""
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, out, err
