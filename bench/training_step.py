"""Training steps on scopes of ogbn-arxiv: against PyG, trimmed against untrimmed, against their own products."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from common import Bar, Report, busy_share, finish, load_line, options
from training_step_worker import Case

HERE = Path(__file__).resolve().parent
IDLE = 0.05
ROUNDS, QUIET = 24, 5
MODELS = {
    "5-layer SAGE, center": (Case("ours", "sage", 5, "center"), 4.0),
    "5-layer SAGE, max": (Case("ours", "sage", 5, "max"), 2.0),
    "5-layer GAT, center": (Case("ours", "gatconv", 5, "center"), 6.0),
    "5-layer GAT, max": (Case("ours", "gatconv", 5, "max"), 4.0),
}
TRIMS = {3: 3.5, 5: 1.7}
PRODUCTS = {"sage": ("SAGE", 1.6), "gat": ("GAT", 2.5)}


class Worker:
    """A process that times steps."""

    def __init__(self, data: Path, *arguments: str) -> None:
        command = [sys.executable, str(HERE / "training_step_worker.py"), "--data", str(data), *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def time(self, case: Case) -> tuple[float, float]:
        """Return the seconds of a step, and the share of the cores that others used meanwhile."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(case)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process that timed {case} ended with {self._process.wait()}")
        return tuple(json.loads(answer).values())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Turns:
    """Steps timed in turns, until each has enough quiet rounds."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self.num_loud = 0

    def milliseconds(self, cases: dict[str, tuple[Worker, Case]]) -> dict[str, float]:
        """Return the median milliseconds of a step over quiet rounds, or the least where there were too few."""
        seen: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
        for worker, case in cases.values():
            worker.time(case)
        for _ in range(self._rounds):
            for name, (worker, case) in cases.items():
                seen[name].append(worker.time(case))
            if all(len(quiet_of(values)) >= QUIET for values in seen.values()):
                break
        self.num_loud += sum(len(quiet_of(values)) < min(QUIET, self._rounds) for values in seen.values())
        return {name: 1e3 * typical(values, min(QUIET, self._rounds)) for name, values in seen.items()}


def quiet_of(values: list[tuple[float, float]]) -> list[float]:
    return [seconds for seconds, busy in values if busy <= IDLE]


def typical(values: list[tuple[float, float]], enough: int) -> float:
    quiet = quiet_of(values)
    return float(np.median(quiet)) if len(quiet) >= enough else min(seconds for seconds, _ in values)


def against_pyg(turns: Turns, cold: Worker, warm: Worker, report: Report) -> None:
    for label, (ours, bar) in MODELS.items():
        pyg = replace(ours, side="pyg")
        took = turns.milliseconds(
            {"ours": (warm, ours), "pyg": (cold, pyg), "ours, default": (cold, ours), "pyg, warm": (warm, pyg)}
        )
        ratio, warm_ratio = took["pyg"] / took["ours"], took["pyg, warm"] / took["ours"]
        cells = (took["pyg"], took["pyg, warm"], took["ours, default"], took["ours"])
        report.rows.append([label, *(f"{value:,.0f}" for value in cells), f"{ratio:.1f}", f"{warm_ratio:.1f}"])
        claim = f"{label}: at least {bar:g} times faster than PyG in a default process"
        report.bars.append(Bar(claim, f"{ratio:.2f} times, {warm_ratio:.2f} with PyG's allocator warm", ratio >= bar))


def trimmed(turns: Turns, warm: Worker, report: Report) -> None:
    for num_layers, bar in TRIMS.items():
        case = Case("ours", "sage", num_layers, "center")
        took = turns.milliseconds({"trimmed": (warm, case), "all": (warm, replace(case, trim=False))})
        ratio = took["all"] / took["trimmed"]
        claim = f"{num_layers}-layer SAGE, center: trimmed is at least {bar:g} times faster than untrimmed"
        measured = f"{ratio:.2f} times, {took['trimmed']:.0f} against {took['all']:.0f} ms"
        report.bars.append(Bar(claim, measured, ratio >= bar))


def against_products(turns: Turns, warm: Worker, report: Report) -> None:
    for layer, (name, bar) in PRODUCTS.items():
        case = Case("ours", layer, 5, "max")
        took = turns.milliseconds({"step": (warm, case), "products": (warm, replace(case, side="products"))})
        ratio = took["step"] / took["products"]
        claim = f"5-layer {name}, max: a step costs at most {bar:g} times its own matrix products"
        measured = f"{ratio:.2f} times, {took['step']:.0f} against {took['products']:.0f} ms"
        report.bars.append(Bar(claim, measured, ratio <= bar))


def in_bf16(turns: Turns, data: Path, report: Report) -> None:
    """Judge bfloat16 only where its products alone are faster: elsewhere the processor does not support it."""
    worker = Worker(data, "--warm", "--bf16")
    cases = {
        (side, bf16): Case(side, "sage", 5, "max", bf16=bf16) for side in ("ours", "products") for bf16 in (False, True)
    }
    took = turns.milliseconds({str(key): (worker, case) for key, case in cases.items()})
    worker.close()
    gain, products = (took[str((side, False))] / took[str((side, True))] for side in ("ours", "products"))
    supported = products >= 1.3
    measured = f"{gain:.2f} times; the products alone {products:.2f} times"
    claim = "5-layer SAGE, max: bf16 is at least 1.3 times faster where the CPU supports it"
    report.bars.append(Bar(claim, measured, gain >= 1.3 if supported else None))


def main(chosen: argparse.Namespace) -> None:
    columns = ("model", "PyG, default ms", "PyG, warm ms", "ours, default ms", "ours, warm ms", "times", "times, warm")
    report = Report("Training steps against PyG's operators on edge_index", columns, notes=[load_line(busy_share())])
    report.notes += [
        "128 targets of top-200, hidden 256, dropout 0.2, DropEdge 0.1; forward, backward and Adam. Default: a process "
        "as PyG's users run it; warm: a process that keeps freed memory, as our commands do.",
        "GAT has GATConv's form against PyG, and the authors' form against its own products.",
    ]
    turns = Turns(2 if chosen.quick else ROUNDS)
    cold, warm = Worker(chosen.data), Worker(chosen.data, "--warm")
    against_pyg(turns, cold, warm, report)
    cold.close()
    trimmed(turns, warm, report)
    against_products(turns, warm, report)
    warm.close()
    in_bf16(turns, chosen.data, report)
    if turns.num_loud:
        report.notes.append(f"For lack of quiet rounds, {turns.num_loud} timings are the minimum and not the median.")
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
