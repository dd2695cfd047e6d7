"""Cost: multiply-add operations of one prediction, by the equations of the paper's appendix on inference complexity.

Not for: measured times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract import Subgraphs
from shadow_gnn.graph import Graph

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """What the equations read of a model."""

    layer: str
    """gcn, sage, gat and gatconv as in the paper; gin and mlp by equations of our own in the same spirit."""
    dims: tuple[int, ...]
    """Columns of the input and of every layer's output. [L + 1]"""

    def __post_init__(self) -> None:
        if self.layer not in _EQUATIONS:
            raise ValueError(f"Network: layer must be one of {', '.join(_EQUATIONS)}, got {self.layer!r}")
        if len(self.dims) < 2 or min(self.dims) < 1:
            raise ValueError(f"Network: dims must be at least two positive widths, got {self.dims}")

    @property
    def num_layers(self) -> int:
        """Layers L."""
        return len(self.dims) - 1


def normal_cost(graph: Graph, targets: Sequence[int] | Ints, network: Network) -> NDArray[np.float64]:
    """Count the operations of a normal GNN for each target by itself, from its whole neighbourhood. [B]

    Layer l reads all nodes within L - l + 1 hops and makes those within L - l.
    """
    from shadow_gnn.normal.closure import closure_batch

    counts = np.zeros(len(targets))
    for place, target in enumerate(targets):
        batch = closure_batch(graph, [int(target)], network.num_layers, features=False)
        within = [batch.num_within(network.num_layers - done) for done in range(network.num_layers + 1)]
        edges = [int(batch.indptr[rows]) for rows in within[1:]]
        counts[place] = network_macs(network, within, edges)
    return counts


def shadow_cost(subgraphs: Subgraphs, network: Network) -> NDArray[np.float64]:
    """Count the operations of a shaDow GNN for each scope: every layer runs on all its nodes and edges. [B]"""
    num_nodes = np.diff(subgraphs.ptr).tolist()
    num_edges = np.diff(subgraphs.indptr[subgraphs.ptr]).tolist()
    return np.array(
        [
            network_macs(network, [nodes] * (network.num_layers + 1), [edges] * network.num_layers)
            for nodes, edges in zip(num_nodes, num_edges, strict=True)
        ]
    )


def network_macs(network: Network, num_nodes: Sequence[int], num_edges: Sequence[int]) -> float:
    """Add up all layers: num_nodes [L + 1] that the first reads and each returns, num_edges [L] that each sums over."""
    equation = _EQUATIONS[network.layer]
    layers = zip(pairwise(num_nodes), num_edges, pairwise(network.dims), strict=True)
    return float(sum(equation(*nodes, edges, *dims) for nodes, edges, dims in layers))


def _gcn(num_in: int, num_out: int, num_edges: int, in_dim: int, out_dim: int) -> int:
    return num_edges * in_dim + num_out * in_dim * out_dim


def _sage(num_in: int, num_out: int, num_edges: int, in_dim: int, out_dim: int) -> int:
    return num_edges * in_dim + 2 * num_out * in_dim * out_dim


def _gat(num_in: int, num_out: int, num_edges: int, in_dim: int, out_dim: int) -> int:
    return 3 * num_edges * out_dim + num_in * in_dim * out_dim


def _gin(num_in: int, num_out: int, num_edges: int, in_dim: int, out_dim: int) -> int:
    """The sum, then two linear maps."""
    return num_edges * in_dim + num_out * (in_dim + out_dim) * out_dim


def _mlp(num_in: int, num_out: int, num_edges: int, in_dim: int, out_dim: int) -> int:
    return num_out * in_dim * out_dim


_EQUATIONS = {"gcn": _gcn, "sage": _sage, "gat": _gat, "gatconv": _gat, "gin": _gin, "mlp": _mlp}
