"""Importing edges in bounded memory: our two passes over buckets compared with DuckDB and Polars, if installed.

Not for: generating (generate.py), nor for as many edges as a disk holds (ingest_large.py). Each way runs in a process
of its own, whose anonymous memory is watched.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from anonymous_memory import AnonymousPeak
from common import CACHE, Bar, Report, busy_share, finish, load_line, options

MEMORY_BYTES = 512 << 20
MOST_BYTES = 5 << 30
"""A way that takes more memory than this is ended."""
PEERS = ("duckdb", "polars")


def write_source(path: Path, num_edges: int) -> None:
    """Write an edge list as Parquet, of a made-up graph."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from shadow_gnn.graph.generators.drawn import DrawnEdges
    from shadow_gnn.graph.generators.plan import GraphPlan

    plan = GraphPlan("dcsbm", num_edges // 10, 20, num_columns=0)
    schema = pa.schema([("src", pa.int64()), ("dst", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for src, dst in DrawnEdges(plan).blocks(1 << 20):
            writer.write_table(pa.table({"src": src, "dst": dst}, schema))


def ours(source: Path, folder: Path, num_nodes: int) -> None:
    from shadow_gnn.base.work_folder import TemporaryScratch
    from shadow_gnn.graph.importing.bounded.stream import stream_source
    from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
    from shadow_gnn.graph.importing.options import EdgeListOptions, ImportOptions

    chosen = ImportOptions(edge_list=EdgeListOptions(num_nodes=num_nodes))
    with stream_source(source, chosen, StreamOptions(TemporaryScratch(folder), MEMORY_BYTES)) as (arrays, _, _):
        save_lists(folder, arrays["indptr"][:], (arrays["indices"][at : at + (1 << 20)] for at in steps(arrays)))


def steps(arrays: Any) -> range:
    return range(0, len(arrays["indices"]), 1 << 20)


def save_lists(folder: Path, indptr: np.ndarray, blocks: Any) -> None:
    """Write the lists as every way must: offsets, and int32 columns."""
    indptr.tofile(folder / "indptr.bin")
    with (folder / "indices.bin").open("wb") as file:
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=np.int32).data)


SORTED = """
SELECT DISTINCT * FROM (
  SELECT dst AS r, src AS c FROM {0} WHERE src <> dst UNION ALL SELECT src AS r, dst AS c FROM {0} WHERE src <> dst
) ORDER BY r, c
"""


def duckdb_way(source: Path, folder: Path, num_nodes: int) -> None:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": f"{MEMORY_BYTES >> 20}MB", "threads": 1})
    connection.execute(f"SET temp_directory = '{folder / 'spill'}'")
    reader = connection.execute(SORTED.format(f"'{source}'")).to_arrow_reader(1 << 20)
    collect(folder, num_nodes, ((batch.column(0).to_numpy(), batch.column(1).to_numpy()) for batch in reader))


def polars_way(source: Path, folder: Path, num_nodes: int) -> None:
    import polars as pl
    import pyarrow.parquet as pq

    edges = pl.scan_parquet(source).filter(pl.col("src") != pl.col("dst"))
    turned = edges.select(r=pl.col("src"), c=pl.col("dst"))
    both = pl.concat([edges.select(r=pl.col("dst"), c=pl.col("src")), turned])
    both.unique().sort("r", "c").sink_parquet(folder / "sorted.parquet", engine="streaming")
    with pq.ParquetFile(folder / "sorted.parquet") as file:
        batches = file.iter_batches(1 << 20)
        collect(folder, num_nodes, ((batch.column(0).to_numpy(), batch.column(1).to_numpy()) for batch in batches))


def collect(folder: Path, num_nodes: int, blocks: Any) -> None:
    """Turn sorted pairs into lists."""
    count = np.zeros(num_nodes + 1, np.int64)

    def columns() -> Any:
        for row, column in blocks:
            np.add(count[1:], np.bincount(row, minlength=num_nodes), out=count[1:])
            yield column

    with (folder / "indices.bin").open("wb") as file:
        for column in columns():
            file.write(np.ascontiguousarray(column, dtype=np.int32).data)
    np.cumsum(count).tofile(folder / "indptr.bin")


WAYS: dict[str, Callable[[Path, Path, int], None]] = {"ours": ours, "duckdb": duckdb_way, "polars": polars_way}


def work(way: str, source: Path, folder: Path, num_nodes: int) -> None:
    """Run one way in this process; print its CPU time, its peak memory and its result."""
    from shadow_gnn.base.files import new_checksum

    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    before = resource.getrusage(resource.RUSAGE_SELF)
    with AnonymousPeak() as peak:
        WAYS[way](source, folder, num_nodes)
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    checksum = new_checksum()
    for name in ("indptr.bin", "indices.bin"):
        with (folder / name).open("rb") as file:
            while block := file.read(1 << 22):
                checksum.update(block)
    print(json.dumps({"seconds": seconds, "peak": peak.num_bytes, "checksum": checksum.hexdigest()}))


def run(way: str, source: Path, num_nodes: int) -> dict[str, Any] | None:
    """Run one way in a process of its own; None if it fails."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [sys.executable, __file__, way, str(source), folder, str(num_nodes)]
        environment = dict(os.environ, POLARS_MAX_THREADS="1")
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        print(f"{way} failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    chosen = options(__doc__ or "")
    num_edges = 200_000 if chosen.quick else 50_000_000
    CACHE.mkdir(parents=True, exist_ok=True)
    busy = busy_share()
    found = {}
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        source = Path(folder) / "edges.parquet"
        write_source(source, num_edges)
        for way in ("ours", *(peer for peer in PEERS if find_spec(peer))):
            found[way] = run(way, source, num_edges // 10)
            print(way, found[way], flush=True)
    report = Report(
        "Importing edges in bounded memory",
        ["way", "CPU s", "edges per CPU s", "peak anonymous MB", "lists"],
        notes=[
            f"{num_edges:,} edges in Parquet, both directions, sorted, without duplicates; a budget of "
            f"{MEMORY_BYTES / 1e6:.0f} MB; Polars has no budget to set; one thread each. "
            + ", ".join(f"{peer} is not installed" for peer in PEERS if not find_spec(peer)),
            load_line(busy),
        ],
    )
    for way, result in found.items():
        if result is None:
            report.rows.append([way, "failed", "", f"more than {MOST_BYTES / 1e6:,.0f}?", ""])
            continue
        same = found["ours"] is not None and result["checksum"] == found["ours"]["checksum"]
        rate, peak = num_edges / result["seconds"], result["peak"] / 1e6
        cells = [way, f"{result['seconds']:.1f}", f"{rate:,.0f}", f"{peak:,.0f}", "equal" if same else "differ"]
        report.rows.append(cells)
        if way != "ours" and found["ours"] is not None:
            times = result["seconds"] / found["ours"]["seconds"]
            claim = f"no more CPU time than {way}"
            report.bars.append(Bar(claim, f"{times:.2f} times ours", None if chosen.quick else times >= 1))
    if found["ours"] is not None:
        peak = found["ours"]["peak"] / 1e6
        # Python, NumPy and Arrow themselves take about 150 MB.
        claim = "peak memory within the budget and 200 MB for the libraries"
        report.bars.append(Bar(claim, f"{peak:,.0f} MB", peak <= MEMORY_BYTES / 1e6 + 200))
    finish(report, chosen)


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] in WAYS:
        work(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
