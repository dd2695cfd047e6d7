"""Pairs: reads the nodes of --pairs and --node, given as ids or as names.

Not for: their use; each command has its own file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.graph.record import Graph


def read_pairs(path: Path, graph: Graph) -> NDArray[np.int64]:
    """Read pairs from a .npy of integers [P, 2], or from text with two ids or names per line.

    The separator is a comma, a tab or blanks. The first line may be a heading. Nodes are names if the graph has names,
    otherwise ids.
    """
    import numpy as np

    from shadow_gnn.base.errors import SourceError
    from shadow_gnn.cli.shared.targets import read_npy

    if not path.is_file():
        raise SourceError(f"{path}: is not a file of pairs")
    if path.suffix == ".npy":
        return np.array(read_npy(path))
    find = _Finder(graph)
    found: list[tuple[int, int]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        ends = _ends(line)
        if not ends:
            continue
        if len(ends) != 2:
            raise SourceError(f"{path}: line {number} must be two nodes, got {line.strip()[:60]!r}")
        ids = tuple(find(end) for end in ends)
        if None in ids and number == 1 and ids == (None, None):
            continue  # A heading.
        for end, node in zip(ends, ids, strict=True):
            if node is None:
                raise SourceError(f"{path}: line {number} must name {find.words}, got {end[:60]!r}")
        found.append(ids)  # type: ignore[arg-type]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def find_node(graph: Graph, text: str, command: str = "recommend") -> int:
    """Return the id of a node, given as an id or a name."""
    find = _Finder(graph)
    node = find(text.strip())
    if node is None:
        raise ValueError(f"{command}: --node must name {find.words}, got {text!r}")
    return node


def _ends(line: str) -> list[str]:
    for mark in (",", "\t"):
        if mark in line:
            return [part.strip().strip('"') for part in line.split(mark)]
    return line.split()


_MOST_DIGITS = 100
"""Longest id: Python refuses to read thousands of digits."""


class _Finder:
    """Finds nodes by name if the graph has names, otherwise by id."""

    def __init__(self, graph: Graph) -> None:
        self._num_nodes, self._by_name = graph.num_nodes, None
        self.words = f"a node id from 0 to {graph.num_nodes - 1}"
        if graph.node_name is not None:
            names = graph.node_name
            self._by_name = {names[node]: node for node in range(len(names))}
            self.words = "a node of the graph"

    def __call__(self, text: str) -> int | None:
        if self._by_name is not None:
            return self._by_name.get(text)
        node = int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else -1
        return node if 0 <= node < self._num_nodes else None
