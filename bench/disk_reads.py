"""Reads from the disk: rows of features, scopes and whole batches, with the files in memory and without.

Not for: sizes that do not fit in memory at all (scale.py).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import CACHE, Bar, Report, busy_share, finish, load_line, options

from shadow_gnn import _core
from shadow_gnn.extract import PprExtractor
from shadow_gnn.extract.gather import expect_scopes
from shadow_gnn.graph.generators.folder import generate_graph
from shadow_gnn.graph.generators.plan import GraphPlan
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.packed_loader import PackedLoader

Measure = Callable[[Graph, np.ndarray], object]


def forget(folder: Path) -> None:
    """Have the system drop the pages of all files; it keeps those of a file that is mapped."""
    maps = Path("/proc/self/maps")
    if maps.exists() and str(folder.resolve()) in maps.read_text():
        raise RuntimeError(f"{folder}: is still mapped, so that its pages would stay in memory")
    for path in filter(Path.is_file, folder.rglob("*")):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def read_all(folder: Path) -> None:
    """Have all files in memory."""
    for path in filter(Path.is_file, folder.rglob("*")):
        with path.open("rb", buffering=0) as handle:
            while handle.read(1 << 24):
                pass


def seconds_of(folder: Path, measure: Measure, *, random: bool, cold: bool, seed: int) -> float:
    """Return the time of one measurement on a graph that is opened for it."""
    (forget if cold else read_all)(folder.parent)
    graph = open_graph(folder)
    if random:
        expect_scopes(graph, 0)
    nodes = np.random.default_rng(seed).integers(0, graph.num_nodes, 1 << 20)
    found = []
    for _ in range(1 if cold else 6):
        begin = time.perf_counter()
        measure(graph, nodes)
        found.append(time.perf_counter() - begin)
    return found[0] if cold else float(np.median(found[1:]))  # The first time, warm pages are not mapped yet.


def rows(ask: bool | None, count: int) -> Measure:
    """Gather rows of features in the order in which they are given, or as the project does."""
    return lambda graph, nodes: _core.gather_float(graph.x.matrix, nodes[:count], None, ask)


def scopes(count: int) -> Measure:
    return lambda graph, nodes: PprExtractor(200)(graph, nodes[:count])


def batches(prefetch: int, count: int) -> Measure:
    def run(graph: Graph, nodes: np.ndarray) -> None:
        for _ in Loader(graph, PprExtractor(200), nodes[: 128 * count], prefetch=prefetch):
            pass

    return run


def packed_batches(count: int) -> Measure:
    """Read batches that were packed; the first time, pack them."""

    def run(graph: Graph, nodes: np.ndarray) -> None:
        assert graph.path is not None
        loader = Loader(graph, PprExtractor(200), nodes[: 128 * count])
        for _ in PackedLoader(loader, graph.path.parent / "packed").epoch(0):
            pass

    return run


def main() -> None:
    chosen = options(__doc__ or "")
    num_nodes = 50_000 if chosen.quick else 3_000_000
    num_rows = 2_000 if chosen.quick else 25_600
    ways: list[tuple[str, Measure, bool, int]] = [
        (f"{num_rows:,} rows, in the order given", rows(False, num_rows), False, num_rows),
        (f"{num_rows:,} rows, in the order given, advice for random reads", rows(False, num_rows), True, num_rows),
        (f"{num_rows:,} rows, ours", rows(None, num_rows), False, num_rows),
        (f"{num_rows:,} rows, ours, advice for random reads", rows(None, num_rows), True, num_rows),
        ("128 scopes by PPR, top 200", scopes(128), False, 128),
        ("128 scopes by PPR, top 200, advice for random reads", scopes(128), True, 128),
        ("8 batches of 128 scopes, 2 made ahead", batches(2, 8), True, 8),
        ("8 batches of 128 scopes, 8 made ahead", batches(8, 8), True, 8),
        ("8 batches of 128 scopes, packed", packed_batches(8), True, 8),
    ]
    notes = [
        f"A graph of {num_nodes:,} nodes, mean degree 29, 128 float16 features: 256 bytes a row. Cold: the system was "
        "told to drop all pages of the files before each measurement. Wall time, medians of three rounds; warm is "
        "the median of five in a round.",
        load_line(busy_share()),
    ]
    report = Report("Reads from disk", ["read", "warm ms", "cold ms", "cold ms each"], notes=notes)
    found: dict[tuple[int, bool], list[float]] = {}
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        folder = Path(place) / "g"
        generate_graph(GraphPlan("dcsbm", num_nodes, 29), folder, memory_bytes=1_000_000_000)
        for turn in range(1 if chosen.quick else 3):
            for number, (_, measure, random, _) in enumerate(ways):
                for cold in (False, True):
                    seconds = seconds_of(folder, measure, random=random, cold=cold, seed=turn)
                    found.setdefault((number, cold), []).append(seconds)
    median = {key: 1e3 * float(np.median(values)) for key, values in found.items()}
    for number, (name, _, _, count) in enumerate(ways):
        cold = median[number, True]
        report.rows.append([name, f"{median[number, False]:,.1f}", f"{cold:,.0f}", f"{cold / count:,.3f}"])
    ratio = median[1, True] / median[3, True]
    report.bars.append(Bar("cold rows: ours faster than the plain order", f"{ratio:.1f}x", _judge(ratio > 1, chosen)))
    loss = median[3, False] / median[1, False]
    report.bars.append(Bar("warm rows: ours at most 20 % slower", f"{loss:.2f}x", _judge(loss <= 1.2, chosen)))
    gain = median[6, True] / median[8, True]
    report.bars.append(Bar("cold batches: packed faster than made", f"{gain:.1f}x", _judge(gain > 1, chosen)))
    finish(report, chosen)


def _judge(passed: bool, chosen: object) -> bool | None:
    """A small file says nothing about a disk."""
    return None if getattr(chosen, "quick", False) else passed


if __name__ == "__main__":
    main()
