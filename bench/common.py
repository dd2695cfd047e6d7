"""Common: the data, targets, timers and tables with pass or fail lines of every benchmark.

Not for: any one claim; each has a script of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from power_law import power_law_graph

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.record import DenseFeatures, Graph

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "bench"
REAL_GRAPHS = ("ogbn-arxiv", "flickr")


@dataclass(frozen=True)
class Bar:
    """One claim and whether it holds; None if it could not be judged."""

    claim: str
    measured: str
    passed: bool | None

    def line(self) -> str:
        word = {True: "PASS", False: "FAIL", None: "SKIP"}[self.passed]
        return f"{word}  {self.claim}: {self.measured}"


@dataclass
class Report:
    """A table, notes and bars of one benchmark."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)

    def text(self) -> str:
        widths = [max(len(row[at]) for row in [self.columns, *self.rows]) for at in range(len(self.columns))]
        lines = [self.title]
        for row in [self.columns, *self.rows]:
            first, *others = (
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join([first, *others]))
        return "\n".join([*lines, *self.notes, *(bar.line() for bar in self.bars)])

    def markdown(self) -> str:
        def row(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        rule = row(["---", *["---:"] * (len(self.columns) - 1)])
        table = [row(self.columns), rule, *map(row, self.rows)]
        notes = ["", *self.notes] if self.notes else []
        bars = ["", *(f"- {bar.line()}" for bar in self.bars)] if self.bars else []
        return "\n".join([f"## {self.title}", "", *table, *notes, *bars, ""])


def options(description: str, add: Callable[[argparse.ArgumentParser], None] = lambda _: None) -> argparse.Namespace:
    """Read the options that every script takes; from here on freed memory is kept, for us and for every peer.

    add: adds options of a script's own.
    """
    keep_freed_memory()
    parser = argparse.ArgumentParser(description=description)
    default = os.environ.get("SHADOW_NPZ", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of .npz graphs (or SHADOW_NPZ)")
    parser.add_argument("--markdown", type=Path, help="append the table to this file")
    parser.add_argument("--quick", action="store_true", help="few targets, to see that the script works")
    add(parser)
    return parser.parse_args()


def finish(report: Report, chosen: argparse.Namespace) -> None:
    """Print the report, append it as Markdown where asked, and exit 1 if a bar is missed."""
    print(report.text(), flush=True)
    if chosen.markdown is not None:
        with chosen.markdown.open("a", encoding="utf-8") as file:
            file.write(report.markdown() + "\n")
    sys.exit(1 if any(bar.passed is False for bar in report.bars) else 0)


def finish_each(
    report: Report,
    chosen: argparse.Namespace,
    compare: Callable[[str, Graph, int, Report], None],
    *,
    quick: int,
    full: int,
) -> None:
    """Compare on every graph with as many targets as chosen, compare(name, graph, num_targets, report), then finish."""
    for name, graph in graphs(chosen).items():
        compare(name, graph, quick if chosen.quick else full, report)
    finish(report, chosen)


def graphs(chosen: argparse.Namespace) -> dict[str, Graph]:
    """Return the available real graphs, or a generated one, with a message, if there are none."""
    found = {}
    for name in REAL_GRAPHS:
        path = next(
            (root / f"{name}.npz" for root in (chosen.data, ROOT / chosen.data) if (root / f"{name}.npz").is_file()),
            None,
        )
        if path is not None:
            with np.load(path, allow_pickle=False) as arrays:
                x = DenseFeatures(arrays["feats"].astype(np.float32)) if "feats" in arrays else None
                found[name] = Graph(arrays["indptr"], arrays["indices"], x=x, y=arrays["labels"])
    if not found:
        print(f"no graphs in {chosen.data}: using a generated power-law graph of 100,000 nodes", flush=True)
        found["power-law-1e5"] = power_law_graph(100_000, seed=0)
    return found


def random_targets(graph: Graph, count: int, seed: int = 0) -> np.ndarray:
    """Draw distinct targets among all nodes."""
    return np.random.default_rng(seed).choice(graph.num_nodes, min(count, graph.num_nodes), replace=False)


def split_nodes(chosen: argparse.Namespace, name: str, graph: Graph, split: str) -> np.ndarray:
    """Return the nodes of a split (train, val, test) of a real graph, or half of all nodes where it has none."""
    for path in (root / f"{name}.npz" for root in (chosen.data, ROOT / chosen.data)):
        if path.is_file():
            with np.load(path, allow_pickle=False) as arrays:
                if split in arrays:
                    return arrays[split].astype(np.int64)
    return np.sort(random_targets(graph, graph.num_nodes // 2))


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of one call, all threads of this process together."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def in_turns(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median CPU seconds of each call, run in turns so that a slow spell of the machine hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            seconds[name].append(cpu_seconds(call))
    return {name: float(np.median(values)) for name, values in seconds.items()}


def latencies(call: Callable[[np.ndarray], object], targets: np.ndarray, rounds: int) -> np.ndarray:
    """Return the CPU seconds of a call for each single target, the best of some rounds."""
    best = np.full(len(targets), np.inf)
    for row in [*range(len(targets))] * rounds:
        one = targets[row : row + 1]
        best[row] = min(best[row], cpu_seconds(lambda one=one: call(one)))
    return best


def busy_share(seconds: float = 1.0) -> float:
    """Return the share of all cores that other processes use, watched while this one sleeps."""
    watch = OtherWork()
    time.sleep(seconds)
    return watch.share()


class OtherWork:
    """Measures the share of all cores used by other processes since its creation; 0 if unknown."""

    def __init__(self) -> None:
        self._system = self._read()
        self._own = time.process_time()

    def share(self) -> float:
        """Return the share so far: the busy time of the system minus that of this process."""
        busy, total = (after - before for before, after in zip(self._system, self._read(), strict=True))
        own = (time.process_time() - self._own) * os.sysconf("SC_CLK_TCK")
        return max(0.0, busy - own) / max(1, total)

    @staticmethod
    def _read() -> tuple[int, int]:
        """Return (busy, all) ticks of all cores since the machine began."""
        try:
            values = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        except OSError:
            return 0, 0
        return sum(values) - values[3] - values[4], sum(values)


def load_line(busy: float) -> str:
    """Describe the machine's load at the start of a benchmark."""
    return f"Load at the start: {busy:.0%} of {os.cpu_count()} cores were busy with other work."


def micro(seconds: float) -> str:
    """Write seconds as microseconds."""
    return f"{seconds * 1e6:,.1f}" if seconds < 1e-3 else f"{seconds * 1e6:,.0f}"
