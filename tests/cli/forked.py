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
import json, os, resource, sys, tempfile
from pathlib import Path
import numpy, pyarrow, pyarrow.parquet, pyarrow.compute, torch
import lightning_fabric
import shadow_gnn.training.runs.repeats, shadow_gnn.graph.importing.detect
import shadow_gnn.inference.write_predictions, shadow_gnn.inference.evaluation
from shadow_gnn.cli.main import main

torch.set_num_threads(1)
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)

def limit(case):
    if "group" in case:
        (Path(case["group"]) / "cgroup.procs").write_text(str(os.getpid()))
    if "data" in case:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        most = int(status["VmData"].split()[0]) * 1024 + case["data"]
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

def run(case):
    files = [tempfile.TemporaryFile() for _ in range(2)]
    pid = os.fork()
    if pid == 0:
        for number, file in enumerate(files, start=1):
            os.dup2(file.fileno(), number)
        sys.argv = ["shadow", *case["argv"]]
        code = 99
        try:
            limit(case)
            main()
        except SystemExit as end:
            code = end.code
        except BaseException:
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    status = os.waitpid(pid, 0)[1]
    said = []
    for file in files:
        file.seek(0)
        said.append(file.read().decode())
    return [os.waitstatus_to_exitcode(status), *said]

print(json.dumps([run(case) for case in json.loads(sys.argv[1])]))
"""


def obey_permissions() -> None:
    """Let the next program obey permissions also where root starts it: without CAP_DAC_OVERRIDE."""
    import ctypes

    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def run_cases(cases: Sequence[dict[str, Any]], folder: Path) -> list[tuple[int, str, str]]:
    """Run commands in a folder; return the exit code, stdout and stderr of each."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT, json.dumps(list(cases))]
    options: dict[str, Any] = {"capture_output": True, "text": True, "env": environment, "cwd": folder, "check": False}
    done = subprocess.run(command, preexec_fn=obey_permissions, **options)
    assert done.returncode == 0, done.stderr
    return [tuple(case) for case in json.loads(done.stdout)]
