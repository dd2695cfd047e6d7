"""Staged integers: edges between integer ids on disk, numbered as in graph/importing/ids.py, in bounded memory.

Not for: text ids (staged_texts.py).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.bounded.out_of_core import MAX_NODES
from shadow_gnn.graph.importing.bounded.staged_values import ValueWriter
from shadow_gnn.graph.importing.bounded.staging import (
    BYTES_PER_ID,
    StagedEdges,
    cutting,
    evenly,
    known_names,
    name_rows,
)
from shadow_gnn.graph.importing.bounded.streaming import Names, StreamOptions
from shadow_gnn.graph.importing.formats.edge_list import EdgeList, check_range
from shadow_gnn.graph.importing.ids import names_of, sorted_unique
from shadow_gnn.graph.importing.table import Kind, column_batches
from shadow_gnn.graph.record import Array


def stage_integers(opened: EdgeList, streaming: StreamOptions) -> tuple[StagedEdges, int, Names | None]:
    """Return the edges with nodes numbered 0..N-1, N, and the original ids if they were others."""
    scratch = streaming.scratch
    state = scratch.recall("numbered") or scratch.recall("edges")
    if state is None:
        state = _write_integers(opened, streaming)
    if "num_nodes" not in state:
        state = state | _number_integers(opened, streaming, int(state["num_edges"]), int(state["highest"]))
        scratch.remember("numbered", state)
        if state["named"]:
            scratch.drop("edges")
    num_edges, num_nodes = int(state["num_edges"]), int(state["num_nodes"])
    if not state["named"]:
        return StagedEdges(scratch, "edges", num_edges, np.int64), num_nodes, None
    names = known_names(scratch, num_nodes, int(state["text_bytes"]))
    return StagedEdges(scratch, "numbered", num_edges, np.int32), num_nodes, names


def _write_integers(opened: EdgeList, streaming: StreamOptions) -> dict[str, Any]:
    roles = opened.roles
    edges = streaming.scratch.rows("edges", (0, 2), np.int64)
    highest = max((int(column.to_numpy().max()) for column in opened.more_ids if len(column)), default=-1)
    for column in opened.more_ids:
        if len(column) and int(column.to_numpy().min()) < 0:
            raise SourceError(f"{opened.table.path}: ids must be at least 0, got {int(column.to_numpy().min())}")
    values = ValueWriter(opened, streaming)
    kinds: dict[str, Kind] = {roles.src: "int", roles.dst: "int", **values.kinds}
    for batch in column_batches(opened.table, kinds, streaming.progress):
        pair = [batch[name].to_numpy() for name in (roles.src, roles.dst)]
        for name, ids in zip((roles.src, roles.dst), pair, strict=True):
            check_range(opened.table, name, ids, opened.num_nodes, len(edges))
            highest = max(highest, int(ids.max(initial=-1)))
        edges.append(np.stack(pair, axis=1))
        values.append(batch)
    edges.flush()
    values.flush()
    state = {"num_edges": len(edges), "highest": highest}
    streaming.scratch.remember("edges", state)
    return state


def _number_integers(opened: EdgeList, streaming: StreamOptions, num_edges: int, highest: int) -> dict[str, Any]:
    """Write numbers instead of ids unless these are 0..N-1; return N and the state on disk."""
    if opened.num_nodes is not None:
        return {"num_nodes": opened.num_nodes, "named": False}
    edges = StagedEdges(streaming.scratch, "edges", num_edges, np.int64)
    if highest < streaming.memory_bytes // 4:
        seen = _seen(opened, streaming, edges, highest)
        if seen.all():
            return {"num_nodes": highest + 1, "named": False}
        known = streaming.scratch.rows("known", (0,), np.int64)
        for start in range(0, len(seen), 1 << 18):
            known.append(start + np.flatnonzero(seen[start : start + (1 << 18)]))
        del seen
    else:
        known = _distinct(opened, streaming, edges)
    if len(known) > MAX_NODES:
        raise SourceError(f"{opened.table.path}: must have at most {MAX_NODES} nodes, got {len(known)}")
    _write_numbers(streaming, edges, known)
    num_nodes, text_bytes = len(known), write_names(streaming.scratch, known)
    streaming.scratch.drop("known")
    return {"num_nodes": num_nodes, "named": True, "text_bytes": text_bytes}


def _seen(opened: EdgeList, streaming: StreamOptions, edges: StagedEdges, highest: int) -> NDArray[np.bool_]:
    seen = np.zeros(highest + 1, dtype=np.bool_)
    for column in opened.more_ids:
        seen[column.to_numpy()] = True
    for src, dst in edges.blocks(max(1, streaming.memory_bytes // (4 * BYTES_PER_ID))):
        seen[src] = True
        seen[dst] = True
    return seen


def _distinct(opened: EdgeList, streaming: StreamOptions, edges: StagedEdges) -> DiskRows:
    """Return the distinct ids in ascending order: sorted runs are cut at common values and merged piece by piece."""
    scratch, ends = streaming.scratch, [0]
    runs = scratch.rows("runs", (0,), np.int64)
    for column in opened.more_ids:
        runs.append(sorted_unique(column.to_numpy()))
        ends.append(len(runs))
    done = 0
    for pair in edges.blocks(max(1, streaming.memory_bytes // (2 * BYTES_PER_ID))):
        runs.append(sorted_unique(np.concatenate(pair)))
        ends.append(len(runs))
        done += len(pair[0])
        streaming.progress("sorting ids", done, edges.num_edges)
    spans = list(itertools.pairwise(ends))
    num_pieces, step = cutting(len(runs), len(spans), BYTES_PER_ID, streaming.memory_bytes)
    samples = np.sort(np.concatenate([runs[start:stop][step - 1 :: step] for start, stop in spans]))
    cut_values = samples[evenly(len(samples), num_pieces)]
    inner = [start + np.searchsorted(runs[start:stop], cut_values) for start, stop in spans]
    cuts = [[start, *middle.tolist(), stop] for (start, stop), middle in zip(spans, inner, strict=True)]
    known = scratch.rows("known", (0,), np.int64)
    for piece in range(len(cut_values) + 1):
        known.append(sorted_unique(np.concatenate([runs[cut[piece] : cut[piece + 1]] for cut in cuts])))
        streaming.progress("numbering nodes", piece + 1, len(cut_values) + 1)
    scratch.drop("runs")
    return known


def _write_numbers(streaming: StreamOptions, edges: StagedEdges, known: DiskRows) -> None:
    table = known.mapped()
    numbered = streaming.scratch.rows("numbered", (edges.num_edges, 2), np.int32)
    done = 0
    for src, dst in edges.blocks(max(1, streaming.memory_bytes // (2 * BYTES_PER_ID))):
        # Sorted ids read the table from start to end, so it need not be in memory.
        ids = np.concatenate((src, dst))
        order = np.argsort(ids)
        number = np.empty(len(ids), np.int32)
        number[order] = np.searchsorted(table, ids[order])
        numbered.write(done, number.reshape(2, -1).T)
        done += len(src)
        streaming.progress("numbering edges", done, edges.num_edges)
    numbered.flush()


def write_names(scratch: Scratch, known: DiskRows | Array) -> int:
    """Write ids as the names of the nodes; return the bytes of the text."""
    import pyarrow as pa

    ptr, text = name_rows(scratch, 1, 0)
    ptr.write(0, np.zeros(1, np.int64))
    for start in range(0, len(known), 1 << 18):
        part = names_of(pa.array(known[start : start + (1 << 18)]).cast(pa.large_string()))
        ptr.append(len(text) + part.ptr[1:])
        text.append(part.text)
    ptr.flush()
    text.flush()
    return len(text)
