"""Many commands in forks of one process that has imported everything: each start of torch costs seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# A case is {"argv": [...], "data": bytes of RLIMIT_DATA above what there is, "group": a control group to enter}.
SCRIPT = """
import json, sys
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
endings = [run(case["argv"], Path.cwd(), partial(limit, case)) for case in json.loads(sys.argv[1])]
print(json.dumps([(ending.code, ending.out, ending.err) for ending in endings]))
"""


def run_cases(cases: Sequence[dict[str, Any]], folder: Path) -> list[tuple[int, str, str]]:
    """Run commands in a folder; return the exit code, stdout and stderr of each."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT, json.dumps(list(cases))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(case) for case in json.loads(done.stdout)]
