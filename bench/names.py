"""Names: sorting, opening and looking up many names of nodes, and the memory that it takes.

Not for: importing tables of names (ingest.py).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import CACHE, Bar, Report, finish, options

from shadow_gnn.graph.names import NodeNames
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph, save_graph

WIDTH = 20
"""Bytes of a name."""
SLOWEST = 100e-6
"""Most seconds of one look-up."""
MOST_BYTES = 64 << 20
"""Most private memory that look-ups may add to a process."""


def many_names(count: int) -> NodeNames:
    """Return names such as package.module1234567, in random order."""
    digits = np.random.default_rng(0).permutation(count)[:, None] // 10 ** np.arange(8)[::-1] % 10 + ord("0")
    head = np.broadcast_to(np.frombuffer(b"package.modu", np.uint8), (count, WIDTH - 8))
    text = np.concatenate((head, digits.astype(np.uint8)), axis=1).reshape(-1)
    return NodeNames(np.arange(count + 1, dtype=np.int64) * WIDTH, text)


def private_bytes() -> int:
    """Return the memory of this process that is not mapped from files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) * 1024


def look_up(folder: Path) -> None:
    """Print seconds and bytes of look-ups in an opened folder; a process of its own."""
    begin = time.perf_counter()
    graph = open_graph(folder, check=False)
    assert graph.node_name is not None
    names, rng = graph.node_name, np.random.default_rng(1)
    wanted = [names[node] for node in rng.integers(0, len(names), 20_000)]
    names.index(wanted[0])
    opened, before = time.perf_counter() - begin, private_bytes()
    timed = []
    for name in wanted[:2000]:
        begin = time.perf_counter()
        names.index(name)
        timed.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    names.indices(wanted)
    many = (time.perf_counter() - begin) / len(wanted)
    begin = time.perf_counter()
    for name in wanted[:2000]:
        names.with_prefix(name[:-2], 10)
    prefix = (time.perf_counter() - begin) / 2000
    begin = time.perf_counter()
    names.nearest(wanted[0][:-3] + "x" + wanted[0][-2:])
    near = time.perf_counter() - begin
    print(opened, float(np.median(timed)), many, prefix, near, private_bytes() - before)


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--look-up":
        look_up(Path(sys.argv[2]))
        return
    chosen = options(__doc__ or "")
    count = 100_000 if chosen.quick else 10_000_000
    report = Report(f"{count:,} names of {WIDTH} bytes", ("step", "time"))
    names = many_names(count)
    begin = time.perf_counter()
    order = names.order
    report.rows.append(("sort", f"{time.perf_counter() - begin:.2f} s"))
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        folder = Path(place) / "graph"
        kept = NodeNames(names.ptr, names.text, order)
        save_graph(Graph(np.zeros(count + 1, np.int64), np.zeros(0, np.int32), node_name=kept), folder)
        command = [sys.executable, __file__, "--look-up", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    opened, one, many, prefix, near, added = map(float, done.stdout.split())
    report.rows += [
        ("open a folder, read 20,000 names, look one up", f"{opened * 1e3:.0f} ms"),
        ("one name, median", f"{one * 1e6:.1f} µs"),
        ("one of 20,000 names at once", f"{many * 1e6:.1f} µs"),
        ("first 10 names with a prefix", f"{prefix * 1e6:.1f} µs"),
        ("3 nearest names of an unknown one", f"{near:.2f} s"),
    ]
    report.notes.append(f"Names: {names.text.nbytes / 2**20:.0f} MB; order: {order.nbytes / 2**20:.0f} MB.")
    report.bars += [
        Bar(f"a look-up takes at most {SLOWEST * 1e6:.0f} µs", f"{one * 1e6:.1f} µs", one <= SLOWEST),
        Bar("look-ups take constant memory", f"{added / 2**20:.1f} MB added", added <= MOST_BYTES),
    ]
    finish(report, chosen)


if __name__ == "__main__":
    main()
