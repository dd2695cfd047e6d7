"""Graphs: those of the study, how each is opened, and the CPU seconds that a run on it may take.

Not for: building the graphs (tools/), or for the runs (study_runs.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from shadow_gnn.graph.datasets import open_dataset
from shadow_gnn.graph.importing.detect import read_source
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.graph.store import open_graph, save_graph

MAX_COLUMNS = 128
"""Wider features of .npz files are replaced by their projections on as many singular vectors."""


@dataclass(frozen=True)
class StudyGraph:
    """One graph of the study."""

    name: str
    """Name in tables and job names."""
    budget: float
    """CPU seconds of training of one run, for all methods."""
    source: Literal["built-in", "folder", "npz"] = "folder"
    """Where it comes from: the package, a graph folder that a script in tools/ makes, or a .npz file."""
    file: str = ""
    """Name of the .npz file without its ending."""
    random_split: bool = False
    """Split all labeled nodes at random 60/20/20, once; otherwise the split of the source."""
    batch_size: int = 128
    """Targets of a step with scopes or drawn neighbors."""
    held_out: bool = False
    """Never used for tuning; left out of the study until the end."""
    note: str = ""
    """Remark in the table of graphs."""


GRAPHS = {
    graph.name: graph
    for graph in (
        StudyGraph("pubmed-official", 20, "npz", "pubmed", batch_size=20, note="official split, 60 training targets"),
        StudyGraph("pubmed", 30, "npz", "pubmed", random_split=True),
        StudyGraph("amazon-computers", 40, "npz", "amazon-computers", random_split=True),
        StudyGraph("thesaurus-origins", 60, note="origin of words in a dictionary, linked by a thesaurus"),
        StudyGraph("coauthor-cs", 45, "npz", "coauthor-cs", random_split=True),
        StudyGraph("debian-teams", 60, note="maintainers of Debian's source packages"),
        StudyGraph("debian", 120, "built-in", note="the built-in graph"),
        StudyGraph("ogbn-arxiv", 400, "npz", "ogbn-arxiv", note="substitute features: not for published accuracies"),
        StudyGraph("linux-calls", 900, note="functions of the Linux kernel and their calls"),
        StudyGraph("perl-namespaces", 30, held_out=True),
        StudyGraph("python-roles", 60, held_out=True),
    )
}


@dataclass(frozen=True)
class Places:
    """Where the sources of graphs are."""

    study: Path
    """The study folder; imported graphs are kept in it."""
    graphs: Path
    """Folder of graph folders."""
    data: Path
    """Folder of .npz files."""


def is_there(graph: StudyGraph, places: Places) -> bool:
    """Tell whether the source of a graph exists on this machine."""
    if graph.source == "npz":
        return (places.data / f"{graph.file}.npz").is_file() or (places.study / "graphs" / graph.name).is_dir()
    return graph.source == "built-in" or (places.graphs / graph.name).is_dir()


def open_study_graph(graph: StudyGraph, places: Places) -> Graph:
    """Open a graph; a .npz file is imported into the study folder the first time."""
    if graph.source == "built-in":
        return open_dataset(graph.name)
    if graph.source == "folder":
        return open_graph(places.graphs / graph.name)
    folder = places.study / "graphs" / graph.name
    if not folder.exists():
        source, _ = read_source(places.data / f"{graph.file}.npz", ImportOptions())
        source = narrow(source)
        save_graph(replace(source, splits=random_splits(source)) if graph.random_split else source, folder)
    return open_graph(folder)


def narrow(graph: Graph) -> Graph:
    """Return the graph with features of at most MAX_COLUMNS columns, for all methods alike."""
    if graph.x is None or graph.x.shape[1] <= MAX_COLUMNS:
        return graph
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    rows = graph.x.rows(np.arange(graph.num_nodes))
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    left, values, _ = svds(csr_array(rows), MAX_COLUMNS, v0=np.ones(min(rows.shape)), solver="arpack")
    return replace(graph, x=DenseFeatures((left * values).astype(np.float32)))


def random_splits(graph: Graph) -> Mapping[str, np.ndarray]:
    """Return one random split of the labeled nodes, 60/20/20."""
    assert graph.y is not None
    nodes = np.random.default_rng(0).permutation(np.flatnonzero(np.asarray(graph.y) >= 0))
    ends = [len(nodes) * 6 // 10, len(nodes) * 8 // 10]
    return {name: np.sort(part) for name, part in zip(("train", "valid", "test"), np.split(nodes, ends), strict=True)}
