"""Walks: the share of a random walk from each node that is spent at every node, as blocks of rows.

Not for: which entries are kept (block.py), or scopes (extract).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.diffused.block import Block
from shadow_gnn.extract.kinds.ppr import ppr_scores
from shadow_gnn.graph.record import Graph

Transition = Literal["auto", "symmetric", "walk"]
"""walk: a step goes to a neighbor in proportion to edge weight, D^-1 A; symmetric: D^-1/2 A D^-1/2, only for
undirected graphs; auto: symmetric if possible."""

_MOST_ENTRIES = 1 << 23
_MOST_ROWS = 256


@dataclass(frozen=True)
class PprDiffusion:
    """Personalized PageRank: sum over k of teleport (1 - teleport)^k T^k.

    >>> extract.diffuse_graph(graph, extract.PprDiffusion(teleport=0.2), extract.Kept(topk=4)).num_nodes
    40
    """

    teleport: float = 0.15
    """Restart probability; smaller reaches further."""
    tolerance: float = 1e-5
    """Residual bound of the push: a node's share is underestimated by at most tolerance * degree."""
    self_loop: float = 1.0
    """Weight of the self-loop added to every node; 0 for none."""
    transition: Transition = "auto"
    """Matrix T of a step."""

    def __post_init__(self) -> None:
        if not 0.001 <= self.teleport < 1:
            raise ValueError(f"PprDiffusion: teleport must be at least 0.001 and below 1, got {self.teleport}")
        if not 1e-15 <= self.tolerance < 1:
            raise ValueError(f"PprDiffusion: tolerance must be at least 1e-15 and below 1, got {self.tolerance}")
        _check_walk("PprDiffusion", self.self_loop)

    def blocks(self, graph: Graph, *, num_threads: int) -> Iterator[Block]:
        """Yield all rows of the diffusion, in bounded blocks."""
        walked = _walked(graph, self.self_loop)
        scale = _scale("PprDiffusion", walked, self.transition)
        reach = min(graph.num_nodes, 1 / (self.teleport * self.tolerance))
        for start, stop in _chunks(graph.num_nodes, reach):
            ptr, column, score = ppr_scores(
                walked,
                np.arange(start, stop),
                teleport=self.teleport,
                tolerance=self.tolerance,
                num_threads=num_threads,
            )
            yield _block(start, ptr, column, score.astype(np.float64), scale)


@dataclass(frozen=True)
class HeatDiffusion:
    """Heat kernel: sum over k of e^-time time^k / k! T^k.

    >>> extract.diffuse_graph(graph, extract.HeatDiffusion(time=2.0), extract.Kept(topk=4)).num_nodes
    40
    """

    time: float = 3.0
    """How long the heat spreads: the mean number of steps."""
    tolerance: float = 1e-5
    """Mass below tolerance * degree is not followed further, which limits a step of a row to 1 / tolerance edges; 0
    follows everything."""
    self_loop: float = 1.0
    """Weight of the self-loop added to every node; 0 for none."""
    transition: Transition = "auto"
    """Matrix T of a step."""

    def __post_init__(self) -> None:
        if not 0 < self.time <= 100:
            raise ValueError(f"HeatDiffusion: time must be above 0 and at most 100, got {self.time}")
        if not 0 <= self.tolerance < 1:
            raise ValueError(f"HeatDiffusion: tolerance must be at least 0 and below 1, got {self.tolerance}")
        _check_walk("HeatDiffusion", self.self_loop)

    def blocks(self, graph: Graph, *, num_threads: int) -> Iterator[Block]:
        """Yield all rows of the diffusion, in bounded blocks; sums are on one thread."""
        walked = _walked(graph, self.self_loop)
        scale = _scale("HeatDiffusion", walked, self.transition)
        step = _step_matrix(walked)
        least = self.tolerance * np.diff(walked.indptr)
        reach = min(graph.num_nodes, 1 / max(self.tolerance, 1e-9))
        for start, stop in _chunks(graph.num_nodes, reach):
            total = self._rows(step, least, start, stop)
            yield _block(start, total.indptr.astype(np.int64), total.indices.astype(np.int64), total.data, scale)

    def _rows(self, step: Any, least: NDArray[np.float64], start: int, stop: int) -> Any:
        """Sum the series for some rows until the rest is negligible."""
        from scipy.sparse import csr_array

        count = stop - start
        walk = csr_array((np.ones(count), np.arange(start, stop), np.arange(count + 1)), shape=(count, step.shape[0]))
        share = math.exp(-self.time)
        total, left, number = share * walk, 1 - share, 0
        while left > 1e-10:
            number += 1
            share *= self.time / number
            left -= share
            walk.data[walk.data < least[walk.indices]] = 0
            walk.eliminate_zeros()
            walk = walk @ step
            total = total + share * walk
            if number > self.time and share < 1e-14:  # Rounding may leave a trace of `left` behind.
                break
        return total


def _check_walk(owner: str, self_loop: float) -> None:
    if not 0 <= self_loop < math.inf:
        raise ValueError(f"{owner}: self_loop must be at least 0, got {self_loop}")


def _chunks(num_nodes: int, reach: float) -> Iterator[tuple[int, int]]:
    """Cut the rows so that a part has a bounded number of entries, if each row has at most `reach`."""
    size = int(min(max(_MOST_ENTRIES // max(reach, 1), 1), _MOST_ROWS))
    for start in range(0, num_nodes, size):
        yield start, min(start + size, num_nodes)


def _matrix(graph: Graph) -> Any:
    from scipy.sparse import csr_array

    weight = np.ones(graph.num_edges, np.float32) if graph.edge_weight is None else np.asarray(graph.edge_weight)
    return csr_array((weight, *reversed(graph.lists)), shape=(graph.num_nodes, graph.num_nodes))


def _walked(graph: Graph, self_loop: float) -> Graph:
    """Return the edges with a self-loop at every node, in memory; the graph itself for weight 0."""
    if self_loop == 0:
        return graph
    from scipy.sparse import eye_array

    looped = (
        _matrix(graph) + eye_array(graph.num_nodes, dtype=np.float32, format="csr") * np.float32(self_loop)
    ).tocsr()
    looped.sort_indices()
    return Graph(
        looped.indptr.astype(np.int64),
        looped.indices.astype(graph.indices.dtype),
        graph.directed,
        edge_weight=looped.data.astype(np.float32),
    )


def _degrees(graph: Graph) -> NDArray[np.float64]:
    """Return the sums of weights of all rows. [N]"""
    if graph.edge_weight is None:
        return np.diff(graph.lists[0]).astype(np.float64)
    return np.asarray(_matrix(graph).sum(axis=1, dtype=np.float64))


def _step_matrix(graph: Graph) -> Any:
    """Return D^-1 A; the row of a node without neighbors is empty."""
    matrix = _matrix(graph).astype(np.float64)
    matrix.data /= np.repeat(_degrees(graph), np.diff(graph.lists[0]))
    return matrix


def _scale(owner: str, graph: Graph, transition: Transition) -> NDArray[np.float64] | None:
    """Return s [N]: a walk's share of u from v, times s_v / s_u, is the entry of the diffusion. None for all 1.

    D^-1/2 A D^-1/2 = D^1/2 (D^-1 A) D^-1/2, and so for all powers and their sum.
    """
    if transition not in ("auto", "symmetric", "walk"):
        raise ValueError(f"{owner}: transition must be auto, symmetric or walk, got {transition!r}")
    if transition == "symmetric" and graph.directed:
        raise ValueError(f"{owner}: transition must be walk for a directed graph, got 'symmetric'")
    if transition == "walk" or graph.directed:
        return None
    degrees = _degrees(graph)
    return np.sqrt(np.where(degrees > 0, degrees, 1.0))


def _block(
    start: int,
    ptr: NDArray[np.int64],
    column: NDArray[np.int64],
    share: NDArray[np.float64],
    scale: NDArray[np.float64] | None,
) -> Block:
    if scale is not None:
        rows = scale[start : start + len(ptr) - 1]
        share = share * np.repeat(rows, np.diff(ptr)) / scale[column]
    return Block(start, ptr, column, share.astype(np.float32))
