"""Pickled: read plain arrays from pickles and torch's .pt files without running any code in them.

Not for: other objects, which are refused. The standard library's parser yields the instructions, and only those for
numbers, text, containers, NumPy arrays, SciPy CSR matrices and tensors are followed.
"""

from __future__ import annotations

import math
import pickletools
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import open_regular
from shadow_gnn.graph.importing.archive import inflate_limit, plain_members
from shadow_gnn.graph.record import Array

Storage = Callable[[str, np.dtype[Any], int], Array]

_VALUES = {
    *("NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT"),
    *("BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"),
    *("BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, type] = {"EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
_CSR = {f"{module} csr_matrix" for module in ("scipy.sparse.csr", "scipy.sparse._csr", "scipy.sparse")}
_STORAGES = {
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
}


@dataclass(frozen=True, eq=False)
class CsrMatrix:
    """The arrays of a SciPy CSR matrix, unchecked."""

    indptr: Array
    indices: Array
    data: Array
    shape: tuple[int, int]


class _Name(str):
    """A global named by a pickle, as "module name"; it is never looked up."""


@dataclass(eq=False)
class _Part:
    """An object that a pickle creates first and fills later."""

    kind: str
    value: Any = None


_VALUES_PER_STEP, _MOST_CSR_VALUES = 16, 1000
_LEAST_COPIED_BYTES, _MOST_COPIES = 1 << 24, 4


class _Refused(ValueError):
    """A pickle holds something other than plain arrays."""


def read_pickled(path: Path) -> Any:
    """Read one pickle: numbers, text, lists, tuples, dicts, arrays and CsrMatrix records."""
    with open_regular(path) as handle:
        return _guarded(path, lambda: _read(handle))


def read_torch(path: Path) -> Any:
    """Read a file of torch.save, in its zip form or in the older one; tensors become arrays.

    In the older form only arrays inside the pickle are read, as in OGB's link splits.
    """
    with open_regular(path) as handle:
        if handle.read(4) == b"PK\x03\x04":
            return _guarded(path, lambda: _read_zip(path, handle))
        handle.seek(0)
        return _guarded(path, lambda: _read_legacy(handle))


def _guarded(path: Path, read: Callable[[], Any]) -> Any:
    """Turn any error of a broken or foreign file into one line that names it."""
    try:
        return read()
    except (
        *(ValueError, TypeError, IndexError, KeyError, AttributeError),
        *(EOFError, OSError, OverflowError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error),
    ) as error:
        raise SourceError(f"{path}: must be a pickle of plain arrays: {str(error) or type(error).__name__}") from error


def _read_legacy(handle: BinaryIO) -> Any:
    magic, version, _ = (_read(handle) for _ in range(3))
    if magic != 0x1950A86A20F9469CFC6C or version != 1001:
        raise _Refused("it is not a file of torch.save")
    return _read(handle)


def _read_zip(path: Path, handle: BinaryIO) -> Any:
    with zipfile.ZipFile(handle) as archive:
        sizes = {member.filename: member.file_size for member in plain_members(archive)}
        if sum(sizes.values()) > inflate_limit(path.stat().st_size):
            raise _Refused("it would inflate to too many bytes")
        root = next((name[: -len("data.pkl")] for name in sizes if name.endswith("/data.pkl")), None)
        if root is None:
            raise _Refused("it holds no data.pkl")

        def storage(key: str, dtype: np.dtype[Any], count: int) -> Array:
            raw = archive.read(f"{root}data/{key}")
            if len(raw) != count * dtype.itemsize:
                raise _Refused(f"storage {key} has {len(raw)} bytes, not {count * dtype.itemsize}")
            return np.frombuffer(raw, dtype)

        with archive.open(f"{root}data.pkl") as stream:
            return _read(stream, storage)


def _read(stream: Any, storage: Storage | None = None) -> Any:
    machine = _Machine(storage)
    for num_steps, (opcode, argument, _) in enumerate(pickletools.genops(stream), start=1):
        if opcode.name == "STOP":
            return _Resolver(_VALUES_PER_STEP * num_steps).resolved(machine.stack.pop())
        machine.step(opcode.name, argument)
    raise _Refused("it ends too early")


class _Resolver:
    """Replaces parts by finished arrays, up to a number of values: containers that hold others twice grow as 2^n."""

    def __init__(self, most: int) -> None:
        self._left = most

    def resolved(self, value: Any) -> Any:
        """Return a value without parts."""
        self._left -= 1
        if self._left < 0:
            raise _Refused("it repeats its own values too often")
        if isinstance(value, _Part):
            return self.resolved(value.value) if isinstance(value.value, (dict, list)) else value.value
        if isinstance(value, _Name):
            raise _Refused(f"it holds {value!r}")
        if isinstance(value, dict):
            return {self.resolved(key): self.resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolved(item) for item in value]
        return tuple(self.resolved(item) for item in value) if isinstance(value, tuple) else value


class _Machine:
    """The stack machine of a pickle, for the instructions of plain arrays."""

    def __init__(self, storage: Storage | None) -> None:
        self.stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._storage = storage
        self._storages: dict[str, Array] = {}
        self._raw_bytes = self._made_bytes = 0

    def step(self, name: str, argument: Any) -> None:
        """Follow one instruction."""
        if name in _VALUES:
            self.stack.append(_CONSTANTS.get(name, argument))
            self._raw_bytes += len(argument) if isinstance(argument, (bytes, str)) else 0
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _TUPLES:
            self.stack.append(tuple(self._take(_TUPLES[name])))
        elif name == "GLOBAL":
            self.stack.append(_Name(argument))
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self.stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self.stack.append(self._memo[argument])
        elif name not in ("PROTO", "FRAME"):
            method = getattr(self, f"_{name.lower()}", None)
            if method is None:
                raise _Refused(f"it holds the instruction {name}")
            method()

    def _pop_to_mark(self) -> list[Any]:
        start = self._marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def _take(self, count: int) -> list[Any]:
        if count > len(self.stack):
            raise _Refused("it takes more than it has")
        items = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return items

    def _mark(self) -> None:
        self._marks.append(len(self.stack))

    def _memoize(self) -> None:
        self._memo[len(self._memo)] = self.stack[-1]

    def _stack_global(self) -> None:
        module, name = self._take(2)
        self.stack.append(_Name(f"{module} {name}"))

    def _tuple(self) -> None:
        self.stack.append(tuple(self._pop_to_mark()))

    def _list(self) -> None:
        self.stack.append(self._pop_to_mark())

    def _append(self) -> None:
        (item,) = self._take(1)
        self.stack[-1].append(item)

    def _appends(self) -> None:
        items = self._pop_to_mark()
        self.stack[-1].extend(items)

    def _dict(self) -> None:
        items = self._pop_to_mark()
        self.stack.append(dict(zip(items[::2], items[1::2], strict=True)))

    def _setitem(self) -> None:
        key, value = self._take(2)
        self.stack[-1][key] = value

    def _setitems(self) -> None:
        items = self._pop_to_mark()
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def _reduce(self) -> None:
        name, arguments = self._take(2)
        self.stack.append(_made(name, arguments))
        self._count(self.stack[-1])

    def _count(self, made: Any) -> None:
        """Count the bytes of a new array; many copies of the same bytes are refused."""
        if isinstance(made, np.ndarray):
            self._made_bytes += made.nbytes
            if self._made_bytes > max(_MOST_COPIES * self._raw_bytes, _LEAST_COPIED_BYTES):
                raise _Refused("it copies its own bytes too often")

    _newobj = _reduce

    def _build(self) -> None:
        (state,) = self._take(1)
        part = self.stack[-1]
        if not isinstance(part, _Part):
            raise _Refused("it fills an object that is not an array")
        fill: dict[str, Callable[[_Part, Any], Any]] = {"array": _array, "dtype": _dtype, "csr": _csr}
        part.value = fill[part.kind](part, state)
        self._count(part.value)

    def _binpersid(self) -> None:
        (given,) = self._take(1)
        kind, storage_type, key, _, count = given
        dtype = _STORAGES.get(str(storage_type).removeprefix("torch "))
        if kind != "storage" or dtype is None or self._storage is None:
            raise _Refused(f"it holds a tensor of {storage_type}")
        if str(key) not in self._storages:
            self._storages[str(key)] = self._storage(str(key), np.dtype(dtype), int(count))
            self._raw_bytes += self._storages[str(key)].nbytes
        self.stack.append(self._storages[str(key)])


def _made(name: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the result of calling a global, for the few that plain arrays need."""
    if not isinstance(name, _Name):
        raise _Refused("it calls something that is not a name")
    module, _, function = name.partition(" ")
    if module in _NUMPY and function == "_reconstruct":
        return _Part("array")
    if name == "numpy dtype":
        return _Part("dtype", _plain_dtype(arguments[0]))
    if name == "_codecs encode" and arguments[1] == "latin1":
        return str(arguments[0]).encode("latin-1")
    if name in ("__builtin__ bytes", "builtins bytes") and arguments == ():
        return b""
    if name in ("collections defaultdict", "collections OrderedDict"):
        return {}
    if name in ("copy_reg _reconstructor", "copyreg _reconstructor") and arguments[0] in _CSR:
        return _Part("csr")
    if name in _CSR and arguments == ():
        return _Part("csr")
    if name == "torch._utils _rebuild_tensor_v2":
        return _tensor(*arguments[:4])
    raise _Refused(f"it asks for {module}.{function}")


def _plain_dtype(text: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(text))
    if dtype.kind not in "biuf":
        raise _Refused(f"it holds values of {dtype}")
    return dtype


def _dtype(part: _Part, state: tuple[Any, ...]) -> np.dtype[Any]:
    order = state[1]
    if order not in ("<", ">", "|", "="):
        raise _Refused(f"it has the byte order {order!r}")
    dtype: np.dtype[Any] = part.value
    return dtype if order == "|" else dtype.newbyteorder(order)


def _array(part: _Part, state: tuple[Any, ...]) -> Array:
    _, shape, dtype, fortran, raw = state
    # Python 2 stores bytes as text.
    data = raw.encode("latin-1") if isinstance(raw, str) else raw
    kind: np.dtype[Any] = dtype.value
    if not isinstance(data, bytes) or len(data) != math.prod(shape) * kind.itemsize:
        raise _Refused(f"an array of shape {shape} must have {math.prod(shape) * kind.itemsize} bytes")
    array: Array = np.frombuffer(data, kind).reshape(shape, order="F" if fortran else "C")
    return array.astype(kind.newbyteorder("="))


def _csr(part: _Part, state: dict[str, Any]) -> CsrMatrix:
    found = {str(key): _Resolver(_MOST_CSR_VALUES).resolved(value) for key, value in state.items()}
    rows, columns = found["_shape"] if "_shape" in found else found["shape"]
    return CsrMatrix(found["indptr"], found["indices"], found["data"], (int(rows), int(columns)))


def _tensor(storage: Array, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Array:
    """Return a contiguous copy of a view into a storage."""
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if min((offset, *size, *stride)) < 0 or (0 not in size and last >= len(storage)):
        raise _Refused(f"a tensor of size {size} goes beyond its storage")
    if math.prod(size) * storage.itemsize > max(storage.nbytes, _LEAST_COPIED_BYTES):
        raise _Refused(f"a tensor of size {size} repeats the values of its storage")
    strides = [step * storage.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(storage[offset:], size, strides).copy()
