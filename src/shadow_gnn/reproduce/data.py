"""Data: open the data sets that an experiment names, and say how what is there differs from the paper's.

Not for: getting them (datasets).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shadow_gnn.errors import SourceError
from shadow_gnn.graph import Graph
from shadow_gnn.store import MANIFEST, open_graph


@dataclass(frozen=True)
class _Counts:
    """What the paper's table of data sets says of one."""

    num_nodes: int
    num_features: int
    num_classes: int | None


_PAPER = {
    "flickr": _Counts(89_250, 500, 7),
    "reddit": _Counts(232_965, 602, 41),
    "yelp": _Counts(716_847, 300, 100),
    "ogbn-arxiv": _Counts(169_343, 128, 40),
    "ogbn-products": _Counts(2_449_029, 100, 47),
    "ogbn-papers100M": _Counts(111_059_956, 128, 172),
    "ogbl-collab": _Counts(235_868, 128, None),
}


def open_data(name: str, folder: Path | None) -> Graph:
    """Open a data set: <folder>/<name>, or the folder itself; a missing one is one line that says how to get it."""
    return open_graph(_find(name, folder))


def open_found(names: Sequence[str], folder: Path | None) -> dict[str, Graph]:
    """Open those data sets that are there, by name; raise if there is none.

    A folder that is itself a graph folder is the data set of its own name, or the only one that is asked for.
    """
    found = {name: graph for name in names if (graph := _open_if_there(name, names, folder)) is not None}
    if not found:
        if folder is not None and (folder / MANIFEST).exists():
            raise SourceError(
                f"{folder}: must have the name of a data set, {', '.join(names)}, or be a folder that holds such"
            )
        open_data(names[0], folder)
    return found


def data_lines(names: Sequence[str], folder: Path | None) -> list[str]:
    """Return Markdown that says which data sets are there, what they hold and how they differ from the paper's."""
    found = open_found(names, folder)
    lines = []
    for name, graph in found.items():
        lines.append(f"- {name}: {_counts(graph)}; fingerprint `{graph.fingerprint}`")
        if not (differences := _differences(name, graph)):
            lines.append("  - all counts are those of the paper's data")
        lines += [f"  - {line}" for line in differences]
    missing = [name for name in names if name not in found]
    if missing:
        lines.append(f"- not here: {', '.join(missing)}; `shadow data get NAME`")
    return lines


def _open_if_there(name: str, names: Sequence[str], folder: Path | None) -> Graph | None:
    if folder is not None and (folder / MANIFEST).exists():
        own = folder.resolve().name
        return open_graph(folder) if own == name or list(names) == [name] else None
    place = (folder or _data_folder()) / name
    return open_graph(place) if (place / MANIFEST).exists() else None


def _find(name: str, folder: Path | None) -> Path:
    place = (folder or _data_folder()) / name
    if (place / MANIFEST).exists():
        return place
    if folder is not None and (folder / MANIFEST).exists():
        return folder
    raise SourceError(f"{place}: must be the graph folder of {name}, got none; make it with shadow data get {name}")


def _data_folder() -> Path:
    from shadow_gnn.datasets.builtin import cache_folder

    chosen = os.environ.get("SHADOW_DATA")
    return Path(chosen) if chosen else cache_folder() / "data"


def _counts(graph: Graph) -> str:
    parts = [f"{graph.num_nodes:,} nodes", f"{graph.num_edges:,} neighbour entries"]
    parts.append("no features" if graph.x is None else f"{graph.x.shape[1]:,} feature columns")
    parts += [f"{len(nodes):,} {name}" for name, nodes in graph.splits.items()]
    return ", ".join(parts)


def _differences(name: str, graph: Graph) -> list[str]:
    """Return a line for each count in which a graph is not the paper's data set."""
    paper = _PAPER.get(name)
    if paper is None:
        return []
    lines = []
    if graph.num_nodes != paper.num_nodes:
        lines.append(f"nodes: {graph.num_nodes:,}, the paper's data has {paper.num_nodes:,}: NOT the paper's data")
    num_features = 0 if graph.x is None else graph.x.shape[1]
    if num_features != paper.num_features:
        lines.append(
            f"features: {num_features:,} columns, the paper's data has {paper.num_features:,}: NOT the paper's data, "
            "accuracies are not comparable"
        )
    num_classes = _num_classes(graph)
    if paper.num_classes is not None and num_classes != paper.num_classes:
        lines.append(f"classes: {num_classes}, the paper's data has {paper.num_classes}: NOT the paper's data")
    return lines


def _num_classes(graph: Graph) -> int:
    if graph.y is None:
        return 0
    return int(graph.y.shape[1]) if graph.y.ndim == 2 else int(graph.y.max()) + 1
