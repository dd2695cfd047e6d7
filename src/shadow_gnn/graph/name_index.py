"""NameIndex: node ids by name.

Not for: names by node id (record.NodeNames).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Names(Protocol):
    """Names of nodes by id."""

    def __len__(self) -> int: ...

    def __getitem__(self, node_id: int, /) -> str: ...


class NameIndex:
    """A table of all names, made once; it takes about 100 bytes for each name."""

    def __init__(self, names: Names) -> None:
        """Read all names; of equal ones the first node has the name, and an empty one is of a removed node."""
        self._ids: dict[str, int] = {}
        for node_id in range(len(names)):
            self._ids.setdefault(names[node_id], node_id)
        self._ids.pop("", None)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def find(self, name: str) -> int | None:
        """Return the node of a name, None if there is none."""
        return self._ids.get(name)

    def add(self, name: str, node_id: int) -> None:
        """Name another node."""
        self._ids.setdefault(name, node_id)

    def remove(self, name: str) -> None:
        """Forget a name."""
        self._ids.pop(name, None)
