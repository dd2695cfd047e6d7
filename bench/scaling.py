"""Work, time and scratch memory per target on power-law graphs of 10^5, 10^6 and 10^7 nodes of equal mean degree."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from anonymous_memory import anonymous_bytes
from common import CACHE, Bar, Report, busy_share, cpu_seconds, finish, load_line, micro, options, random_targets
from power_law import EXPONENT, MEAN_DEGREE, power_law_graph

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph

SIZES = (10**5, 10**6, 10**7)
# Both are judged, as the cap matters: the refinement stops at a share of the topk-th score, and with 1,000 that score
# is a fifth lower at 10^6 nodes than at 10^5. A push with a fixed tolerance touches as much at either (within 3 %).
CAPS = (1000, 200)
CHUNK = 20
ROUNDS = 5


def cached_graph(num_nodes: int, cap: int) -> tuple[Path, Path]:
    """Return the files of a generated graph, made at the first call (about a minute for 10^7 nodes)."""
    name = f"power-law-{num_nodes}-cap-{cap}"
    paths = CACHE / f"{name}-indptr.npy", CACHE / f"{name}-indices.npy"
    if not all(path.is_file() for path in paths):
        print(f"generating a graph of {num_nodes:,} nodes once", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        graph = power_law_graph(num_nodes, seed=0, cap=cap)
        np.save(paths[1], graph.indices)
        np.save(paths[0], graph.indptr)
    return paths


def measure(num_nodes: int, cap: int, count: int) -> dict[str, float]:
    """Extract from one mapped graph; runs in a process of its own, so that memory growth starts at zero."""
    indptr, indices = (np.load(path, mmap_mode="r").view(np.ndarray) for path in cached_graph(num_nodes, cap))
    graph = Graph(indptr, indices)
    indptr.sum(), indices.sum()  # Every page is in memory before anything is timed.
    extractor = PprExtractor(num_threads=1)
    warm, *rounds = np.split(random_targets(graph, count * (ROUNDS + 1)), ROUNDS + 1)
    # One small graph first: the cost of the first call does not depend on the graph.
    extractor(Graph(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)), [0])
    before = peak = anonymous_bytes()
    touched = []
    for start in range(0, count, CHUNK):
        touched.append(extractor(graph, warm[start : start + CHUNK]).edges_touched)
        peak = max(peak, anonymous_bytes())
    seconds = [cpu_seconds(lambda part=part: touched.append(extractor(graph, part).edges_touched)) for part in rounds]
    return {
        "mean_degree": graph.num_edges / graph.num_nodes,
        "edges_touched": float(np.concatenate(touched).mean()),
        "seconds": float(np.median(seconds)) / count,
        "scratch": float(peak - before),
    }


def in_own_process(num_nodes: int, cap: int, count: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", str(num_nodes), str(cap), str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def compare(cap: int, quick: bool, report: Report) -> None:
    found = []
    for num_nodes in SIZES[:2] if quick else SIZES:
        cached_graph(num_nodes, cap)
        found.append(in_own_process(num_nodes, cap, 200 if quick else 500))
        last = found[-1]
        numbers = [f"{last['mean_degree']:.2f}", f"{last['edges_touched']:,.0f}", micro(last["seconds"])]
        report.rows.append([f"{num_nodes:,}", f"{cap:,}", *numbers, f"{last['scratch'] / 1e6:.1f}"])
    edges, seconds, scratch = (np.array([one[key] for one in found]) for key in ("edges_touched", "seconds", "scratch"))
    spread, slower = edges.max() / edges.min(), seconds.max() / seconds.min()
    growth = float(scratch.max() - scratch.min()) / 1e6
    report.bars += [
        Bar(f"cap {cap}: edges touched within 10 %", f"{(spread - 1) * 100:.1f} %", bool(spread <= 1.1)),
        Bar(f"cap {cap}: CPU time at most 3 times", f"{slower:.2f} times", bool(slower <= 3)),
        # An array of one byte per node would already show as 9.9 MB.
        Bar(f"cap {cap}: scratch independent of num_nodes (within 4 MB)", f"differs by {growth:.1f} MB", growth <= 4),
    ]


def main(chosen: argparse.Namespace) -> None:
    columns = ("nodes", "degree cap", "mean degree", "edges touched", "CPU µs per target", "scratch MB")
    report = Report("Work per target as the graph grows (PPR top-200)", columns, notes=[load_line(busy_share())])
    report.notes.append(
        f"Configuration-model graphs, exponent {EXPONENT:g}, mean degree {MEAN_DEGREE:g} before duplicates are "
        "removed; 1 thread; scratch is the growth of anonymous memory over the first pass."
    )
    for cap in CAPS:
        compare(cap, chosen.quick, report)
    finish(report, chosen)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure(*map(int, sys.argv[2:5]))))
    else:
        main(options(__doc__ or ""))
