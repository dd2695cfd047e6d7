"""Pairs: reads the nodes of --pairs and --node, given as ids or as names.

Not for: their use; each command has its own file.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        ends = _ends(line)
        if not ends:
            continue
        if len(ends) != 2:
            raise SourceError(f"{path}: line {number} must be two nodes, got {line.strip()[:60]!r}")
        rows.append((number, ends))
    found = _find(graph, [end for _, ends in rows for end in ends]).reshape(-1, 2)
    if rows and rows[0][0] == 1 and (found[0] < 0).all():
        rows, found = rows[1:], found[1:]  # A heading.
    wrong = np.argwhere(found < 0)
    if len(wrong):
        row, column = wrong[0]
        raise SourceError(f"{path}: line {rows[row][0]} {_fault(graph, rows[row][1][column])}")
    return found


def find_nodes(graph: Graph, texts: Sequence[str], command: str) -> list[int]:
    """Return the ids of the nodes of --node, each given as a name or, if no node has that name, as an id."""
    import numpy as np

    given = [text.strip() for text in texts]
    by_name = _find(graph, given)
    found = np.where(by_name < 0, _find_ids(graph, given), by_name)
    wrong = np.flatnonzero(found < 0)
    if len(wrong):
        raise ValueError(f"{command}: --node {_fault(graph, given[wrong[0]])}")
    ids: list[int] = found.tolist()
    return ids


def _ends(line: str) -> list[str]:
    for mark in (",", "\t"):
        if mark in line:
            return [part.strip().strip('"') for part in line.split(mark)]
    return line.split()


_MOST_DIGITS = 100
"""Longest id: Python refuses to read thousands of digits."""


def _find(graph: Graph, texts: list[str]) -> NDArray[np.int64]:
    """Return the ids of nodes that are given by name if the graph has names, otherwise by id; -1 for others."""
    import numpy as np

    if graph.node_name is None:
        return _find_ids(graph, texts)
    ids, counts = graph.node_name.lookup(texts)
    return np.where(counts == 1, ids, -1)


def _find_ids(graph: Graph, texts: list[str]) -> NDArray[np.int64]:
    """Return the ids that some texts are; -1 for a text that is none of this graph."""
    import numpy as np

    numbers = [int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else -1 for text in texts]
    return np.array([node if node < graph.num_nodes else -1 for node in numbers], np.int64)


def _fault(graph: Graph, text: str) -> str:
    """Say why a text is not a node."""
    if graph.node_name is not None:
        return graph.node_name.fault(text)
    return f"must name a node id from 0 to {graph.num_nodes - 1}, got {text[:60]!r}"
