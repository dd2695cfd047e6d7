"""Heuristics: scores of pairs from the links around them, as baselines of link prediction.

Not for: metrics of the scores (metrics.py). All links of the graph count: pass it without the links to predict.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.options import DEFAULT_TELEPORT
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import aggregate
from shadow_gnn.tasks.links.pairs import Ints, check_pairs

Heuristic = Literal["common-neighbors", "adamic-adar", "resource-allocation", "ppr", "katz"]
Floats = NDArray[np.float64]

TOLERANCE = 1e-4
"""Largest relative remainder of a sum over walks."""
_BLOCK_ENTRIES = 1 << 22
"""Entries of neighbor lists compared at a time."""
_BLOCK_VALUES = 1 << 24
"""Scores computed at a time; three times that is in use."""
_MOST_SOURCES = 256
"""Most sources at a time: a row of sums then stays in the cache."""
_SMALL = 64
"""Largest graph whose eigenvalues are computed densely."""


def heuristic_scores(
    graph: Graph, pairs: ArrayLike, names: Sequence[Heuristic] = get_args(Heuristic), *, progress: Progress = silent
) -> dict[str, Floats]:
    """Score pairs [P, 2] by each heuristic: [P] by name, larger for likelier links, the same in either order.

    Links count without weight and direction, self-edges not at all. Memory does not grow with the number of pairs.
    """
    for name in names:
        if name not in get_args(Heuristic):
            raise ValueError(f"heuristics: names must be some of {', '.join(get_args(Heuristic))}, got {name!r}")
    scorers: dict[str, Callable[[Graph, Ints, Progress], Floats]] = {
        "common-neighbors": common_neighbors,
        "adamic-adar": adamic_adar,
        "resource-allocation": resource_allocation,
        "ppr": lambda graph, pairs, progress: ppr_score(graph, pairs, progress=progress),
        "katz": lambda graph, pairs, progress: katz_score(graph, pairs, progress=progress),
    }
    checked = check_pairs("heuristics", graph, pairs)
    return {name: scorers[name](graph, checked, progress) for name in names}


def common_neighbors(graph: Graph, pairs: ArrayLike, progress: Progress = silent) -> Floats:
    """Count the common neighbors. [P]"""
    return _shared(graph, pairs, np.ones(graph.num_nodes), "common neighbors", progress)


def adamic_adar(graph: Graph, pairs: ArrayLike, progress: Progress = silent) -> Floats:
    """Add up 1 / log(degree) of the common neighbors. [P]"""
    # A common neighbor of two nodes has at least two links.
    degree = np.maximum(_degrees(_adjacency(graph)), 2)
    return _shared(graph, pairs, 1 / np.log(degree), "Adamic-Adar", progress)


def resource_allocation(graph: Graph, pairs: ArrayLike, progress: Progress = silent) -> Floats:
    """Add up 1 / degree of the common neighbors. [P]"""
    degree = np.maximum(_degrees(_adjacency(graph)), 1)
    return _shared(graph, pairs, 1 / degree, "resource allocation", progress)


def ppr_score(
    graph: Graph,
    pairs: ArrayLike,
    *,
    teleport: float = DEFAULT_TELEPORT,
    tolerance: float = TOLERANCE,
    progress: Progress = silent,
) -> Floats:
    """Add up the PPR of each end as seen from the other. [P]

    A sum over walks; longer ones hold less than `tolerance` of all PPR. The PPR of one side follows from the other:
    walks on undirected links are reversible. The work is proportional to links of the graph times distinct nodes.
    """
    if not 0 < teleport < 1:
        raise ValueError(f"ppr_score: teleport must be above 0 and below 1, got {teleport}")
    edges, checked = _adjacency(graph), check_pairs("heuristics", graph, pairs)
    degree = np.maximum(_degrees(edges), 1)
    length = _length("ppr_score", 1 - teleport, tolerance)
    seen, source = _series(edges, (1 - teleport) / degree, checked, length, ("PPR", progress))
    own, other = (degree[checked[:, end]] for end in (source, 1 - source))
    scores: Floats = teleport * seen * (1 + other / own)
    return scores


def katz_score(
    graph: Graph,
    pairs: ArrayLike,
    *,
    attenuation: float | None = None,
    tolerance: float = TOLERANCE,
    progress: Progress = silent,
) -> Floats:
    """Add up attenuation^k for each walk of k links between the ends. [P]

    The sum is finite below 1 / the largest eigenvalue of the graph; None takes a tenth of that. It ends where the norm
    of a term, (attenuation * eigenvalue)^k, is at most `tolerance`: 4 links by default. Pairs further apart score 0,
    which ranks better than longer sums.
    """
    edges, checked = _adjacency(graph), check_pairs("heuristics", graph, pairs)
    largest = _largest_eigenvalue(edges)
    if largest == 0:  # No links: no walks.
        return np.zeros(len(checked))
    factor = 0.1 / largest if attenuation is None else attenuation
    if not 0 < factor * largest < 1:
        raise ValueError(
            f"katz_score: attenuation must be above 0 and below 1 / largest eigenvalue = {1 / largest:.6g} "
            f"for the sum to be finite, got {attenuation}"
        )
    length = _length("katz_score", factor * largest, tolerance)
    return _series(edges, np.full(graph.num_nodes, factor), checked, length, ("Katz", progress))[0]


def _shared(graph: Graph, pairs: ArrayLike, weight: Floats, title: str, progress: Progress) -> Floats:
    """Add up the weights of common neighbors, in blocks of pairs. [P]"""
    from scipy.sparse import csr_array

    edges, checked = _adjacency(graph), check_pairs("heuristics", graph, pairs)
    weighted = csr_array((weight[edges.indices], edges.indices, edges.indptr), shape=edges.shape)
    scores = np.zeros(len(checked))
    lengths = _degrees(edges)[checked].sum(axis=1)
    for start, stop in _blocks(lengths, _BLOCK_ENTRIES):
        progress(title, start, len(checked))
        first, second = checked[start:stop].T
        scores[start:stop] = edges[first].multiply(weighted[second]).sum(axis=1)
    progress(title, len(checked), len(checked))
    return scores


def _length(owner: str, rate: float, tolerance: float) -> int:
    """Return the number of terms after which rate^length is at most the tolerance."""
    if not 0 < tolerance < 1:
        raise ValueError(f"{owner}: tolerance must be above 0 and below 1, got {tolerance}")
    # Allow for rounding of a power that meets the tolerance exactly.
    return max(1, math.ceil(math.log(tolerance) / math.log(rate) - 1e-9))


def _series(edges: Any, factor: Floats, pairs: Ints, length: int, shown: tuple[str, Progress]) -> tuple[Floats, int]:
    """Return the entry of S + S^2 + ... + S^length of each pair, and the end that selects the column. [P]

    S is the adjacency with rows times `factor`. Columns are computed for the end with fewer distinct nodes.
    """
    title, progress = shown
    ends = [np.unique(pairs[:, end]) for end in (0, 1)]
    source = int(len(ends[1]) < len(ends[0]))
    sources, scores = ends[source], np.zeros(len(pairs))
    order = np.argsort(pairs[:, source], kind="stable")
    indptr, indices = (torch.from_numpy(part.astype(np.int64)) for part in (edges.indptr, edges.indices))
    adjacency = Adjacency(indptr, indices)
    rows = torch.from_numpy(factor.astype(np.float32))[:, None]
    width = max(1, min(_MOST_SOURCES, _BLOCK_VALUES // max(1, len(factor))))
    for start in range(0, len(sources), width):
        progress(title, start, len(sources))
        block = sources[start : start + width]
        mine = order[slice(*np.searchsorted(pairs[order, source], (block[0], block[-1] + 1)))]
        found = _walks(adjacency, rows, torch.from_numpy(block), length)
        scores[mine] = found[pairs[mine, 1 - source], np.searchsorted(block, pairs[mine, source])]
    progress(title, len(sources), len(sources))
    return scores, source


def _walks(adjacency: Adjacency, factor: Tensor, sources: Tensor, length: int) -> NDArray[np.float32]:
    """Return the columns of some nodes in S + S^2 + ... + S^length, by the models' own sums. [N, len(sources)]"""
    at = torch.zeros(adjacency.num_nodes, len(sources))
    at[sources, torch.arange(len(sources))] = 1
    total = torch.zeros_like(at)
    for _ in range(length):
        at = aggregate(adjacency, at).mul_(factor)
        total += at
    return total.numpy()


def _blocks(lengths: Floats, most: int) -> Iterator[tuple[int, int]]:
    """Cut pairs into runs whose lists have about `most` entries together."""
    number = np.cumsum(lengths) // most
    starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(lengths)]
    return (bounds for bounds in itertools.pairwise(starts) if bounds[0] < bounds[1])


def _adjacency(graph: Graph) -> Any:
    """Return the unweighted symmetric adjacency without self-edges."""
    from scipy.sparse import csr_array

    shape = (graph.num_nodes, graph.num_nodes)
    ones = np.ones(graph.num_edges)
    edges = csr_array((ones, *reversed(graph.lists)), shape=shape)
    if graph.directed:
        edges = csr_array(edges.maximum(edges.T))
    if edges.diagonal().any():
        edges = edges.copy()
        edges.setdiag(0)
        edges.eliminate_zeros()
    return edges


def _degrees(edges: Any) -> Floats:
    counts: Floats = np.diff(edges.indptr).astype(np.float64)
    return counts


def _largest_eigenvalue(edges: Any) -> float:
    """Return the largest eigenvalue of a symmetric matrix without negative entries, 0 without entries."""
    from scipy.sparse.linalg import eigsh

    if edges.nnz == 0:
        return 0.0
    if edges.shape[0] <= _SMALL:
        return float(np.linalg.eigvalsh(edges.toarray())[-1])
    start = np.ones(edges.shape[0])  # Given, so that every run finds the same digits.
    return float(eigsh(edges, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
