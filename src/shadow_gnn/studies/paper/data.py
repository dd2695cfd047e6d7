"""Data: the datasets of an experiment, their differences from the paper's, and experiments with a job for each.

Not for: downloading them (graph/datasets).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress
from shadow_gnn.graph.datasets.named import data_folder, find_dataset
from shadow_gnn.graph.datasets.statistics import PAPER, dataset_differences
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST, open_graph
from shadow_gnn.studies.paper.experiment import Finding, Job, ReproduceOptions, Result, Table

SEED = 0
"""Random seed of every sample of targets."""


def open_found(names: Sequence[str], folder: Path | None) -> dict[str, Graph]:
    """Open the available datasets by name; none at all is an error.

    A folder that is itself a graph folder is the dataset of its own name, or the only dataset in `names`.
    """
    found = {name: graph for name in names if (graph := _open_if_there(name, names, folder)) is not None}
    if not found:
        if folder is not None and (folder / MANIFEST).exists():
            raise SourceError(
                f"{folder}: must have the name of a dataset, {', '.join(names)}, or be a folder that holds some of them"
            )
        find_dataset(names[0], folder)  # Raises and says how to get it.
    return found


@dataclass(frozen=True)
class DatasetExperiment:
    """An experiment that measures each dataset in one job."""

    name: str
    """Name for `shadow reproduce`."""
    paper: str
    """Place in the paper."""
    summary: str
    """One line for `shadow reproduce --list`."""
    data: tuple[str, ...]
    """Datasets that it can use."""
    job_title: str
    """Description of a job, before the name of the dataset."""
    measure: Callable[[str, Graph, int, Progress], Result]
    """Measures a dataset: (name, graph, maximum number of targets, progress)."""
    max_targets: tuple[int, int]
    """Targets to sample, in full and with --fast."""
    settings: Callable[[str], Mapping[str, Any]]
    """Settings of a dataset's job, in addition to the graph and the sample."""
    title: str
    """Heading of the page."""
    text: str
    """Markdown below the heading."""
    tables: Callable[[Mapping[str, Result]], tuple[Table, ...]]
    """Makes the tables from the results by dataset."""
    draw: Callable[[Mapping[str, Result], Mapping[str, str], Path], None]
    """Draws the figure of the results; the second argument are the titles of the datasets."""
    notes: tuple[str, ...]
    """Remarks below the tables."""

    def jobs(self, options: ReproduceOptions) -> list[Job]:
        """Return one job for each available dataset."""
        count = self.max_targets[options.fast]
        return [
            Job(
                name,
                f"{self.job_title} on {name}",
                {"graph": graph.fingerprint, "max_targets": count, "seed": SEED, **self.settings(name)},
                partial(self.measure, name, graph, count),
            )
            for name, graph in open_found(self.data, options.data).items()
        ]

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        titles = available_titles(self.data, options)
        drawing = partial(self.draw, dict(results), titles)
        return Finding(self.title, self.text, self.tables(results), drawing, self.notes)


def graph_settings(graph: Graph) -> dict[str, Any]:
    """Return the part of a job's settings that comes from the graph and its features."""
    return {"graph": graph.fingerprint, "in_dim": 0 if graph.x is None else graph.x.shape[1]}


def data_lines(names: Sequence[str], folder: Path | None) -> list[str]:
    """Return Markdown on the available datasets: their counts, and differences from the paper's."""
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
    """Return the names of the graphs that equal the paper's data; with --fast, none."""
    if options.fast:
        return set()
    return {name for name, graph in graphs.items() if name in PAPER and not dataset_differences(name, graph)}


def data_titles(graphs: Mapping[str, Graph], options: ReproduceOptions) -> dict[str, str]:
    """Return the title of each dataset in figures; it marks data that differs from the paper's."""
    titles = {}
    for name, graph in graphs.items():
        own = f"stand-in for {name}" if name in PAPER and dataset_differences(name, graph) else name
        titles[name] = f"{own} (--fast)" if options.fast else own
    return titles


def available_titles(names: Sequence[str], options: ReproduceOptions) -> dict[str, str]:
    """Return the title of each dataset in figures; of one that is no longer available, its name."""
    found = {name: graph for name in names if (graph := _open_if_there(name, names, options.data)) is not None}
    return {name: name for name in names} | data_titles(found, options)


def here_title(titles: Mapping[str, str]) -> str:
    """Return the title of the panel next to the paper's; it names the data that differs from the paper's."""
    marked = [title for name, title in titles.items() if title != name]
    return f"here: {', '.join(marked)}" if marked else "here"


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
    """Return one line: whether a graph is the paper's dataset, or the differences."""
    if name not in PAPER:
        return "not a dataset of the paper"
    found = dataset_differences(name, graph)
    if not found:
        return "all counts are those of the paper's data"
    return f"NOT the paper's data, accuracies are not comparable: {'; '.join(found)}"
