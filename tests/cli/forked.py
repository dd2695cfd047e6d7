"""Many commands in forks of one process that has imported everything: each start of torch costs seconds."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# A case is {"argv": [...], "data": bytes of RLIMIT_DATA above what there is, "group": a control group to enter}.
SCRIPT = """
import json, os, sys
from functools import partial
from pathlib import Path
from tests.faults.limits import enter_group, limit_data
from tests.faults.trials import run
from tests.faults.warm import import_everything

def limit(case):
    if "group" in case:
        enter_group(Path(case["group"]))
    if "data" in case:
        limit_data(case["data"])

import_everything()
for line in sys.stdin:
    asked = json.loads(line)
    os.chdir(asked["folder"])
    endings = [run(case["argv"], Path.cwd(), partial(limit, case)) for case in asked["cases"]]
    print(json.dumps([(ending.code, ending.out, ending.err) for ending in endings]), flush=True)
"""


@cache
def process() -> subprocess.Popen[str]:
    """Start the process, which ends with the one that asks it."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    atexit.register(started.communicate)
    return started


def run_cases(cases: Sequence[dict[str, Any]], folder: Path) -> list[tuple[int, str, str]]:
    """Run commands in a folder; return the exit code, stdout and stderr of each."""
    asked = process()
    assert asked.stdin is not None
    assert asked.stdout is not None
    asked.stdin.write(json.dumps({"folder": str(folder), "cases": list(cases)}) + "\n")
    asked.stdin.flush()
    return [tuple(case) for case in json.loads(asked.stdout.readline())]
