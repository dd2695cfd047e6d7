"""Scope file: precomputed nodes and scores of the scopes of many targets.

Not for: edges, which FileExtractor (kinds/file.py) looks up in the graph.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.base.cut_files import survive_cut_files
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import BLOCK_BYTES, new_checksum, open_regular, replace_file
from shadow_gnn.extract.subgraphs import offsets, stretches

VERSION = 1
MAX_HEADER_BYTES = 1 << 16
MAX_TEXT = 10_000
"""Most characters of Origin.made_by."""

Ints = NDArray[np.int64]

_FORMAT = "shadow-scopes"
_NAMES = ("targets", "ptr", "node_id", "score")
_DTYPES: dict[str, np.dtype[Any]] = {"I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "F32": np.dtype("<f4")}
_ALLOWED = {"targets": ("I64",), "ptr": ("I64",), "node_id": ("I32", "I64"), "score": ("F32",)}


@dataclass(frozen=True, eq=False)
class ScopeNodes:
    """Nodes chosen for B targets; within a scope the best come first, equal scores by node id."""

    targets: Ints
    """[B] node ids, ascending."""
    ptr: Ints
    """[B + 1], target b has the nodes ptr[b] to ptr[b + 1]; the target itself need not be among them."""
    node_id: NDArray[Any]
    """[N] int64 or int32 ids in the whole graph."""
    score: NDArray[np.float32]
    """[N], above 0, larger is better."""

    def __len__(self) -> int:
        """Return the number of targets B."""
        return len(self.targets)


@dataclass(frozen=True)
class Origin:
    """Source of a scope file.

    >>> extract.Origin(num_nodes=40, fingerprint=graph.fingerprint, made_by="example").num_nodes
    40
    """

    num_nodes: int
    """Nodes of the graph."""
    fingerprint: str
    """Fingerprint of the graph's edges."""
    made_by: str
    """How the nodes were chosen, as text."""

    def __post_init__(self) -> None:
        if len(self.made_by) > MAX_TEXT:
            raise ValueError(f"Origin: made_by must have at most {MAX_TEXT} characters, got {len(self.made_by)}")


@dataclass(frozen=True, eq=False)
class ScopeFile:
    """An opened scope file: targets in memory, nodes and scores memory-mapped."""

    path: Path
    """Where it was read from."""
    nodes: ScopeNodes
    """Its contents."""
    origin: Origin
    """Its source."""
    checksum: str
    """Checksum of the contents: files with equal checksums give equal scopes."""

    def find(self, targets: Ints) -> Ints:
        """Return the row of each target, of any shape; -1 where it is not in the file."""
        known = self.nodes.targets
        if len(known) == 0:
            return np.full(targets.shape, -1, np.int64)
        rows = np.minimum(np.searchsorted(known, targets), len(known) - 1)
        return np.where(known[rows] == targets, rows, -1)

    def take(self, rows: Ints) -> ScopeNodes:
        """Return the nodes of some rows, in that order, as copies."""
        first = self.nodes.ptr[rows]
        length = self.nodes.ptr[rows + 1] - first
        try:
            node_id, score = (stretches(array, first, length) for array in (self.nodes.node_id, self.nodes.score))
        except _core.FileChanged as error:
            raise SourceError(f"{self.path}: {error}") from error
        return ScopeNodes(self.nodes.targets[rows], offsets(length), node_id.astype(np.int64, copy=False), score)


def sorted_nodes(targets: Ints, ptr: Ints, node_id: Ints, score: NDArray[np.float32]) -> ScopeNodes:
    """Sort scopes by target, and the nodes of each scope by score.

    >>> chosen = extract.sorted_nodes(scopes.targets[:, 0], scopes.ptr, scopes.node_id, scopes.score)
    >>> chosen.targets.tolist()
    [0, 7]
    """
    length = np.diff(ptr)
    by_target = np.argsort(targets, kind="stable")
    rank = np.empty(len(targets), np.int64)
    rank[by_target] = np.arange(len(targets))
    order = np.lexsort((node_id, -score, np.repeat(rank, length)))
    return ScopeNodes(targets[by_target], offsets(length[by_target]), node_id[order], score[order])


def write_scope_file(path: str | Path, parts: Sequence[ScopeNodes], origin: Origin) -> None:
    """Write scopes atomically, replacing any file; targets must ascend over all parts.

    The layout is that of safetensors: arrays targets, ptr, node_id, score, and a header with the origin.

    >>> chosen = extract.sorted_nodes(scopes.targets[:, 0], scopes.ptr, scopes.node_id, scopes.score)
    >>> extract.write_scope_file("mine.scopes", [chosen], extract.Origin(40, graph.fingerprint, "example"))
    """
    path, parts = Path(path), [part for part in parts if len(part)]
    before = -1
    for part in parts:
        _check_part(part, origin, before)
        before = int(part.targets[-1])
    checksum = _origin_checksum(origin)
    for block in _data(parts, origin):
        checksum.update(block)
    header = _header(parts, origin, str(checksum.hexdigest()))
    num_bytes = len(header) + sum(array.nbytes for array in _empty_arrays(parts, origin).values())

    def blocks() -> Iterator[memoryview]:
        yield memoryview(header)
        yield from _data(parts, origin)

    replace_file(path, blocks(), num_bytes)


def read_scope_file(path: str | Path) -> ScopeFile:
    """Open a scope file after checking every byte of it in bounded memory; a SourceError names file and fault."""
    path = Path(path)
    try:
        with open_regular(path) as handle:
            return _read(path, handle)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error


def _read(path: Path, handle: BinaryIO) -> ScopeFile:
    length = int.from_bytes(handle.read(8), "little")
    if not 2 <= length <= MAX_HEADER_BYTES:
        raise SourceError(f"{path}: is not a scope file")
    try:
        header = json.loads(handle.read(length))
        said = header.pop("__metadata__")
        known = said["format"] == _FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known:
        raise SourceError(f"{path}: is not a scope file")
    if said.get("version") != str(VERSION):
        found = said.get("version")
        raise SourceError(f"{path}: version must be {VERSION}, got {found!r:.40}; it is from another shadow-gnn")
    try:
        origin = Origin(int(said["num_nodes"]), str(said["fingerprint"]), str(said["made_by"]))
        places = _places(header, 8 + length, os.fstat(handle.fileno()).st_size)
        in_memory = _checked_arrays(handle, places, origin, said["checksum"])
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise SourceError(f"{path}: was edited or damaged: {error}") from error
    node_id, score = (_mapped(handle, *places[name]) for name in ("node_id", "score"))
    nodes = ScopeNodes(in_memory["targets"], in_memory["ptr"], node_id, score)
    return ScopeFile(path, nodes, origin, said["checksum"])


Place = tuple[np.dtype[Any], int, int]
"""Type, number of values and first byte of an array in the file."""


def _places(header: dict[str, Any], start: int, size: int) -> dict[str, Place]:
    """Check that the header describes the four arrays, one after the other, to the end of the file."""
    if sorted(header) != sorted(_NAMES):
        raise ValueError(f"it must hold {', '.join(_NAMES)}")
    places: dict[str, Place] = {}
    done = 0
    for name in _NAMES:
        entry = header[name]
        (count,) = entry["shape"]
        if entry["dtype"] not in _ALLOWED[name] or not isinstance(count, int) or not 0 <= count < 1 << 58:
            raise ValueError(f"{name} must be a list of {' or '.join(_ALLOWED[name])}")
        dtype = _DTYPES[entry["dtype"]]
        if entry["data_offsets"] != [done, done + count * dtype.itemsize]:
            raise ValueError(f"{name} is not where it should be")
        places[name] = (dtype, count, start + done)
        done += count * dtype.itemsize
    if start + done != size:
        raise ValueError(f"it must have {start + done} bytes, got {size}")
    return places


def _checked_arrays(handle: BinaryIO, places: dict[str, Place], origin: Origin, expected: str) -> dict[str, Ints]:
    """Read everything once, compare the checksum, and return targets and ptr."""
    checksum, kept = _origin_checksum(origin), {}
    for name in _NAMES:
        dtype, count, _ = places[name]
        pieces, left = [], count * dtype.itemsize
        while left:
            piece = handle.read(min(left, BLOCK_BYTES))
            if not piece:
                raise ValueError("it was cut while it was read")
            checksum.update(piece)
            left -= len(piece)
            if name in ("targets", "ptr"):
                pieces.append(piece)
        if name in ("targets", "ptr"):
            kept[name] = np.frombuffer(b"".join(pieces), dtype).astype(np.int64, copy=False)
    if checksum.hexdigest() != expected:
        raise ValueError("its checksum does not fit")
    targets, ptr = kept["targets"], kept["ptr"]
    if places["score"][1] != places["node_id"][1] or len(ptr) != len(targets) + 1:
        raise ValueError("its arrays do not fit together")
    if ptr[0] != 0 or ptr[-1] != places["node_id"][1] or (np.diff(ptr) < 0).any():
        raise ValueError("ptr must ascend from 0 to the number of nodes")
    if len(targets) and not (targets[0] >= 0 and targets[-1] < origin.num_nodes and (np.diff(targets) > 0).all()):
        raise ValueError(f"targets must ascend from 0 to {origin.num_nodes - 1}")
    return kept


def _mapped(handle: BinaryIO, dtype: np.dtype[Any], count: int, offset: int) -> NDArray[Any]:
    if count == 0:
        return np.empty(0, dtype)
    survive_cut_files()
    return np.memmap(handle, dtype, "r", offset, (count,)).view(np.ndarray)


def _check_part(part: ScopeNodes, origin: Origin, before: int) -> None:
    """Raise unless the scopes can be read again."""
    targets, ptr, owner = part.targets, part.ptr, "write_scope_file"
    if not (before < targets[0] and targets[-1] < origin.num_nodes and (np.diff(targets) > 0).all()):
        raise ValueError(f"{owner}: targets must ascend from 0 to {origin.num_nodes - 1} over all parts, they do not")
    if len(ptr) != len(targets) + 1 or ptr[0] != 0 or (np.diff(ptr) < 0).any() or ptr[-1] != len(part.node_id):
        raise ValueError(f"{owner}: ptr must ascend from 0 to the number of nodes {len(part.node_id)}")
    if len(part.score) != len(part.node_id):
        raise ValueError(f"{owner}: score must be {len(part.node_id)} floats, one for each node, got {len(part.score)}")
    if len(part.node_id) and not 0 <= int(part.node_id.min()) <= int(part.node_id.max()) < origin.num_nodes:
        raise ValueError(f"{owner}: node_id must be node ids from 0 to {origin.num_nodes - 1}, got others")
    if not (np.isfinite(part.score).all() and (part.score > 0).all()):
        raise ValueError(f"{owner}: score must be finite and above 0, got others")
    _check_order(part, owner)


def _check_order(part: ScopeNodes, owner: str) -> None:
    scope = np.repeat(np.arange(len(part)), np.diff(part.ptr))
    falls = part.score[1:] < part.score[:-1]
    ties = (part.score[1:] == part.score[:-1]) & (part.node_id[1:] > part.node_id[:-1])
    if not (falls | ties | (scope[1:] != scope[:-1])).all():
        raise ValueError(f"{owner}: nodes of a scope must fall in score, equal ones ascend; sorted_nodes does that")
    order = np.lexsort((part.node_id, scope))
    twice = (np.diff(part.node_id[order]) == 0) & (np.diff(scope[order]) == 0)
    if twice.any():
        node = int(part.node_id[order][int(np.argmax(twice))])
        raise ValueError(f"{owner}: node_id must not repeat within a scope, got {node} twice")


def _empty_arrays(parts: Sequence[ScopeNodes], origin: Origin) -> dict[str, NDArray[Any]]:
    """Return arrays of the types and lengths of the file, without memory behind them."""
    num_targets = sum(len(part) for part in parts)
    count = sum(len(part.node_id) for part in parts)
    id_dtype = "<i4" if origin.num_nodes <= 2**31 - 1 else "<i8"
    lengths = {"targets": num_targets, "ptr": num_targets + 1, "node_id": count, "score": count}
    dtypes = {"targets": "<i8", "ptr": "<i8", "node_id": id_dtype, "score": "<f4"}
    return {name: np.broadcast_to(np.zeros((), dtypes[name]), (lengths[name],)) for name in _NAMES}


def _header(parts: Sequence[ScopeNodes], origin: Origin, checksum: str) -> bytes:
    names = {dtype: name for name, dtype in _DTYPES.items()}
    table: dict[str, Any] = {
        "__metadata__": {
            "format": _FORMAT,
            "version": str(VERSION),
            "num_nodes": str(origin.num_nodes),
            "fingerprint": origin.fingerprint,
            "made_by": origin.made_by,
            "checksum": checksum,
        }
    }
    done = 0
    for name, array in _empty_arrays(parts, origin).items():
        end = done + array.size * array.itemsize
        table[name] = {"dtype": names[array.dtype], "shape": [array.size], "data_offsets": [done, end]}
        done = end
    text = json.dumps(table).encode()
    text = text.ljust(-(-len(text) // 8) * 8)  # The data begins at a multiple of 8.
    return len(text).to_bytes(8, "little") + text


def _data(parts: Sequence[ScopeNodes], origin: Origin) -> Iterator[memoryview]:
    """Yield the bytes of all arrays, part by part."""
    dtypes = {name: array.dtype for name, array in _empty_arrays(parts, origin).items()}
    for name in _NAMES:
        if name == "ptr":
            yield np.zeros(1, "<i8").view(np.uint8).data
        base = 0
        for part in parts:
            array = getattr(part, name) if name != "ptr" else part.ptr[1:] + base
            base += int(part.ptr[-1])
            yield np.ascontiguousarray(array, dtype=dtypes[name]).view(np.uint8).data


def _origin_checksum(origin: Origin) -> Any:
    checksum = new_checksum()
    checksum.update(json.dumps([origin.num_nodes, origin.fingerprint, origin.made_by]).encode())
    return checksum
