"""Resolve: a graph by its folder or its name, in the same way for every command and recipe.

Not for: downloading datasets (named.py).
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from shadow_gnn.base.errors import FolderError, SourceError

if TYPE_CHECKING:
    from shadow_gnn.graph.record import Graph


def open_any_graph(name: str | Path) -> Graph:
    """Open a built-in graph, a folder, or a dataset from `shadow data get`."""
    from shadow_gnn.graph.datasets.builtin import BUILT_IN, open_dataset
    from shadow_gnn.graph.store import open_graph

    return open_dataset(str(name)) if str(name) in BUILT_IN else open_graph(graph_folder(name))


def graph_folder(name: str | Path) -> Path:
    """Return the folder that open_any_graph opens, without opening it; a built-in graph is unpacked first."""
    from shadow_gnn.graph.datasets.builtin import BUILT_IN, open_dataset
    from shadow_gnn.graph.datasets.named import NAMES, find_dataset

    name = str(name)
    if name in BUILT_IN:
        path = open_dataset(name).path
        assert path is not None
        return path
    if Path(name).exists():
        return Path(name)
    if name in NAMES:
        return find_dataset(name)
    if os.sep in name:
        raise FolderError(f"{name}: no such folder")
    near = get_close_matches(name, (*BUILT_IN, *NAMES), 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    known = ", ".join((*BUILT_IN, *NAMES))
    raise SourceError(f"graph: {name} must be a graph folder or one of {known}, got neither{hint}")
