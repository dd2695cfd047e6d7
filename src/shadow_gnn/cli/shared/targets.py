"""Targets: reads --targets: all nodes, a split, ids, names, or a file of ids or names.

Not for: their use; each command has its own file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.graph.record import Graph

_HEADINGS = ("node_id", "node_name")
MOST_DIGITS = 18
"""Longest id; a longer number can only be a name."""


def choose_targets(command: str, graph: Graph, text: str) -> NDArray[np.int64] | int:
    """Return the ids that --targets names, or the number of nodes for all, which avoids a list of 10^8 ids."""

    from shadow_gnn.extract.core_calls import check_targets

    if text in graph.splits:
        node_id = graph.split(text)
    elif text == "all":
        return graph.num_nodes
    elif Path(text).is_file() and not _is_name(graph, text):
        node_id = _read_nodes(Path(text), graph, f"{command}: --targets")
    else:
        node_id = _nodes_of(command, graph, text)
    return check_targets(graph, node_id, command)[:, 0]


def read_npy(path: Path) -> NDArray[Any]:
    """Map a .npy file; a SourceError names the file and the fault."""
    from shadow_gnn.base.errors import SourceError
    from shadow_gnn.base.files import NpyError, map_npy

    try:
        return map_npy(path)
    except NpyError as error:
        raise SourceError(f"{path}: {error}") from None


def _is_name(graph: Graph, text: str) -> bool:
    return graph.node_name is not None and text in graph.node_name


def _nodes_of(command: str, graph: Graph, text: str) -> NDArray[Any]:
    """Read ids or names that are separated by commas; a name may hold commas if it is given alone."""
    parts = [text] if _is_name(graph, text) else [part.strip() for part in text.split(",")]
    if graph.node_name is None and not _are_ids(parts):
        known = ", ".join(["all", *graph.splits])
        raise ValueError(f"{command}: --targets must be one of {known}, a file, or ids such as 3,17; got {text!r}")
    splits = f"; splits: {', '.join(graph.splits)}" if graph.splits else ""
    try:
        return _numbered(parts, graph, f"{command}: --targets")
    except ValueError as error:
        raise ValueError(f"{error}{splits}") from None


def _are_ids(texts: Sequence[str]) -> bool:
    return all(text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS for text in texts)


def _numbered(texts: Sequence[str], graph: Graph, owner: str) -> NDArray[Any]:
    """Return the ids of texts that are all ids or all names; a ValueError if they can be both."""
    import numpy as np

    ids = np.array([int(text) for text in texts], np.int64) if _are_ids(texts) else None
    if graph.node_name is None:
        assert ids is not None
        return ids
    if ids is None:
        return graph.node_name.indices(texts, owner=owner)
    named, counts = graph.node_name.lookup(texts)
    other = (counts > 0) & (named != ids)
    if not other.any():
        return ids
    if (ids >= graph.num_nodes).any() and (counts == 1).all():
        return named
    first = int(np.argmax(other))
    raise ValueError(
        f"{owner} must be clear, {texts[first]} is a node id and the name of node {named[first]}; "
        "give a file whose first line is node_id or node_name"
    )


def _read_nodes(path: Path, graph: Graph, owner: str) -> NDArray[Any]:
    """Read ids from a .npy file, or ids or names from a text file, whose heading may say which."""
    import numpy as np

    from shadow_gnn.base.errors import SourceError

    if path.suffix == ".npy":
        node_id = read_npy(path)
        if node_id.ndim != 1 or node_id.dtype.kind not in "iu":
            raise SourceError(
                f"{path}: must hold a 1-D array of integer node ids, got {node_id.ndim}-D {node_id.dtype}"
            )
        return node_id
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    given = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    heading = given[0][1] if given and given[0][1] in _HEADINGS and not _is_name(graph, given[0][1]) else None
    given = given if heading is None else given[1:]
    texts = [text for _, text in given]
    if heading == "node_name" and graph.node_name is not None:
        return graph.node_name.indices(texts, owner=f"{path}: lines")
    if heading == "node_id" or graph.node_name is None:
        for number, text in given:
            if not _are_ids([text]):
                raise SourceError(f"{path}: line {number} must be one node id, got {text[:40]!r}")
        return np.array([int(text) for text in texts], dtype=np.int64)
    return _numbered(texts, graph, f"{path}: lines")
