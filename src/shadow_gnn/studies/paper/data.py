"""Data: open the data sets that an experiment names, and say how what is there differs from the paper's.

Not for: getting them (datasets).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.datasets.named import data_folder, find_dataset
from shadow_gnn.graph.datasets.statistics import PAPER, dataset_differences
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST, open_graph
from shadow_gnn.studies.paper.experiment import ReproduceOptions


def open_data(name: str, folder: Path | None) -> Graph:
    """Open a data set: <folder>/<name>, or the folder itself; a missing one is one line that says how to get it."""
    return open_graph(find_dataset(name, folder))


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
        lines.append(f"  - {_verdict(name, graph)}")
    missing = [name for name in names if name not in found]
    if missing:
        lines.append(f"- not here: {', '.join(missing)}; `shadow data get NAME`")
    return lines


def comparable(graphs: Mapping[str, Graph], options: ReproduceOptions) -> set[str]:
    """Return the names of those graphs that are the paper's data; none if models are small to be fast."""
    if options.fast:
        return set()
    return {name for name, graph in graphs.items() if name in PAPER and not dataset_differences(name, graph)}


def data_titles(graphs: Mapping[str, Graph], options: ReproduceOptions) -> dict[str, str]:
    """Return what figures call each data set: nobody should take what is not the paper's for it."""
    titles = {}
    for name, graph in graphs.items():
        marks = ["not the paper's data"] if name in PAPER and dataset_differences(name, graph) else []
        marks += ["--fast"] if options.fast else []
        titles[name] = f"{name} ({', '.join(marks)})" if marks else name
    return titles


def _open_if_there(name: str, names: Sequence[str], folder: Path | None) -> Graph | None:
    if folder is not None and (folder / MANIFEST).exists():
        own = folder.resolve().name
        return open_graph(folder) if own == name or list(names) == [name] else None
    place = (folder or data_folder()) / name
    return open_graph(place) if (place / MANIFEST).exists() else None


def _counts(graph: Graph) -> str:
    parts = [f"{graph.num_nodes:,} nodes", f"{graph.num_edges:,} neighbour entries"]
    parts.append("no features" if graph.x is None else f"{graph.x.shape[1]:,} feature columns")
    parts += [f"{len(nodes):,} {name}" for name, nodes in graph.splits.items()]
    return ", ".join(parts)


def _verdict(name: str, graph: Graph) -> str:
    """Say in one line whether a graph is the paper's data set, and what differs if it is not."""
    if name not in PAPER:
        return "not a data set of the paper"
    found = dataset_differences(name, graph)
    if not found:
        return "all counts are those of the paper's data"
    return f"NOT the paper's data, accuracies are not comparable: {'; '.join(found)}"
