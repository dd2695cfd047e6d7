"""Data: open the datasets of an experiment, say how they differ from the paper's, and make a job for each.

Not for: downloading them (graph/datasets).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress
from shadow_gnn.graph.datasets.named import data_folder, find_dataset
from shadow_gnn.graph.datasets.statistics import PAPER, dataset_differences
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST, open_graph
from shadow_gnn.studies.paper.experiment import Job, ReproduceOptions, Result

SEED = 0
"""Of every sample of targets."""


def open_data(name: str, folder: Path | None) -> Graph:
    """Open a dataset: <folder>/<name>, or the folder itself; if it is missing, the error says how to get it."""
    return open_graph(find_dataset(name, folder))


def open_found(names: Sequence[str], folder: Path | None) -> dict[str, Graph]:
    """Open the available datasets by name; raise if there is none.

    A folder that is itself a graph folder is the dataset of its own name, or the only dataset in `names`.
    """
    found = {name: graph for name in names if (graph := _open_if_there(name, names, folder)) is not None}
    if not found:
        if folder is not None and (folder / MANIFEST).exists():
            raise SourceError(
                f"{folder}: must have the name of a dataset, {', '.join(names)}, or be a folder that holds some of them"
            )
        open_data(names[0], folder)
    return found


def dataset_jobs(
    names: Sequence[str],
    options: ReproduceOptions,
    title: str,
    measure: Callable[[str, Graph, int, Progress], Result],
    *,
    most: tuple[int, int],
    settings: Callable[[str], Mapping[str, Any]],
) -> list[Job]:
    """Return a job for each available dataset: measure(name, graph, max_targets, progress).

    most: targets to sample, in full and with --fast. settings: of a dataset, in addition to the graph and the sample.
    """
    count = most[options.fast]
    return [
        Job(
            name,
            f"{title} on {name}",
            {"graph": graph.fingerprint, "max_targets": count, "seed": SEED, **settings(name)},
            partial(measure, name, graph, count),
        )
        for name, graph in open_found(names, options.data).items()
    ]


def graph_settings(graph: Graph) -> dict[str, Any]:
    """Return the settings of a job that depend on the graph and its features."""
    return {"graph": graph.fingerprint, "in_dim": 0 if graph.x is None else graph.x.shape[1]}


def data_lines(names: Sequence[str], folder: Path | None) -> list[str]:
    """Return Markdown on the available datasets: their counts, and how they differ from the paper's."""
    found = open_found(names, folder)
    lines = []
    for name, graph in found.items():
        lines.append(f"- {name}: {_counts(graph)}; fingerprint `{graph.fingerprint}`")
        lines.append(f"  - {_verdict(name, graph)}")
    missing = [name for name in names if name not in found]
    if missing:
        lines.append(f"- not available: {', '.join(missing)}; `shadow data get NAME`")
    return lines


def comparable(graphs: Mapping[str, Graph], options: ReproduceOptions) -> set[str]:
    """Return the names of the graphs that equal the paper's data; none with --fast, whose models are small."""
    if options.fast:
        return set()
    return {name for name, graph in graphs.items() if name in PAPER and not dataset_differences(name, graph)}


def data_titles(graphs: Mapping[str, Graph], options: ReproduceOptions) -> dict[str, str]:
    """Return the title of each dataset in figures; it marks data that differs from the paper's."""
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
    parts = [f"{graph.num_nodes:,} nodes", f"{graph.num_edges:,} neighbor entries"]
    parts.append("no features" if graph.x is None else f"{graph.x.shape[1]:,} feature columns")
    parts += [f"{len(nodes):,} {name}" for name, nodes in graph.splits.items()]
    return ", ".join(parts)


def _verdict(name: str, graph: Graph) -> str:
    """Say in one line whether a graph is the paper's dataset, and what differs if it is not."""
    if name not in PAPER:
        return "not a dataset of the paper"
    found = dataset_differences(name, graph)
    if not found:
        return "all counts are those of the paper's data"
    return f"NOT the paper's data, accuracies are not comparable: {'; '.join(found)}"
