"""Importing tables: a node table of 10^6 rows with every kind of column and an edge table, from CSV and Parquet.

Not for: edge lists beyond memory (ingest.py).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from common import Report, busy_share, finish, load_line, options

from shadow_gnn.graph.importing.columns.plan import Roles
from shadow_gnn.graph.importing.tables.files import read_edge_table, read_table
from shadow_gnn.graph.importing.tables.graph import SplitOptions, TableOptions, graph_of_tables
from shadow_gnn.graph.store import save_graph


def made_tables(num_nodes: int) -> tuple[pa.Table, pa.Table]:
    """Return made-up nodes with a column of each kind, and three edges for each node."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(20_000)])
    chosen = words[(rng.pareto(1.0, (num_nodes, 8)) * 20).astype(np.int64) % len(words)]
    size = rng.normal(size=num_nodes)
    nodes = {
        "name": pa.array(np.char.add("node-", np.arange(num_nodes).astype(str))),
        "size": pa.array(size, mask=rng.random(num_nodes) < 0.1),
        "count": rng.integers(0, 1000, num_nodes),
        "color": rng.choice(["red", "green", "blue", "gray"], num_nodes),
        "place": np.char.add("place", rng.integers(0, 5000, num_nodes).astype(str)),
        "active": rng.random(num_nodes) < 0.5,
        "born": pa.array(rng.integers(0, 20_000, num_nodes).astype("datetime64[D]")),
        "note": pa.array([" ".join(row) for row in chosen.tolist()]),
        "team": rng.choice(["a", "b", "c", "d", "e"], num_nodes),
    }
    ends = rng.integers(0, num_nodes, (2, 3 * num_nodes))
    names = nodes["name"]
    edges = {"src": names.take(pa.array(ends[0])), "dst": names.take(pa.array(ends[1]))}
    edges |= {"weight": rng.random(3 * num_nodes) + 0.1, "kind": rng.choice(["calls", "tests"], 3 * num_nodes)}
    return pa.table(nodes), pa.table(edges)


def main() -> None:
    """Time the parts of an import from both formats."""
    given, busy = options(__doc__ or ""), busy_share()
    num_nodes = 10_000 if given.quick else 1_000_000
    report = Report(
        f"Importing a node table of {num_nodes:,} rows and an edge table of {3 * num_nodes:,}",
        ("format", "read, s", "recognize and encode, s", "save, s", "all, s", "CPU s"),
    )
    nodes, edges = made_tables(num_nodes)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("csv", "parquet"):
            paths = [Path(folder) / f"{name}.{kind}" for name in ("nodes", "edges")]
            for path, table in zip(paths, (nodes, edges), strict=True):
                (pcsv.write_csv if kind == "csv" else pq.write_table)(table, path)
            moments, cpu = [time.perf_counter()], time.process_time()
            read = read_table(paths[0], header=True)
            links = read_edge_table(paths[1], read.columns)
            moments.append(time.perf_counter())
            chosen = TableOptions(Roles(label="team"), splits=SplitOptions((60, 20, 20)))
            found = graph_of_tables(read, links, chosen)
            moments.append(time.perf_counter())
            save_graph(found.graph, Path(folder) / kind)
            moments.append(time.perf_counter())
            seconds = [*np.diff(moments), moments[-1] - moments[0], time.process_time() - cpu]
            report.rows.append((kind, *(f"{value:.1f}" for value in seconds)))
            columns = found.graph.column_names
            report.notes = [f"{len(columns or ())} columns of features, {found.graph.num_edges:,} entries of edges."]
    report.notes.append(load_line(busy))
    finish(report, given)


if __name__ == "__main__":
    main()
