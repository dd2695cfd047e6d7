"""Pack: complete batches, features included, one after the other in one file.

Not for: which targets go together and in which order (packed_loader.py).
"""

from __future__ import annotations

import json
import math
import os
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.checked_json import dump_checked, without_checksum
from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.base.files import open_regular, sync_folder
from shadow_gnn.base.temporary import temporary_file
from shadow_gnn.loading.batch import Batch, Order

VERSION = 2
MAX_HEAD_BYTES = 1 << 20

_MAGIC = b"shpack01"
_TABLE = ("offset", "num_scopes", "num_nodes", "num_edges", "num_hops", "crc32")
_WIDE = ("node_id", "hop", "subgraph", "indices")
"""Fields that are int64 in a Batch and int32 in the file; node_id is int64 for graphs of 2^31 nodes."""

XDtype = Literal["<f4", "<f2"]


@dataclass(frozen=True)
class BatchForm:
    """Common properties of all batches of a file."""

    order: Order
    """Order of the rows, as in Batch."""
    num_targets: int
    """T, 1 for nodes."""
    num_columns: int | None
    """F; None for no features."""
    x_dtype: XDtype
    """Type of stored features: as in the graph, to lose nothing."""
    y_dtype: str | None
    """NumPy's name of the labels' type; None for no labels."""
    num_labels: int | None
    """C of labels [B, C]; None for labels [B]."""
    weighted: bool
    """Whether edges have weights."""
    wide_ids: bool
    """Whether node ids need 64 bits."""

    def arrays(self, sizes: Sizes) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
        """Return name, type and shape of the arrays of a batch, in the order of the file."""
        scopes, nodes, edges = sizes.num_scopes, sizes.num_nodes, sizes.num_edges
        found: list[tuple[str, str, tuple[int, ...]]] = [
            ("targets", "<i8", (scopes, self.num_targets)),
            ("target_row", "<i8", (scopes,)),
            ("target_node", "<i8", (scopes, self.num_targets)),
            ("node_id", "<i8" if self.wide_ids else "<i4", (nodes,)),
            ("hop", "<i4", (nodes,)),
            ("score", "<f4", (nodes,)),
            ("subgraph", "<i4", (nodes,)),
            ("indptr", "<i8", (nodes + 1,)),
            ("indices", "<i4", (edges,)),
        ]
        found.append(("hop_ptr", "<i8", (sizes.num_hops,)) if self.order == "hop" else ("ptr", "<i8", (scopes + 1,)))
        if self.y_dtype is not None:
            found.append(("y", self.y_dtype, (scopes,) if self.num_labels is None else (scopes, self.num_labels)))
        if self.weighted:
            found.append(("edge_weight", "<f4", (edges,)))
        if self.num_columns is not None:
            found.append(("x", self.x_dtype, (nodes, self.num_columns)))
        return [(name, np.dtype(dtype), shape) for name, dtype, shape in found]

    def num_bytes(self, sizes: Sizes) -> int:
        """Return the bytes of a batch in the file."""
        return sum(_padded(math.prod(shape) * dtype.itemsize) for _, dtype, shape in self.arrays(sizes))


@dataclass(frozen=True)
class Sizes:
    """Sizes of one batch."""

    num_scopes: int
    """B."""
    num_nodes: int
    """N."""
    num_edges: int
    """E."""
    num_hops: int
    """Entries of hop_ptr; 0 in subgraph order."""

    @classmethod
    def of(cls, batch: Batch) -> Sizes:
        """Return the sizes of a batch."""
        return cls(len(batch), batch.num_nodes, batch.num_edges, len(batch.hop_ptr or ()))


class PackWriter:
    """A file that batches are added to; see new_pack."""

    def __init__(self, handle: int, path: Path, form: BatchForm, num_batches: int) -> None:
        self._handle, self._path, self._form = handle, path, form
        self._table = np.full((num_batches, len(_TABLE)), -1, np.int64)
        self._offset = 0

    def write(self, number: int, batch: Batch) -> None:
        """Add a batch under its number, from 0."""
        sizes, crc, start = Sizes.of(batch), 0, self._offset
        for name, dtype, shape in self._form.arrays(sizes):
            data = _bytes_of(batch, name, dtype, shape)
            crc = zlib.crc32(data, crc)
            self._put(data)
        self._table[number] = (start, sizes.num_scopes, sizes.num_nodes, sizes.num_edges, sizes.num_hops, crc)

    def finish(self, identity: str) -> None:
        """Write the table of batches and the header."""
        if (self._table < 0).any():
            raise ValueError("PackWriter: every batch must be written, some are not")
        table = self._table.tobytes()
        head = {"version": VERSION, "identity": identity, "num_batches": len(self._table), "crc32": zlib.crc32(table)}
        text = dump_checked({**head, "form": asdict(self._form)})
        self._put(table + text + len(text).to_bytes(8, "little") + _MAGIC)

    def _put(self, data: bytes | memoryview) -> None:
        left = memoryview(data)
        try:
            while len(left):
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            raise _write_error(self._path, error) from error
        self._offset += len(data)


@contextmanager
def new_pack(path: Path, identity: str, form: BatchForm, num_batches: int) -> Iterator[PackWriter]:
    """Yield a writer for all batches; the file gets its name when complete and synced, or is removed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path) as (temporary, handle):
            writer = PackWriter(handle, path, form, num_batches)
            yield writer
            writer.finish(identity)
            os.fsync(handle)
            os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise _write_error(path, error) from error


class PackFile:
    """A finished file of batches, open for reading."""

    def __init__(self, path: Path, identity: str) -> None:
        """Open the file and check its header; a FolderError names the file."""
        self.path = path
        try:
            with open_regular(path) as handle:
                self._handle = os.dup(handle.fileno())
        except OSError as error:
            raise FolderError(f"{path}: cannot be read: {error.strerror or error}") from error
        weakref.finalize(self, os.close, self._handle)
        try:
            self._form, self._table = self._read_end(identity)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FolderError(f"{path}: packed batches cannot be read: {error}; delete it to pack again") from error

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._table)

    def ask(self, number: int) -> None:
        """Ask the system to prefetch the next batch."""
        if hasattr(os, "posix_fadvise"):
            offset, sizes, _ = self._place(number)
            os.posix_fadvise(self._handle, offset, self._form.num_bytes(sizes), os.POSIX_FADV_WILLNEED)

    def read(self, number: int) -> Batch:
        """Return a batch as it was written."""
        offset, sizes, crc = self._place(number)
        data = self._bytes(offset, self._form.num_bytes(sizes))
        if zlib.crc32(data.data) != crc:
            raise FolderError(f"{self.path}: was edited or damaged in batch {number}; delete it to pack again")
        values: dict[str, Any] = {}
        start = 0
        for name, dtype, shape in self._form.arrays(sizes):
            size = math.prod(shape) * dtype.itemsize
            values[name] = torch.from_numpy(data[start : start + size].view(dtype).reshape(shape))
            start += _padded(size)
        values |= {name: values[name].long() for name in _WIDE}
        hop_ptr = values.pop("hop_ptr", None)
        if "x" in values:
            values["x"] = values["x"].float()
        return Batch(
            **{"ptr": None, **values}, order=self._form.order, hop_ptr=None if hop_ptr is None else (*hop_ptr.tolist(),)
        )

    def _place(self, number: int) -> tuple[int, Sizes, int]:
        offset, *sizes, crc = self._table[number].tolist()
        return offset, Sizes(*sizes), crc

    def _read_end(self, identity: str) -> tuple[BatchForm, NDArray[np.int64]]:
        end = os.fstat(self._handle).st_size - 16
        if end < 0:
            raise ValueError("it is too short")
        tail = self._bytes(end, 16).tobytes()
        length = int.from_bytes(tail[:8], "little")
        if tail[8:] != _MAGIC or not 2 <= length <= min(end, MAX_HEAD_BYTES):
            raise ValueError("it is not a file of batches")
        head = without_checksum(self.path, json.loads(self._bytes(end - length, length).tobytes()), ValueError)
        if head["version"] != VERSION or head["identity"] != identity:
            raise ValueError("it belongs to another graph, extractor or version")
        form, num_bytes = BatchForm(**head["form"]), 8 * len(_TABLE) * int(head["num_batches"])
        first = end - length - num_bytes
        if num_bytes < 0 or first < 0:
            raise ValueError("its table is missing")
        data = self._bytes(first, num_bytes)
        if zlib.crc32(data.data) != head["crc32"]:
            raise ValueError("its table was edited or damaged")
        return form, data.view("<i8").reshape(-1, len(_TABLE))

    def _bytes(self, offset: int, count: int) -> NDArray[np.uint8]:
        data, done = np.empty(count, np.uint8), 0
        try:
            while done < count:
                got = os.preadv(self._handle, [data.data[done:]], offset + done)
                if got == 0:
                    raise FolderError(f"{self.path}: was cut while it was open; delete it to pack again")
                done += got
        except OSError as error:
            raise FolderError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        return data


def _bytes_of(batch: Batch, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return a field of a batch as it is stored, filled up to a multiple of 8."""
    value = getattr(batch, name)
    if isinstance(value, Tensor) and name == "x" and dtype.itemsize == 2:
        value = value.half()
    array = np.asarray(value)
    if array.shape != shape:
        raise ValueError(f"PackWriter: {name} must have shape {shape}, got {array.shape}")
    data = np.ascontiguousarray(array, dtype=dtype).tobytes()
    return data.ljust(_padded(len(data)), b"\0")


def _padded(num_bytes: int) -> int:
    return -(-num_bytes // 8) * 8


def _write_error(path: Path, error: OSError) -> WriteError:
    return WriteError(
        f"{path}: cannot be written: {error.strerror or error}; free some space or set training.pack = false"
    )
