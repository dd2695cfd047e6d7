"""Equations: multiply-add operations of a model, from the numbers of nodes and edges of its layers.

Not for: counting those nodes and edges (counts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = Floats | float
"""One number, or one for each target."""

SKIPS = ("none", "max", "sum", "concat", "residual")
READOUTS = ("center", "sum", "mean", "max", "sort")


@dataclass(frozen=True)
class ModelShape:
    """Layer kind and widths of a model, for the equations.

    >>> sg.ModelShape("sage", (64, 256, 256)).num_layers
    2
    """

    layer: str
    """gcn, sage, gat and gatconv as in the paper; gin, sgc, mlp and transformer by similar equations of our own."""
    dims: tuple[int, ...]
    """Widths of the input and of every layer's output. [L + 1]"""
    skip: str = "none"
    """Join of the layers' outputs: none, max, sum, concat, or residual: each layer adds to its input."""
    readout: str = "center"
    """center, sum, mean, max or sort."""
    sort_size: int = 25
    """Nodes kept by the sort readout."""

    def __post_init__(self) -> None:
        for name, known in (("layer", LAYERS), ("skip", SKIPS), ("readout", READOUTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"ModelShape: {name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if len(self.dims) < 2 or min(self.dims) < 1:
            raise ValueError(f"ModelShape: dims must be at least two positive widths, got {self.dims}")
        if self.skip in ("max", "sum", "residual") and len(set(self.dims[1:])) > 1:
            raise ValueError(f"ModelShape: dims must be equal for skip {self.skip}, got {self.dims[1:]}")
        if self.sort_size < 1:
            raise ValueError(f"ModelShape: sort_size must be at least 1, got {self.sort_size}")

    @property
    def num_layers(self) -> int:
        """Layers L."""
        return len(self.dims) - 1

    @property
    def joins(self) -> bool:
        """Whether the readout joins the outputs of all layers."""
        return self.skip not in ("none", "residual")

    @property
    def joined_dim(self) -> int:
        """Width of the layers' outputs after the skip."""
        return sum(self.dims[1:]) if self.skip == "concat" else self.dims[-1]


def model_macs(network: ModelShape, num_nodes: Sequence[Any], num_edges: Sequence[Any]) -> Any:
    """Add up all layers and the readout.

    num_nodes [L + 1]: nodes that the first layer reads, then the output nodes of each layer; num_edges [L]: edges of
    each layer. Each is one number, or an array with one for each target, and so is the result.
    """
    return layer_macs(network, num_nodes, num_edges) + readout_macs(network, _float(num_nodes[-1]))


def layer_macs(network: ModelShape, num_nodes: Sequence[Any], num_edges: Sequence[Any]) -> Any:
    """Add up all layers without the readout; see model_macs."""
    nodes, edges = [_float(count) for count in num_nodes], [_float(count) for count in num_edges]
    if len(nodes) != len(network.dims) or len(edges) != network.num_layers:
        raise ValueError(
            f"layer_macs: num_nodes and num_edges must be {len(network.dims)} and {network.num_layers} long for "
            f"{network.num_layers} layers, got {len(nodes)} and {len(edges)}"
        )
    if network.skip == "residual":
        return _residual(network, nodes, edges)
    if network.layer == "sgc":
        return _sgc(network, nodes, edges)
    equation = _EQUATIONS[network.layer]
    layers = zip(pairwise(nodes), edges, pairwise(network.dims), strict=True)
    return sum(equation(*ends, count, *dims) for ends, count, dims in layers)


def readout_macs(network: ModelShape, num_nodes: Any) -> Any:
    """Count the skip and the readout after the layers, by equations of our own; num_nodes: pooled nodes.

    With width d after the skip and d' out: joining L layers by max or sum costs (L - 1) d per row that is joined;
    pooling n nodes n d, for each layer's output if the skip comes later; keeping s sorted rows a map from s d; anything
    beyond the target's vector a map into d' columns. Center without a skip costs nothing.
    """
    own, width, out = network.joined_dim, network.dims[-1], network.dims[-1]
    joins = (network.num_layers - 1) * width if network.skip in ("max", "sum") else 0
    if network.readout == "center":
        return joins + (own * out if network.joins else 0) + 0.0 * num_nodes
    if network.readout == "sort":
        # Rows are joined before sorting, and mapped after the choice.
        pooled, pooled_width = joins * num_nodes + network.sort_size * own * out, out
    else:
        pooled, pooled_width = joins + num_nodes * (sum(network.dims[1:]) if network.joins else width), own
    return joins + pooled + (own + pooled_width) * out


def ensemble_macs(branches: Sequence[Any], dim: int, *, attention: bool = True) -> Any:
    """Add up branches and the join of their embeddings of `dim` columns, by an equation of our own.

    Attention maps each embedding (d d), takes a product with the query (d) and adds it up by its weight (d); a mean
    adds it up.
    """
    if not branches:
        raise ValueError("ensemble_macs: branches must not be empty")
    joined = len(branches) * (dim * dim + 2 * dim if attention else dim) if len(branches) > 1 else 0
    return sum(branches) + joined


def _float(count: Any) -> Counts:
    return np.asarray(count, np.float64) if np.ndim(count) else float(count)


def _gcn(num_in: Counts, num_out: Counts, num_edges: Counts, in_dim: int, out_dim: int) -> Counts:
    return num_edges * in_dim + num_out * in_dim * out_dim


def _sage(num_in: Counts, num_out: Counts, num_edges: Counts, in_dim: int, out_dim: int) -> Counts:
    return num_edges * in_dim + 2 * num_out * in_dim * out_dim


def _gat(num_in: Counts, num_out: Counts, num_edges: Counts, in_dim: int, out_dim: int) -> Counts:
    return 3 * num_edges * out_dim + num_in * in_dim * out_dim


def _gin(num_in: Counts, num_out: Counts, num_edges: Counts, in_dim: int, out_dim: int) -> Counts:
    """Our own: the sum, then two linear maps."""
    return num_edges * in_dim + num_out * (in_dim + out_dim) * out_dim


def _mlp(num_in: Counts, num_out: Counts, num_edges: Counts, in_dim: int, out_dim: int) -> Counts:
    """Our own: a linear map."""
    return num_out * in_dim * out_dim


def _sgc(network: ModelShape, nodes: list[Counts], edges: list[Counts]) -> Any:
    """Our own: every step sums the input's columns; one linear map follows the last step."""
    in_dim, out_dim = network.dims[0], network.dims[-1]
    return sum(edges) * in_dim + nodes[-1] * in_dim * out_dim


def _residual(network: ModelShape, nodes: list[Counts], edges: list[Counts]) -> Any:
    """Our own: a linear map of the input, then layers of equal widths, each added to its input by a factor."""
    in_dim, width = network.dims[:2]
    inner = replace(network, dims=(width, *network.dims[1:]), skip="none")
    return nodes[0] * in_dim * width + layer_macs(inner, nodes, edges) + sum(nodes[1:]) * width


def _transformer(num_in: Counts, num_out: Counts, num_edges: Counts, in_dim: int, out_dim: int) -> Counts:
    """Our own, for one scope: all pairs of nodes instead of edges, six maps, and one of the input if widths differ."""
    entry = 0 if in_dim == out_dim else num_in * in_dim * out_dim
    return entry + 2 * num_in * num_out * out_dim + (2 * num_in + 6 * num_out) * out_dim * out_dim


_EQUATIONS: dict[str, Callable[[Counts, Counts, Counts, int, int], Counts]] = {
    "gcn": _gcn,
    "sage": _sage,
    "gat": _gat,
    "gatconv": _gat,
    "gin": _gin,
    "mlp": _mlp,
    "transformer": _transformer,
}
LAYERS = (*_EQUATIONS, "sgc")
"""Layers with an equation."""
