"""Diffused graphs: the cost of `shadow data diffuse` by kind and tolerance.

Not for: the quality of their scopes (extractor_study.py).
"""

from __future__ import annotations

import time

from common import Report, busy_share, finish, graphs, load_line, options

from shadow_gnn.extract.diffused import FeatureNeighbors, HeatDiffusion, PprDiffusion
from shadow_gnn.extract.diffused.block import best_of
from shadow_gnn.graph.record import Graph

SOURCES = {
    "ppr, tolerance 1e-5": (PprDiffusion(), 64),
    "ppr, tolerance 1e-4": (PprDiffusion(tolerance=1e-4), 64),
    "heat, tolerance 1e-5": (HeatDiffusion(), 64),
    "heat, tolerance 1e-4": (HeatDiffusion(tolerance=1e-4), 64),
    "features, exact": (FeatureNeighbors(), 11),
}
"""Source of the scores, and the number of entries per row."""


def measured(graph: Graph, name: str, count: int) -> tuple[float, float, int]:
    """Return CPU seconds and entries of a row, over the first rows: at least count of them, as many as that is."""
    source, topk = SOURCES[name]
    if isinstance(source, FeatureNeighbors):
        blocks = source.blocks(graph, topk=topk, threshold=0.0, num_threads=1)
    else:
        blocks = source.blocks(graph, num_threads=1)
    next(blocks)  # Work done once per graph does not count.
    first, num_rows, kept = None, 0, 0
    begin = time.process_time()
    for block in blocks:
        first = block.start if first is None else first
        kept += len(best_of(block, topk=topk, threshold=0.0).column)
        num_rows = block.start + len(block.ptr) - 1 - first
        if num_rows >= count:
            break
    return (time.process_time() - begin) / num_rows, kept / num_rows, num_rows


def main() -> None:
    chosen = options(__doc__ or "")
    columns = ("graph", "kind", "rows", "CPU µs per row", "CPU minutes of all rows", "entries per row", "MB held")
    report = Report("Diffusing graphs", columns, notes=[load_line(busy_share())])
    report.notes.append(
        "1 thread, over the first rows; ppr uses all threads, and features uses the threads of the matrix product. "
        "Minutes and memory for all rows are extrapolated."
    )
    for name, graph in graphs(chosen).items():
        for kind in SOURCES:
            if isinstance(SOURCES[kind][0], FeatureNeighbors) and graph.x is None:
                report.notes.append(f"{name} has no features to compare.")
                continue
            seconds, entries, num_rows = measured(graph, kind, 100 if chosen.quick else 1000)
            minutes, held = seconds * graph.num_nodes / 60, entries * graph.num_nodes * 40 / 1e6
            numbers = [f"{num_rows:,}", f"{seconds * 1e6:,.0f}", f"{minutes:.1f}", f"{entries:.1f}", f"{held:,.0f}"]
            report.rows.append([name, kind, *numbers])
    finish(report, chosen)


if __name__ == "__main__":
    main()
