"""Edge lists of every kind and their import in bounded memory; without torch, which takes seconds to load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shadow_gnn.base.work_folder import open_work_folder
from shadow_gnn.graph.importing.bounded.stream import import_job, stream_source
from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.store import Contents, save_contents


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ids_of(kind: str, node: np.ndarray) -> np.ndarray:
    """Return ids 0..N-1, with gaps, far beyond any budget, or of text with shared beginnings and other alphabets."""
    if kind == "text":
        names = [f"ñ{value * 7919 % 1000}" if value % 3 else f"a name that is longer {value}" for value in node.ravel()]
        return np.array(names).reshape(node.shape)
    return {"dense": node, "gaps": node * 3 + 1, "sparse": node * 10**12 + 7}[kind]


def write_edges(path: Path, kind: str, num_nodes: int = 300, num_edges: int = 2500, *, values: bool = False) -> Path:
    """Write edges, some of them several times and in both directions; with values also weights and two features."""
    rng = np.random.default_rng(len(kind))
    node = rng.integers(num_nodes, size=(2, num_edges)) // rng.integers(1, 4, size=(2, num_edges))
    node[0, :num_nodes] = rng.permutation(num_nodes)
    src, dst = ids_of(kind, node)
    columns = {"src": src, "dst": dst}
    if values:
        weight, attr = 1 - rng.random(num_edges, dtype=np.float32), rng.normal(size=(2, num_edges)).astype(np.float32)
        columns |= {"weight": weight, "year": attr[0], "size": attr[1]}
    if path.suffix == ".parquet":
        pq.write_table(pa.table({**columns, "other": np.arange(num_edges)}), path, row_group_size=400)
    else:
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        path.write_text("".join(",".join(map(str, row)) + "\n" for row in [tuple(columns), *rows]))
    return path


def stream_to(
    source: Path, folder: Path, options: ImportOptions | None = None, *, memory_bytes: int = 60_000, **changes: Any
) -> Summary:
    """Stream into a folder as the command does."""
    options = options or ImportOptions()
    with open_work_folder(folder, import_job(source, options, memory_bytes)) as work:
        streaming = StreamOptions(work, memory_bytes, **changes)
        with stream_source(source, options, streaming) as (arrays, num_columns, summary):
            contents = Contents(arrays, options.directed, num_columns)
            save_contents(contents, folder, place=work.place, progress=streaming.progress)
    return summary
