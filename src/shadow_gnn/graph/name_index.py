"""NameIndex: node ids by name, of a graph to which named nodes are added and from which they are taken.

Not for: names that do not change (names.py).
"""

from __future__ import annotations

from typing import Protocol

from shadow_gnn.graph.names import NodeNames


class Names(Protocol):
    """Names of nodes by id."""

    def __len__(self) -> int: ...

    def __getitem__(self, node_id: int, /) -> str: ...


class NameIndex:
    """Stored names, looked up where they are, and the changes to them in memory."""

    def __init__(self, stored: NodeNames) -> None:
        """Start with the stored names; an empty one is of a removed node."""
        self._stored = stored
        self._added: dict[str, int] = {}
        self._removed: set[str] = set()

    def find(self, name: str) -> int | None:
        """Return the node of a name, the first of several; None if there is none."""
        if name in self._added:
            return self._added[name]
        if not name or name in self._removed:
            return None
        ids, counts = self._stored.lookup([name])
        return int(ids[0]) if counts[0] else None

    def add(self, name: str, node_id: int) -> None:
        """Name another node; the name must be free."""
        self._added[name] = node_id

    def remove(self, name: str) -> None:
        """Forget a name."""
        self._added.pop(name, None)
        self._removed.add(name)
