"""Names: the texts of nodes, classes or columns in one block of bytes, and look-ups in their sorted order.

Not for: the files of a graph folder (store.py), nor for the tables that names come from (importing).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError

Ints = NDArray[np.int64]
Array = NDArray[Any]

_LONGEST_QUERY = 200
_SHOWN = 60


@dataclass(frozen=True, eq=False)
class NodeNames:
    """Names of nodes, classes or columns as text, in one block of bytes that can be memory-mapped.

    A look-up is a binary search in `order`, which a graph folder keeps, so it reads a few pages of mapped files.

    >>> names = sg.NodeNames.of(["ada", "bob", "cyd"])
    >>> names[1], names.index("cyd"), len(names)
    ('bob', 2, 3)
    """

    ptr: Array
    """int64 [N + 1], start of each name in `text`."""
    text: Array
    """uint8, the UTF-8 bytes of all names."""
    order_hint: Array | None = field(default=None, repr=False)
    """int32 or int64 [N], the stored order of the names; None to sort them at the first look-up."""
    path: Path | None = field(default=None, repr=False)
    """Graph folder of mapped names, for messages."""

    def __post_init__(self) -> None:
        if len(self.ptr) == 0 or self.ptr[0] != 0 or self.ptr[-1] != len(self.text):
            raise ValueError(f"NodeNames: ptr must run from 0 to {len(self.text)}, the number of bytes")
        if self.order_hint is not None and len(self.order_hint) != len(self):
            raise ValueError(f"NodeNames: order must have one id per name ({len(self)}), got {len(self.order_hint)}")

    @classmethod
    def of(cls, texts: Sequence[str]) -> NodeNames:
        """Return the names that some texts are."""
        encoded = [text.encode() for text in texts]
        ptr = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=ptr[1:])
        return cls(ptr, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, node_id: int) -> str:
        if not 0 <= node_id < len(self):
            raise IndexError(f"NodeNames: node_id must be in 0..{len(self) - 1}, got {node_id}")
        start, stop = int(self.ptr[node_id]), int(self.ptr[node_id + 1])
        if not 0 <= start <= stop <= len(self.text):
            raise FolderError(f"NodeNames: ptr must ascend from 0 to {len(self.text)}, it does not at row {node_id}")
        try:
            return bytes(self.text[start:stop]).decode()
        except UnicodeDecodeError as error:
            raise FolderError(f"NodeNames: text must be UTF-8, that of row {node_id} is not: {error}") from error

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.lookup([name])[1][0])

    def __repr__(self) -> str:
        """Show the number of names and the first ones."""
        first = ", ".join(repr(self[number]) for number in range(min(3, len(self))))
        return f"NodeNames({len(self):,}: {first}{', ...' if len(self) > 3 else ''})"

    @cached_property
    def order(self) -> Array:
        """Ids by name, without regard to the case of ASCII letters, then with it, then by id. [N]"""
        from shadow_gnn import _core

        if self.order_hint is not None:
            return self.order_hint
        with self._naming_folder():
            return _core.sort_names(*self._arrays)

    def first_disorder(self) -> int | None:
        """Return the first place of `order` that does not come after the one before; None if there is none."""
        from shadow_gnn import _core

        with self._naming_folder():
            place = _core.name_order_fault(*self._arrays, self.order)
        return None if place < 0 else place

    def index(self, name: str, *, owner: str = "node_name: name") -> int:
        """Return the id of a name; an unknown one is a ValueError with the nearest names.

        owner: subject of the message.
        """
        return int(self.indices([name], owner=owner)[0])

    def indices(self, names: Sequence[str], *, owner: str = "node_name: name") -> Ints:
        """Return the ids of many names at once; the first that is unknown, or of several nodes, is a ValueError."""
        ids, counts = self.lookup(names)
        wrong = np.flatnonzero(counts != 1)
        if len(wrong):
            raise ValueError(f"{owner} {self.fault(names[int(wrong[0])])}")
        return ids

    def lookup(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """Return the first id of each name, -1 for an unknown one, and how many nodes have the name. [Q], [Q]"""
        from shadow_gnn import _core

        queries = NodeNames.of(names)
        with self._naming_folder():
            return _core.find_names(*self._arrays, self.order, queries.ptr, queries.text)

    def fault(self, name: str) -> str:
        """Say why a name does not stand for one node: the end of a message, after its subject."""
        node, count = (int(found[0]) for found in self.lookup([name]))
        if count > 1:
            return f"must name one node, {name[:_SHOWN]!r} is the name of {count:,}, first of node {node}; give ids"
        near = " or ".join(repr(self[other]) for other in self.nearest(name))
        hint = f"; did you mean {near}?" if near else ""
        return f"must name a node of the graph, got {name[:_SHOWN]!r}{hint}"

    def with_prefix(self, prefix: str, most: int = 10) -> Ints:
        """Return the ids of the first names, by the alphabet, that begin with a text in upper or lower case. [K]"""
        from shadow_gnn import _core

        with self._naming_folder():
            first, last = _core.prefix_range(*self._arrays, self.order, _bytes(prefix))
        found = np.asarray(self.order[first : min(last, first + most)], dtype=np.int64)
        if len(found) and not 0 <= found.min() <= found.max() < len(self):
            raise FolderError(f"{self.path or 'names in memory'}: the order of names must be of ids below {len(self)}")
        return found

    def nearest(self, text: str, most: int = 3) -> list[int]:
        """Return the ids of names like a text: those that continue it, then those a few edits away.

        Reads all names once: 10^7 take about a second.
        """
        from shadow_gnn import _core

        text = text[:_LONGEST_QUERY]
        found: list[int] = self.with_prefix(text, most).tolist() if text else []
        query = _bytes(text)[:_LONGEST_QUERY]
        with self._naming_folder():
            near = _core.nearest_names(*self._arrays, query, most, min(4, max(1, len(text) // 4)))
        return list(dict.fromkeys([*near.tolist(), *found]))[:most] if text else []

    @property
    def _arrays(self) -> tuple[Array, Array]:
        return self.ptr, self.text

    @contextmanager
    def _naming_folder(self) -> Iterator[None]:
        from shadow_gnn import _core

        try:
            yield
        except (_core.CorruptGraph, _core.FileChanged) as error:
            raise FolderError(f"{self.path or 'names in memory'}: {error}") from error


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
