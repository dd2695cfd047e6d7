"""SGC inputs: the targets' rows of Â^k X for several k at once, over the whole graph or inside scopes.

Not for: the classifier (sgc_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from shadow_gnn.base.disk_arrays import new_array
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Extractor
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.extract.training_view import FeatureStatistics
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.studies.baselines.scope_sgc import Matrix, scope_rows

_BLOCK_TARGETS = 1024
_BLOCK_NODES = 1 << 16


def standardized(graph: Graph, statistics: FeatureStatistics) -> Matrix:
    """Return the features of all nodes, shifted and scaled by some statistics. [N, F]"""
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

    Â = D^-1/2 (A + I) D^-1/2. folder: location of a temporary file for the result; None for memory.
    """
    if not powers or min(powers) < 1 or len(set(powers)) < len(powers):
        raise ValueError(f"sgc: powers must be different numbers of at least 1, got {tuple(powers)}")
    out = new_array((len(targets), len(powers), x.shape[1]), np.float32, folder)
    for hop, power in enumerate(smoothed(graph, x, max(powers)), start=1):
        progress("propagating over the graph", hop, max(powers))
        if hop in powers:
            out[:, powers.index(hop)] = power[targets]
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

    One pass over the scopes gives all powers (see scope_rows). Every edge has weight 1.
    """
    out = new_array((len(targets), len(powers), x.shape[1]), np.float32, folder)
    for start in range(0, len(targets), _BLOCK_TARGETS):
        progress("propagating in scopes", start, len(targets))
        part = slice(start, start + _BLOCK_TARGETS)
        scopes = extractor(graph, targets[part], seed=seed)
        for place, row in enumerate(scope_rows(scopes, powers)):
            out[part, place] = csr_array((row, scopes.node_id, scopes.ptr), shape=(len(scopes), len(x))) @ x
    return out
