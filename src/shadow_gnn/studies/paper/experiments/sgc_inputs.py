"""SGC inputs: the rows of Â^k X that targets read, for several k at once, over the whole graph or inside scopes.

Not for: the classifier that reads them (sgc_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from shadow_gnn.base.disk_arrays import new_array
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Extractor, Subgraphs
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.extract.training_view import FeatureStatistics
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.studies.baselines.scope_sgc import Matrix, scope_rows

_BLOCK_TARGETS = 1024
_BLOCK_NODES = 1 << 16


def standardized(graph: Graph, statistics: FeatureStatistics) -> Matrix:
    """Return the features of all nodes with mean 0 and deviation 1 by these statistics. [N, F]"""
    assert graph.x is not None
    x = np.empty(graph.x.shape, np.float32)
    for start in range(0, graph.num_nodes, _BLOCK_NODES):
        rows = feature_rows(graph, np.arange(start, min(start + _BLOCK_NODES, graph.num_nodes)))
        assert rows is not None
        x[start : start + len(rows)] = (rows - statistics.mean) / statistics.deviation
    return x


def graph_powers(
    graph: Graph,
    targets: Ints,
    x: Matrix,
    powers: Sequence[int],
    *,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Matrix:
    """Return the rows of targets of Â^k X over the whole graph, for each of the powers k. [B, P, F]

    Â = D^-1/2 (A + I) D^-1/2. folder: where the result is mapped from a nameless file; None for memory.
    """
    place = _places(powers)
    out = new_array((len(targets), len(powers), x.shape[1]), np.float32, folder)
    for hop, power in enumerate(smoothed(graph, x, max(powers)), start=1):
        progress("propagating over the graph", hop, max(powers))
        if hop in place:
            out[:, place[hop]] = power[targets]
    return out


def scope_powers(
    graph: Graph,
    extractor: Extractor,
    targets: Ints,
    x: Matrix,
    powers: Sequence[int],
    *,
    seed: int = 0,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Matrix:
    """Return the target's row of Â^k X inside each target's scope, for each of the powers k. [B, P, F]

    One pass over the scopes gives all powers (see scope_rows). Every edge counts 1.
    """
    out = new_array((len(targets), len(powers), x.shape[1]), np.float32, folder)
    for start in range(0, len(targets), _BLOCK_TARGETS):
        progress("propagating in scopes", start, len(targets))
        part = slice(start, start + _BLOCK_TARGETS)
        out[part] = _block_powers(extractor(graph, targets[part], seed=seed), x, powers)
    return out


def _block_powers(subgraphs: Subgraphs, x: Matrix, powers: Sequence[int]) -> Matrix:
    out = np.empty((len(subgraphs), len(powers), x.shape[1]), np.float32)
    shape = (len(subgraphs), len(x))
    for place, row in enumerate(scope_rows(subgraphs, powers)):
        out[:, place] = csr_array((row, subgraphs.node_id, subgraphs.ptr), shape=shape) @ x
    return out


def _places(powers: Sequence[int]) -> dict[int, int]:
    """Return where each power goes."""
    if not powers or min(powers) < 1 or len(set(powers)) < len(powers):
        raise ValueError(f"sgc: powers must be different numbers of at least 1, got {tuple(powers)}")
    return {power: place for place, power in enumerate(powers)}
