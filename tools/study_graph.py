"""Study graph: what a builder of a graph for studies returns, and how it becomes a graph folder.

Not for: fetching or reading a source (study_sources.py and one build_<name>_graph.py per graph).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from build_debian_graph import split_of
from numpy.typing import NDArray
from text_features import reduced, word_weights

from shadow_gnn import DenseFeatures, Graph, from_edges, save_graph
from shadow_gnn.graph.importing.ids import names_of

SPLITS = ("train", "valid", "test")
CACHE = Path("graph-cache")


@dataclass(frozen=True)
class StudyGraph:
    """A graph as its builder returns it; only the labels decide which nodes are targets."""

    node_names: Sequence[str]
    edges: NDArray[np.int64]
    """[E, 2] in any order and direction; duplicates and self-loops are removed later."""
    x: NDArray[np.float16]
    y: NDArray[Any]
    """int64 [N] with -1 for unknown, or uint8 [N, C] for several labels; a row of zeros is unknown."""
    class_names: Sequence[str]
    groups: Sequence[str]
    """[N] names; nodes of one group are in one split, decided by a hash of the name."""
    source: dict[str, str]
    """Versions of all that was read."""


Builder = Callable[[Path], StudyGraph]


def features(bags: Sequence[Iterable[str]], num_columns: int, min_nodes: int = 10) -> NDArray[np.float16]:
    """Return num_columns numbers for each bag of words, scaled so that the first column has a deviation of 1."""
    values = reduced(word_weights(bags, min_nodes), num_columns)
    return (values / values[:, 0].std()).astype(np.float16)


def most_frequent(labels: Iterable[str | None], min_nodes: int) -> list[str]:
    """Return the labels of at least min_nodes nodes, in the order of names."""
    count: dict[str, int] = {}
    for label in labels:
        if label is not None:
            count[label] = count.get(label, 0) + 1
    return sorted(label for label, number in count.items() if number >= min_nodes)


def classes(labels: Sequence[str | None], min_nodes: int) -> tuple[NDArray[np.int64], list[str]]:
    """Number the labels of at least min_nodes nodes; the others and None become -1."""
    kept = most_frequent(labels, min_nodes)
    number: dict[str | None, int] = {label: at for at, label in enumerate(kept)}
    return np.array([number.get(label, -1) for label in labels], np.int64), kept


def widespread(labels: Sequence[str | None], groups: Sequence[str], min_groups: int) -> list[str | None]:
    """Return the labels, None for those of fewer than min_groups groups: a split by group could leave training none."""
    holders: dict[str | None, set[str]] = defaultdict(set)
    for label, group in zip(labels, groups, strict=True):
        holders[label].add(group)
    return [label if len(holders[label]) >= min_groups else None for label in labels]


def label_sets(labels: Sequence[Iterable[str]], min_nodes: int) -> tuple[NDArray[np.uint8], list[str]]:
    """Return a yes/no column for each label of at least min_nodes nodes."""
    unique = [set(row) for row in labels]
    kept = most_frequent((label for row in unique for label in row), min_nodes)
    number = {label: at for at, label in enumerate(kept)}
    y = np.zeros((len(unique), len(kept)), np.uint8)
    for node, row in enumerate(unique):
        y[node, [number[label] for label in row if label in number]] = 1
    return y, kept


def splits(y: NDArray[Any], groups: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return the labeled nodes of each split; a hash of its group's name alone decides where a node is."""
    place_of = {group: split_of(group) for group in set(groups)}
    place = np.array([place_of[group] for group in groups])
    labeled = (y >= 0) if y.ndim == 1 else y.any(axis=1)
    return {name: np.flatnonzero(labeled & (place == at)) for at, name in enumerate(SPLITS)}


def as_graph(study: StudyGraph) -> Graph:
    """Return the undirected graph with features, labels, names and splits."""
    structure = from_edges(study.edges[:, 0], study.edges[:, 1], len(study.node_names))
    return Graph(
        structure.indptr,
        structure.indices,
        x=DenseFeatures(study.x),
        y=study.y,
        splits=splits(study.y, study.groups),
        node_name=names_of(pa.array(study.node_names, pa.large_string())),
        class_name=names_of(pa.array(study.class_names, pa.large_string())),
    )


def write(name: str, build: Builder, out: Path, cache: Path) -> None:
    """Build a graph and write OUT/NAME, whole or not at all, and the versions of its sources as OUT/NAME.json."""
    cache.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    study = build(cache)
    save_graph(as_graph(study), out / name, overwrite=True)
    (out / f"{name}.json").write_text(json.dumps(study.source, indent=1) + "\n")
    print(f"{name}: {len(study.node_names)} nodes, {len(study.class_names)} classes in {out / name}", flush=True)


def command(name: str, build: Builder, explanation: str | None) -> None:
    """Run one builder from the command line."""
    parser = argparse.ArgumentParser(description=explanation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder that gets the graph folder")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of downloads, kept for the next time")
    chosen = parser.parse_args()
    write(name, build, chosen.out, chosen.cache.resolve())
