"""Importing as many edges as one likes with `shadow data import --memory`: CPU time, memory and disk of the command.

Not for: comparing with others (ingest.py); it is not among the scripts of run_all.py, since it wants a free disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from anonymous_memory import anonymous_bytes
from common import CACHE, Bar, OtherWork, Report, finish

BLOCK = 1 << 20
"""Rows of a row group."""
LIBRARY_BYTES = 200_000_000
"""Allowance for Python, NumPy and Arrow themselves."""


@dataclass(frozen=True)
class Imported:
    """Cost of one command."""

    cpu_seconds: float
    wall_seconds: float
    anonymous_bytes: int
    disk_bytes: int
    summary: dict[str, int]


def write_source(path: Path, num_edges: int, num_nodes: int, weighted: bool) -> None:
    """Write an edge list as Parquet, with ids of 4 bytes: senders are drawn evenly, receivers fall off like 1 / sqrt.

    Drawing and writing take a few per cent of the time of the import.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [("src", pa.int32()), ("dst", pa.int32()), *([("weight", pa.float32())] if weighted else [])]
    schema, rng = pa.schema(fields), np.random.default_rng(0)
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, num_edges, BLOCK):
            count = min(BLOCK, num_edges - start)
            receiver = (num_nodes * rng.random(count) ** 2).astype(np.int32)
            columns = {"src": rng.integers(num_nodes, size=count, dtype=np.int32), "dst": receiver}
            if weighted:
                columns["weight"] = 1 - rng.random(count, dtype=np.float32)
            writer.write_table(pa.table(columns, schema))


def taken(folder: Path) -> int:
    """Return the bytes on the disk of all files in a folder; a file with two names counts once."""
    blocks: dict[int, int] = {}
    for inner, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.stat(os.path.join(inner, name))
            except FileNotFoundError:
                continue
            blocks[status.st_ino] = status.st_blocks * 512
    return sum(blocks.values())


def run_import(source: Path, folder: Path, num_nodes: int, memory: str) -> Imported:
    """Run the command in a process of its own and watch it."""
    command = [sys.executable, "-m", "shadow_gnn", "data", "import", str(source), str(folder / "graph")]
    command += ["--num-nodes", str(num_nodes), "--memory", memory, "--json"]
    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (folder / "out.json").open("wb") as out:
        process = subprocess.Popen(command, stdout=out)
        most_memory = most_disk = 0
        while process.poll() is None:
            with suppress(OSError, StopIteration):  # It may just be ending.
                most_memory = max(most_memory, anonymous_bytes(process.pid))
            most_disk = max(most_disk, taken(folder))
            time.sleep(0.05)
    if process.returncode != 0:
        sys.exit(f"shadow data import ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    summary = json.loads((folder / "out.json").read_text())
    return Imported(seconds, time.perf_counter() - begin, most_memory, most_disk, summary)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=float, default=1e9, help="edges of the source")
    parser.add_argument("--nodes", type=float, help="nodes; a twentieth of the edges if not given")
    parser.add_argument("--memory", default="2GB", help="budget of the command")
    parser.add_argument("--weighted", action="store_true", help="edges with weights")
    parser.add_argument("--folder", type=Path, default=CACHE, help="where source and graph are put and removed")
    parser.add_argument("--markdown", type=Path, help="append the table to this file")
    return parser.parse_args()


def main() -> None:
    from shadow_gnn.cli.shared.sizes import memory_bytes

    chosen = read_options()
    num_edges, budget = int(chosen.edges), memory_bytes(chosen.memory, "ingest_large: --memory")
    num_nodes = int(chosen.nodes or num_edges // 20)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place:
        source = Path(place) / "edges.parquet"
        write_source(source, num_edges, num_nodes, chosen.weighted)
        source_bytes, watch = source.stat().st_size, OtherWork()
        print(f"source: {source_bytes / 1e9:.1f} GB", flush=True)
        found = run_import(source, Path(place), num_nodes, chosen.memory)
        busy = watch.share() - found.cpu_seconds / found.wall_seconds / (os.cpu_count() or 1)
    kept = found.summary["num_edges"] // 2
    report = Report(
        "Importing a large edge list with `shadow data import --memory`",
        ["edges read", "CPU s", "wall s", "edges per CPU s", "peak anonymous MB", "peak disk GB, source included"],
        rows=[
            [
                f"{num_edges:,}",
                f"{found.cpu_seconds:.0f}",
                f"{found.wall_seconds:.0f}",
                f"{num_edges / found.cpu_seconds:,.0f}",
                f"{found.anonymous_bytes / 1e6:,.0f}",
                f"{found.disk_bytes / 1e9:.1f}",
            ]
        ],
        notes=[
            f"{num_nodes:,} nodes, {kept:,} undirected edges kept{', with weights' if chosen.weighted else ''}; the "
            f"Parquet file has {source_bytes / 1e9:.1f} GB; a budget of {budget / 1e6:,.0f} MB; one thread.",
            f"While it ran, {max(0.0, busy):.0%} of {os.cpu_count()} cores were busy with other work.",
        ],
    )
    claim = "peak memory within the budget and 200 MB for the libraries"
    passed = found.anonymous_bytes <= budget + LIBRARY_BYTES
    report.bars.append(Bar(claim, f"{found.anonymous_bytes / 1e6:,.0f} MB", passed))
    finish(report, chosen)


if __name__ == "__main__":
    main()
