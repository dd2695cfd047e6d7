"""Describe: the numbers behind `shadow data info`.

Not for: showing them (cli/data/info.py, plots.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.homophily import edge_homophily
from shadow_gnn.graph.record import Graph, SparseFeatures

Array = NDArray[Any]

MAX_COMPONENT_EDGES = 200_000_000
SAMPLE_ROWS = 10_000
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Degrees:
    """Numbers of in-neighbors, regardless of edge weights."""

    mean: float
    median: float
    largest: int
    isolated: int
    """Nodes without an in-neighbor."""
    buckets: tuple[tuple[int, int, int], ...]
    """(lowest degree, highest degree, nodes): 0, then 1, 2-3, 4-7, … up to the largest degree."""


@dataclass(frozen=True)
class Components:
    """Weakly connected components."""

    count: int
    largest: int
    """Nodes in the largest one."""


@dataclass(frozen=True)
class FeatureSummary:
    """Statistics of the features."""

    num_columns: int
    storage: str
    """sparse float32, float32, float16 or int8."""
    rows_sampled: int
    """Sampled rows, evenly spread."""
    least: float
    greatest: float
    mean: float
    deviation: float
    zero_share: float


@dataclass(frozen=True)
class LabelSummary:
    """Statistics of the labels."""

    kind: str
    """class, multi or value."""
    num_classes: int | None
    """Highest class + 1, or columns; None for values."""
    unknown: int
    """Nodes of unknown class."""
    homophily: float | None
    """Share of equal classes among edges between nodes of known class; None without any."""


@dataclass(frozen=True)
class Description:
    """A graph in numbers."""

    num_nodes: int
    num_edges: int
    """Number of edges; an undirected edge counts once."""
    directed: bool
    weighted: bool
    num_edge_features: int
    named: bool
    """Whether the source's ids are stored."""
    fingerprint: str
    degrees: Degrees
    components: Components | None
    """None above 200 million CSR entries."""
    features: FeatureSummary | None
    labels: LabelSummary | None
    splits: dict[str, int]
    """Nodes per split."""
    pairs: dict[str, int]
    """Given pairs by name."""


def describe(graph: Graph) -> Description:
    """Compute every number of a graph's description in a few passes over its arrays."""
    return Description(
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges if graph.directed else graph.num_edges // 2,
        directed=graph.directed,
        weighted=graph.edge_weight is not None,
        num_edge_features=0 if graph.edge_attr is None else graph.edge_attr.shape[1],
        named=graph.node_name is not None,
        fingerprint=graph.fingerprint,
        degrees=degrees(graph),
        components=components(graph) if graph.num_edges <= MAX_COMPONENT_EDGES else None,
        features=feature_summary(graph),
        labels=label_summary(graph),
        splits={name: len(node_id) for name, node_id in graph.splits.items()},
        pairs={name: len(pairs) for name, pairs in graph.pairs.items()},
    )


def degrees(graph: Graph) -> Degrees:
    """Count in-neighbors; the buckets double in width."""
    degree = np.diff(graph.lists[0])
    if len(degree) == 0:
        return Degrees(0.0, 0.0, 0, 0, ())
    # frexp gives the number of binary digits of a degree: 0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3.
    digits = np.frexp(degree.astype(np.float64))[1]
    counts = np.bincount(digits)
    buckets = tuple(
        (0 if number == 0 else 1 << (number - 1), 0 if number == 0 else (1 << number) - 1, int(count))
        for number, count in enumerate(counts)
    )
    return Degrees(
        mean=float(degree.mean()),
        median=float(np.median(degree)),
        largest=int(degree.max()),
        isolated=int(counts[0]),
        buckets=buckets,
    )


def components(graph: Graph) -> Components:
    """Find components with SciPy; needs about 16 bytes per CSR entry."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if graph.num_nodes == 0:
        return Components(0, 0)
    ones = np.ones(graph.num_edges, dtype=np.int8)
    indptr, indices = graph.lists
    matrix = csr_array((ones, indices, indptr), shape=(graph.num_nodes,) * 2)
    count, label = connected_components(matrix, directed=graph.directed, connection="weak")
    return Components(int(count), int(np.bincount(label).max()))


def feature_summary(graph: Graph) -> FeatureSummary | None:
    """Summarize the values of evenly spread rows: all rows of a small graph, 10,000 of a large one."""
    if graph.x is None:
        return None
    num_rows = min(graph.num_nodes, SAMPLE_ROWS)
    node_id = np.linspace(0, max(graph.num_nodes - 1, 0), num_rows).astype(np.int64)
    total = square = 0.0
    zeros, least, greatest = 0, np.inf, -np.inf
    step = max(1, _BLOCK // max(1, graph.x.shape[1]))
    for start in range(0, num_rows if graph.x.shape[1] else 0, step):
        rows = graph.x.rows(node_id[start : start + step])
        total += float(rows.sum(dtype=np.float64))
        square += float(np.square(rows, dtype=np.float64).sum())
        zeros += int(rows.size - np.count_nonzero(rows))
        least, greatest = min(least, float(rows.min())), max(greatest, float(rows.max()))
    size = num_rows * graph.x.shape[1]
    mean = total / size if size else 0.0
    storage = "sparse float32" if isinstance(graph.x, SparseFeatures) else str(graph.x.matrix.dtype)
    return FeatureSummary(
        num_columns=graph.x.shape[1],
        storage=storage,
        rows_sampled=num_rows,
        least=least if size else 0.0,
        greatest=greatest if size else 0.0,
        mean=mean,
        deviation=float(np.sqrt(max(square / size - mean * mean, 0.0))) if size else 0.0,
        zero_share=zeros / size if size else 0.0,
    )


def label_summary(graph: Graph) -> LabelSummary | None:
    """Describe the labels and, for classes, edge homophily."""
    y = graph.y
    if y is None:
        return None
    if y.ndim == 2:
        return LabelSummary("multi", y.shape[1], 0, None)
    if y.dtype.kind == "f":
        return LabelSummary("value", None, 0, None)
    num_classes = int(y.max()) + 1 if len(y) else 0
    return LabelSummary("class", num_classes, int((y < 0).sum()), edge_homophily(graph))
