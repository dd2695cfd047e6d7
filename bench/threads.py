"""Two threads against one: CPU time per target and wall time."""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import Bar, Report, busy_share, finish, graphs, load_line, micro, options, random_targets

from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.graph import Graph

IDLE = 0.05
ROUNDS = 7


def measure(graph: Graph, targets: np.ndarray, kind: type[PprExtractor] | type[KhopExtractor]) -> dict[int, np.ndarray]:
    """Return (CPU, wall) seconds for 1 and 2 threads: medians of rounds in turns."""
    seen: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for number in range(ROUNDS + 1):
        for threads, values in seen.items():
            extractor = kind(num_threads=threads)
            cpu, wall = time.process_time(), time.perf_counter()
            extractor(graph, targets)
            if number:
                values.append((time.process_time() - cpu, time.perf_counter() - wall))
    return {threads: np.median(values, axis=0) for threads, values in seen.items()}


def compare(name: str, graph: Graph, count: int, busy: float, report: Report) -> None:
    for label, kind in (("ppr", PprExtractor), ("khop", KhopExtractor)):
        # 2-hop scopes are quick: more targets, so that the start of a thread is not what is measured.
        targets = random_targets(graph, count if label == "ppr" else 10 * count)
        one, two = measure(graph, targets, kind).values()
        cpu, wall = two[0] / one[0], one[1] / two[1]
        numbers = [micro(seconds / len(targets)) for seconds in (one[0], two[0], one[1], two[1])]
        report.rows.append([name, label, *numbers])
        idle = busy <= IDLE
        report.bars += [
            Bar(f"{name} {label}: 2 threads cost at most 1.1 times the CPU time", f"{cpu:.2f} times", bool(cpu <= 1.1)),
            Bar(
                f"{name} {label}: 2 threads are at least 1.8 times faster on an idle machine",
                f"{wall:.2f} times" + ("" if idle else f", not judged with {busy:.0%} busy"),
                bool(wall >= 1.8) if idle else None,
            ),
        ]


def main(chosen: argparse.Namespace) -> None:
    busy = busy_share(3.0)
    columns = ("graph", "extractor", "CPU µs, 1 thread", "CPU µs, 2", "wall µs, 1 thread", "wall µs, 2")
    report = Report("Two threads against one, per target", columns, notes=[load_line(busy)])
    for name, graph in graphs(chosen).items():
        compare(name, graph, 200 if chosen.quick else 2000, busy, report)
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
