"""Code chosen at run time against code compiled for this processor alone: PPR and training steps, in turns.

Not for: the wheel itself (tools/try_wheel.py). Builds the core twice below build/dispatch, a few minutes at first.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
from common import ROOT, Bar, Report, busy_share, finish, load_line, options

FLAGS = {"chosen at run time": "", "for this processor": "-march=native -DSHADOW_ONE_PROCESSOR"}
CASES = {
    "ppr": "1,000 PPR scopes of 200 nodes",
    "sage": "training step, 5-layer SAGE",
    "gat": "training step, 5-layer GAT",
}
MOST = 1.03
ROUNDS = 15


def build(name: str, flags: str) -> Path:
    """Build the core with some flags and return its file."""
    folder = ROOT / "build" / "dispatch" / name.replace(" ", "-")
    cmake_dir = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    programs = Path(sysconfig.get_path("scripts"))
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS": flags,
        "CMAKE_MAKE_PROGRAM": programs / "ninja",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": cmake_dir,
    }
    configure = [programs / "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja"]
    configure += [f"-D{key}={value}" for key, value in settings.items()]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([programs / "cmake", "--build", folder], check=True, stdout=subprocess.DEVNULL)
    (core,) = folder.glob("_core*.so")
    return core


class Worker:
    """A process with its own core that times a case on request."""

    def __init__(self, core: Path, data: Path) -> None:
        command = [sys.executable, str(Path(__file__).with_name("dispatch_worker.py")), str(core), str(data)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, case: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(case + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    chosen = options(__doc__ or "")
    report = Report(
        "Code chosen at run time against -march=native", ["case", *(f"{name}, ms" for name in FLAGS), "ratio"]
    )
    report.notes.append(load_line(busy_share()))
    workers = {name: Worker(build(name, flags), chosen.data) for name, flags in FLAGS.items()}
    for case, title in CASES.items():
        seconds: dict[str, list[float]] = {name: [] for name in FLAGS}
        for number in range((3 if chosen.quick else ROUNDS) + 1):
            for name, worker in workers.items():
                taken = worker.seconds(case)
                if number:  # The first round warms up.
                    seconds[name].append(taken)
        medians = [float(np.median(values)) for values in seconds.values()]
        ratio = medians[0] / medians[1]
        report.rows.append([title, *(f"{1000 * value:.1f}" for value in medians), f"{ratio:.3f}"])
        claim = f"{title}: at most {MOST} times the CPU time of a build for this processor"
        report.bars.append(Bar(claim, f"{ratio:.3f}", ratio <= MOST))
    for worker in workers.values():
        worker.close()
    report.notes.append(
        "CPU time, one thread, median over rounds in turns; both builds have the same compiler and -O3."
    )
    finish(report, chosen)


if __name__ == "__main__":
    main()
