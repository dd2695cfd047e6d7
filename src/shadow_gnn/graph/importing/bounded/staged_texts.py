"""Staged texts: edges between text ids on disk, numbered as in graph/importing/ids.py, in bounded memory.

Not for: integer ids (staged_integers.py).
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import SourceError
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
from shadow_gnn.graph.importing.formats.edge_list import EdgeList
from shadow_gnn.graph.importing.ids import number_texts, texts_of
from shadow_gnn.graph.importing.table import Kind, column_batches
from shadow_gnn.graph.record import NodeNames

# Most bytes of temporary arrays per row of a table, measured by the tests.
_BYTES_PER_ROW = 200


def stage_texts(opened: EdgeList, streaming: StreamOptions) -> tuple[StagedEdges, int, Names]:
    """Return the edges with nodes numbered in the order of their texts, N, and the texts.

    Each run of rows has a sorted table of its own texts; the tables are merged, and then each run is renumbered.
    """
    scratch = streaming.scratch
    state = scratch.recall("numbered")
    if state is None:
        runs = scratch.recall("edges") or _write_texts(opened, streaming)
        state = _merge_texts(opened, streaming, runs) | {"num_edges": runs["edge_end"][-1]}
        scratch.remember("numbered", state)
    for name in ("edges", "run_length", "run_text", "run_number"):
        scratch.drop(name)
    names = known_names(scratch, int(state["num_nodes"]), int(state["text_bytes"]))
    return StagedEdges(scratch, "numbered", int(state["num_edges"]), np.int32), int(state["num_nodes"]), names


def _write_texts(opened: EdgeList, streaming: StreamOptions) -> dict[str, list[int]]:
    """Write the edges as numbers within their run, and the sorted texts of each run; return the ends of the runs."""
    import pyarrow as pa

    scratch, roles = streaming.scratch, opened.roles
    edges = scratch.rows("edges", (0, 2), np.int32)
    length, text = scratch.rows("run_length", (0,), np.int64), scratch.rows("run_text", (0,), np.uint8)
    ends: dict[str, list[int]] = {"edge_end": [0], "name_end": [0], "text_end": [0]}

    def close_run(columns: list[Any]) -> None:
        parts, names = number_texts(columns)
        if len(parts) == 2:
            edges.append(np.stack(parts, axis=1))
        length.append(np.diff(names.ptr))
        text.append(names.text)
        for key, rows in zip(ends, (edges, length, text), strict=True):
            ends[key].append(len(rows))

    held: list[list[Any]] = [[], []]
    num_rows = num_bytes = 0
    values = ValueWriter(opened, streaming)
    kinds: dict[str, Kind] = {roles.src: "text", roles.dst: "text", **values.kinds}
    for batch in column_batches(opened.table, kinds, streaming.progress):
        values.append(batch)
        for chunks, name in zip(held, (roles.src, roles.dst), strict=True):
            chunks.append(batch[name])
            num_bytes += batch[name].nbytes
        num_rows += len(batch[roles.src])
        if max(num_rows * _BYTES_PER_ROW, 4 * num_bytes) > streaming.memory_bytes // 2:
            close_run([pa.chunked_array(chunks) for chunks in held])
            held, num_rows, num_bytes = [[], []], 0, 0
    if num_rows:
        close_run([pa.chunked_array(chunks) for chunks in held])
    for column in opened.more_ids:
        if len(column):
            # A single column has names only; two would be edges.
            close_run([column])
    for rows in (edges, length, text):
        rows.flush()
    values.flush()
    scratch.remember("edges", ends)
    return ends


@dataclass(frozen=True, eq=False)
class _TextRuns:
    """The sorted texts of all runs on disk."""

    length: DiskRows
    text: DiskRows
    name_end: list[int]
    text_end: list[int]

    def __len__(self) -> int:
        return len(self.name_end) - 1

    def load(self, run: int) -> NodeNames:
        """Return the texts of one run."""
        length = self.length[self.name_end[run] : self.name_end[run + 1]]
        ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
        return NodeNames(ptr, self.text[self.text_end[run] : self.text_end[run + 1]])

    def part(self, run: int, names: slice, text: slice) -> Any:
        """Return some texts of one run, given their positions, as an Arrow array."""
        base, text_base = self.name_end[run], self.text_end[run]
        length = self.length[base + names.start : base + names.stop]
        ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
        return texts_of(NodeNames(ptr, self.text[text_base + text.start : text_base + text.stop]))


def _merge_texts(opened: EdgeList, streaming: StreamOptions, ends: dict[str, list[int]]) -> dict[str, int]:
    """Merge the texts of the runs into one table and write the edges with its numbers; return its sizes."""
    scratch = streaming.scratch
    total, text_bytes = ends["name_end"][-1], ends["text_end"][-1]
    length, text = scratch.rows("run_length", (total,), np.int64), scratch.rows("run_text", (text_bytes,), np.uint8)
    runs = _TextRuns(length, text, ends["name_end"], ends["text_end"])
    item_bytes = BYTES_PER_ID + 4 * text_bytes // max(1, total)
    number = scratch.rows("run_number", (total,), np.int32)
    cuts = _text_cuts(runs, *cutting(total, len(runs), item_bytes, streaming.memory_bytes))
    ptr, out = name_rows(scratch, 1, 0)
    ptr.write(0, np.zeros(1, np.int64))
    num_pieces = len(cuts[0]) - 1 if cuts else 0
    for piece in range(num_pieces):
        _merge_piece(runs, [run_cuts[piece : piece + 2] for run_cuts in cuts], number, ptr, out)
        streaming.progress("numbering nodes", piece + 1, num_pieces)
    ptr.flush()
    out.flush()
    _write_text_numbers(streaming, ends, number)
    if len(ptr) - 1 > MAX_NODES:
        raise SourceError(f"{opened.table.path}: must have at most {MAX_NODES} nodes, got {len(ptr) - 1}")
    return {"num_nodes": len(ptr) - 1, "text_bytes": len(out)}


def _text_cuts(runs: _TextRuns, num_pieces: int, step: int) -> list[list[tuple[int, int]]]:
    """Return for each run the start of each piece and the end of the last, as (name, byte of its text)."""
    samples: list[str] = []
    for run in range(len(runs)):
        samples += texts_of(runs.load(run))[step - 1 :: step].to_pylist()
    samples.sort()
    cut_values = [samples[place] for place in evenly(len(samples), num_pieces)]
    cuts = []
    for run in range(len(runs)):
        names = runs.load(run)
        # Texts are compared as Python strings: code points ascend like UTF-8 bytes.
        places = [0, *(bisect.bisect_left(names, value) for value in cut_values), len(names)]
        cuts.append([(place, int(names.ptr[place])) for place in places])
    return cuts


def _merge_piece(
    runs: _TextRuns, cuts: list[list[tuple[int, int]]], number: DiskRows, ptr: DiskRows, out: DiskRows
) -> None:
    """Append the distinct texts of one piece of every run to the table, and write their numbers for the runs."""
    import pyarrow as pa

    spans = [(slice(begin[0], end[0]), slice(begin[1], end[1])) for begin, end in cuts]
    parts = [runs.part(run, names, text) for run, (names, text) in enumerate(spans)]
    encoded = [pa.chunked_array([part]).dictionary_encode() for part in parts]
    found, merged = number_texts(encoded)
    first = len(ptr) - 1
    for run, (codes, (names, _)) in enumerate(zip(found, spans, strict=True)):
        number.write(runs.name_end[run] + names.start, (first + codes).astype(np.int32))
    ptr.append(len(out) + merged.ptr[1:])
    out.append(merged.text)


def _write_text_numbers(streaming: StreamOptions, ends: dict[str, list[int]], number: DiskRows) -> None:
    num_edges = ends["edge_end"][-1]
    edges = streaming.scratch.rows("edges", (num_edges, 2), np.int32)
    numbered = streaming.scratch.rows("numbered", (num_edges, 2), np.int32)
    for run in range(len(ends["edge_end"]) - 1):
        start, stop = ends["edge_end"][run : run + 2]
        names = slice(ends["name_end"][run], ends["name_end"][run + 1])
        numbered.write(start, number[names][edges[start:stop]])
        streaming.progress("numbering edges", stop, num_edges)
    numbered.flush()
