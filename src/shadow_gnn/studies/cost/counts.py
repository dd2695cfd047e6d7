"""Counts: nodes and edges that a model processes for each target, and their cost.

Not for: the equations (equations.py) or the mean over targets (estimate.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Extractor, Subgraphs
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.normal.hops import HopCounts, hop_counts
from shadow_gnn.studies.cost.equations import Floats, ModelShape, layer_macs, model_macs, readout_macs

_BLOCK_TARGETS = 1024


@dataclass(frozen=True, eq=False)
class ScopeSizes:
    """Sizes of the scopes of some targets."""

    nodes: Ints
    """[B]."""
    edges: Ints
    """[B], CSR entries: an undirected edge is two."""


def scope_sizes(
    graph: Graph, extractor: Extractor, targets: ArrayLike, *, seed: int = 0, progress: Progress = silent
) -> ScopeSizes:
    """Extract the scopes of all targets, block by block, and return their sizes."""
    groups = check_targets(graph, targets, "scope_sizes")
    parts = []
    for start in range(0, len(groups), _BLOCK_TARGETS):
        progress("extracting", start, len(groups))
        parts.append(_sizes(extractor(graph, groups[start : start + _BLOCK_TARGETS], seed=seed)))
    nodes, edges = (np.concatenate([np.zeros(0, np.int64), *side]) for side in zip(*parts, strict=True))
    return ScopeSizes(nodes, edges)


def _sizes(subgraphs: Subgraphs) -> tuple[Ints, Ints]:
    return np.diff(subgraphs.ptr), np.diff(subgraphs.indptr[subgraphs.ptr])


def normal_macs(counts: HopCounts, network: ModelShape) -> Floats:
    """Count the operations of a normal GNN for each target by itself, from its whole neighborhood. [B]

    Layer l reads all nodes within L - l + 1 hops and computes those within L - l. One search serves all networks with
    at most as many layers as its hops.
    """
    num_layers = network.num_layers
    if counts.num_hops < num_layers:
        raise ValueError(f"normal_macs: counts must reach {num_layers} hops, one per layer, got {counts.num_hops}")
    if network.readout != "center":
        raise ValueError(f"normal_macs: readout must be center without a scope to pool, got {network.readout!r}")
    nodes = [counts.num_nodes[:, num_layers - done] for done in range(num_layers + 1)]
    edges = [counts.num_edges[:, num_layers - done] for done in range(1, num_layers + 1)]
    return np.asarray(model_macs(network, nodes, edges), np.float64)


def normal_cost(graph: Graph, targets: ArrayLike, network: ModelShape) -> Floats:
    """Count the operations of a normal GNN for each target by itself, as normal_macs. [B]

    >>> sg.normal_cost(graph, [0, 7], sg.ModelShape("sage", (2, 8, 8))).tolist()
    [360.0, 360.0]
    """
    return normal_macs(hop_counts(graph, targets, network.num_layers), network)


def shadow_macs(sizes: ScopeSizes, network: ModelShape) -> Floats:
    """Count the operations of a shaDow GNN for each scope: every layer runs on all its nodes and edges. [B]"""
    nodes, edges = [sizes.nodes] * (network.num_layers + 1), [sizes.edges] * network.num_layers
    return np.asarray(model_macs(network, nodes, edges), np.float64)


def shadow_cost(subgraphs: Subgraphs, network: ModelShape) -> Floats:
    """Count the operations of a shaDow GNN for each scope, as shadow_macs. [B]

    >>> sg.shadow_cost(scopes, sg.ModelShape("sage", (2, 8, 8))).tolist()
    [1140.0, 1140.0]
    """
    return shadow_macs(ScopeSizes(*_sizes(subgraphs)), network)


def full_batch_macs(graph: Graph, network: ModelShape) -> float:
    """Count the operations of a normal GNN on the whole graph at once, for all nodes."""
    if network.readout != "center":
        raise ValueError(f"full_batch_macs: readout must be center without scopes to pool, got {network.readout!r}")
    num_layers = network.num_layers
    layers = layer_macs(network, [graph.num_nodes] * (num_layers + 1), [graph.num_edges] * num_layers)
    return float(layers + graph.num_nodes * readout_macs(network, 1))


def full_batch_cost(graph: Graph, network: ModelShape, num_targets: int) -> float:
    """Divide the operations of one pass over the whole graph by its targets: the appendix's remark."""
    if num_targets < 1:
        raise ValueError(f"full_batch_cost: num_targets must be at least 1, got {num_targets}")
    return full_batch_macs(graph, network) / num_targets
