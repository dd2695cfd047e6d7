"""Layer: what every layer of a backbone offers, the options that all of them share, and their activations.

Not for: any one layer; each has its own file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from torch import Tensor, nn

from shadow_gnn.nn.sparse.edge_list import EdgeList
from shadow_gnn.nn.sparse.ops import Adjacency

Activation = Literal["relu", "elu", "prelu", "none"]
Norm = Literal["layer", "none"]
Preparation = Literal["none", "mean", "symmetric", "sum", "attention", "edge_list"]
"""What a layer wants of the edges. none: it reads none; mean, symmetric, sum: see ops.normalised; attention: a
self-edge beside every row; edge_list: an EdgeList in the place of the Adjacency."""


class Layer(Protocol):
    """One message passing, as an nn.Module."""

    @property
    def in_dim(self) -> int:
        """Columns that it reads."""
        ...

    @property
    def out_dim(self) -> int:
        """Columns that it returns."""
        ...

    @property
    def normalisation(self) -> Preparation:
        """What the backbone prepares once per batch for all layers that want the same."""
        ...

    @property
    def trims(self) -> bool:
        """A row of the output depends on that row and its senders alone, so that the first rows can be computed alone.

        Weights that were prepared from the whole scope do not count against this.
        """
        ...

    def __call__(self, x: Tensor, adjacency: Adjacency | EdgeList, num_rows: int) -> Tensor:
        """Return the first num_rows rows; x holds at least those and all their senders. [num_rows, out_dim]"""
        ...


@dataclass(frozen=True)
class LayerOptions:
    """What stands around the message passing: dropout before it, activation and norm after it."""

    activation: Activation = "relu"
    """relu, elu, prelu (one learned slope per layer) or none."""
    norm: Norm = "layer"
    """layer: normalise each node's features, with learned scale and offset; none: leave them."""
    dropout: float = 0.0
    """Share of the input's elements that are set to 0 in training."""

    def __post_init__(self) -> None:
        for name, value, known in (("activation", self.activation, Activation), ("norm", self.norm, Norm)):
            if value not in get_args(known):
                raise ValueError(f"LayerOptions: {name} must be one of {', '.join(get_args(known))}, got {value!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"LayerOptions: dropout must be from 0 to below 1, got {self.dropout!r}")


def make_activation(name: Activation, *, in_place: bool = True) -> nn.Module:
    """Return the activation as a module; in_place: it may overwrite its input, which nothing else may need."""
    if name == "relu":
        return nn.ReLU(in_place)
    if name == "elu":
        return nn.ELU(inplace=in_place)
    return nn.PReLU() if name == "prelu" else nn.Identity()


def check_dims(owner: str, in_dim: int, out_dim: int, num_heads: int = 1) -> None:
    """Raise unless the widths are positive and num_heads divides out_dim."""
    for name, value in (("in_dim", in_dim), ("out_dim", out_dim), ("num_heads", num_heads)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{owner}: {name} must be an integer from 1, got {value!r}")
    if out_dim % num_heads:
        raise ValueError(f"{owner}: out_dim must be a multiple of num_heads {num_heads}, got {out_dim}")
