"""Folder: write a synthetic graph straight into a graph folder, in bounded memory.

Not for: the graph's content (drawn.py).
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from shadow_gnn.base.files import Progress, Rows, silent
from shadow_gnn.base.work_folder import open_work_folder, work_folder_of
from shadow_gnn.graph.generators.drawn import DrawnEdges, drawn_features, drawn_labels, drawn_splits
from shadow_gnn.graph.generators.plan import GraphPlan, disk_need
from shadow_gnn.graph.importing.bounded.out_of_core import MEMORY_BYTES, build_lists
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.store import Contents, check_space, check_target, save_contents

_VERSION = 2


def generate_graph(
    plan: GraphPlan,
    folder: str | Path,
    *,
    memory_bytes: int = MEMORY_BYTES,
    num_threads: int = 1,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Summary:
    """Write a synthetic graph as a folder, which appears whole or not at all; return the counts of edges.

    After a kill, the next call with the same plan resumes. Threads and memory affect only the time.

    >>> summary = sg.generate_graph(sg.GraphPlan("dcsbm", num_nodes=100, degree=4, num_columns=2), "synthetic")
    >>> sg.open_graph("synthetic").num_nodes
    100
    """
    folder = Path(folder)
    if num_threads < 1:
        raise ValueError(f"generate: num_threads must be at least 1, got {num_threads}")
    check_target(folder, overwrite=overwrite)
    # Leftovers of an earlier process are either used or removed.
    check_space(folder, max(0, disk_need(plan).largest - _taken(work_folder_of(folder))))
    job = {"kind": "generate", "version": _VERSION, "memory_bytes": memory_bytes, **asdict(plan)}
    with open_work_folder(folder, job) as work:
        lists = build_lists(
            DrawnEdges(plan, num_threads), plan.num_nodes, scratch=work, memory_bytes=memory_bytes, progress=progress
        )
        arrays: dict[str, Rows] = {"indptr": lists.indptr, "indices": lists.indices}
        if plan.num_columns:
            arrays["x"] = drawn_features(plan, num_threads)
        arrays["y"] = drawn_labels(plan, num_threads)
        arrays |= {f"split/{name}": rows for name, rows in drawn_splits(plan, num_threads).items()}
        contents = Contents(arrays, directed=False, num_feature_columns=plan.num_columns or None)
        save_contents(contents, folder, overwrite=overwrite, place=work.place, progress=progress)
    return lists.summary


def _taken(folder: Path) -> int:
    """Return the bytes on disk of all files in a folder."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
