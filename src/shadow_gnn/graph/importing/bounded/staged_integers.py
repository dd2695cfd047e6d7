"""Staged integers: edges between integer ids on a disk, numbered as ../ids.py numbers them, in bounded memory.

Not for: ids that are text (staged_texts.py).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.bounded.staged_values import ValueWriter
from shadow_gnn.graph.importing.bounded.staging import (
    BYTES_PER_ID,
    MAX_NUMBER,
    Names,
    StagedEdges,
    Staging,
    cutting,
    evenly,
    known_names,
    name_rows,
)
from shadow_gnn.graph.importing.formats.edge_list import check_range
from shadow_gnn.graph.importing.ids import names_of
from shadow_gnn.graph.importing.table import Kind, column_batches

Array = NDArray[Any]


def stage_integers(staging: Staging) -> tuple[StagedEdges, int, Names | None]:
    """Return the edges with nodes numbered 0..N-1, N, and the table of ids where they were others."""
    scratch = staging.scratch
    state = scratch.recall("numbered") or scratch.recall("edges")
    if state is None:
        state = _write_integers(staging)
    if "num_nodes" not in state:
        state = state | _number_integers(staging, int(state["num_edges"]), int(state["highest"]))
        scratch.remember("numbered", state)
        if state["named"]:
            scratch.drop("edges")
    names = None
    if state["named"]:
        names = known_names(scratch, int(state["num_nodes"]), int(state["text_bytes"]))
    edges = (
        StagedEdges(scratch, "numbered", int(state["num_edges"]), np.int32)
        if state["named"]
        else StagedEdges(scratch, "edges", int(state["num_edges"]), np.int64)
    )
    return edges, int(state["num_nodes"]), names


def _write_integers(staging: Staging) -> dict[str, Any]:
    roles = staging.roles
    edges = staging.scratch.rows("edges", (0, 2), np.int64)
    highest = max((int(column.to_numpy().max()) for column in staging.more_ids if len(column)), default=-1)
    for column in staging.more_ids:
        if len(column) and int(column.to_numpy().min()) < 0:
            raise SourceError(f"{staging.table.path}: ids must be at least 0, got {int(column.to_numpy().min())}")
    values = ValueWriter(staging)
    kinds: dict[str, Kind] = {roles.src: "int", roles.dst: "int", **values.kinds}
    for batch in column_batches(staging.table, kinds, staging.progress):
        pair = [batch[name].to_numpy() for name in (roles.src, roles.dst)]
        for name, ids in zip((roles.src, roles.dst), pair, strict=True):
            check_range(staging.table, name, ids, staging.num_nodes, len(edges))
            highest = max(highest, int(ids.max(initial=-1)))
        edges.append(np.stack(pair, axis=1))
        values.append(batch)
    edges.flush()
    values.flush()
    state = {"num_edges": len(edges), "highest": highest}
    staging.scratch.remember("edges", state)
    return state


def _number_integers(staging: Staging, num_edges: int, highest: int) -> dict[str, Any]:
    """Write numbers instead of ids where they are not 0..N-1; return N and what there is on the disk."""
    if staging.num_nodes is not None:
        return {"num_nodes": staging.num_nodes, "named": False}
    edges = StagedEdges(staging.scratch, "edges", num_edges, np.int64)
    if highest < staging.memory_bytes // 4:
        seen = _seen(staging, edges, highest)
        if seen.all():
            return {"num_nodes": highest + 1, "named": False}
        known = staging.scratch.rows("known", (0,), np.int64)
        for start in range(0, len(seen), 1 << 18):
            known.append(start + np.flatnonzero(seen[start : start + (1 << 18)]))
        del seen
    else:
        known = _distinct(staging, edges)
    if len(known) > MAX_NUMBER:
        raise SourceError(f"{staging.table.path}: must have at most {MAX_NUMBER} nodes, got {len(known)}")
    _write_numbers(staging, edges, known)
    num_nodes, text_bytes = len(known), write_names(staging.scratch, known)
    staging.scratch.drop("known")
    return {"num_nodes": num_nodes, "named": True, "text_bytes": text_bytes}


def _seen(staging: Staging, edges: StagedEdges, highest: int) -> NDArray[np.bool_]:
    seen = np.zeros(highest + 1, dtype=np.bool_)
    for column in staging.more_ids:
        seen[column.to_numpy()] = True
    for src, dst in edges.blocks(max(1, staging.memory_bytes // (4 * BYTES_PER_ID))):
        seen[src] = True
        seen[dst] = True
    return seen


def _distinct(staging: Staging, edges: StagedEdges) -> DiskRows:
    """Return all ids, ascending and once each: sorted runs are cut at common values and merged piece by piece."""
    scratch, ends = staging.scratch, [0]
    runs = scratch.rows("runs", (0,), np.int64)
    for column in staging.more_ids:
        runs.append(_unique(column.to_numpy()))
        ends.append(len(runs))
    done = 0
    for pair in edges.blocks(max(1, staging.memory_bytes // (2 * BYTES_PER_ID))):
        runs.append(_unique(np.concatenate(pair)))
        ends.append(len(runs))
        done += len(pair[0])
        staging.progress("sorting ids", done, edges.num_edges)
    spans = list(itertools.pairwise(ends))
    num_pieces, step = cutting(len(runs), len(spans), BYTES_PER_ID, staging.memory_bytes)
    samples = np.sort(np.concatenate([runs[start:stop][step - 1 :: step] for start, stop in spans]))
    cut_values = samples[evenly(len(samples), num_pieces)]
    cuts = [_bounds(start, stop, np.searchsorted(runs[start:stop], cut_values)) for start, stop in spans]
    known = scratch.rows("known", (0,), np.int64)
    for piece in range(len(cut_values) + 1):
        known.append(_unique(np.concatenate([runs[cut[piece] : cut[piece + 1]] for cut in cuts])))
        staging.progress("numbering nodes", piece + 1, len(cut_values) + 1)
    scratch.drop("runs")
    return known


def _unique(values: Array) -> Array:
    # np.unique hashes since NumPy 2.3, many times slower than this sort.
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    distinct: Array = ordered[first]
    return distinct


def _bounds(start: int, stop: int, cuts: Array) -> list[int]:
    return [start, *(start + int(cut) for cut in cuts), stop]


def _write_numbers(staging: Staging, edges: StagedEdges, known: DiskRows) -> None:
    table = known.mapped()
    numbered = staging.scratch.rows("numbered", (edges.num_edges, 2), np.int32)
    done = 0
    for src, dst in edges.blocks(max(1, staging.memory_bytes // (2 * BYTES_PER_ID))):
        # Sorted ids go through the table from its beginning to its end: it need not be in memory.
        ids = np.concatenate((src, dst))
        order = np.argsort(ids)
        number = np.empty(len(ids), np.int32)
        number[order] = np.searchsorted(table, ids[order])
        numbered.write(done, number.reshape(2, -1).T)
        done += len(src)
        staging.progress("numbering edges", done, edges.num_edges)
    numbered.flush()


def write_names(scratch: Scratch, known: DiskRows | Array) -> int:
    """Write ids as the texts of the nodes; return their bytes."""
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
