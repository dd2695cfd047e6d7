"""Layer: the protocol of a layer, the options of all layers, their activations, and the usual stack of them.

Not for: any single layer; each has its own file. The table of names is in table.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from torch import Tensor, nn

from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.edge_list import EdgeList
from shadow_gnn.nn.sparse.scope_tokens import ScopeTokens

Activation = Literal["relu", "elu", "prelu", "none"]
Norm = Literal["layer", "none"]
Preparation = Literal["none", "mean", "symmetric", "sum", "attention", "edge_list", "scope"]
"""The form in which a layer reads the edges. none: not at all; mean, symmetric, sum: see ops.normalized; attention:
with a self-edge for every row; edge_list: an EdgeList instead of an Adjacency; scope: ScopeTokens, for layers that read
all rows of a scope."""


class Layer(Protocol):
    """One message passing, as an nn.Module.

    >>> layer = nn.SageLayer(2, 8, nn.LayerOptions())
    >>> layer.preparation, layer.trims, layer.takes_attr
    ('mean', True, False)
    """

    @property
    def in_dim(self) -> int:
        """Columns that it reads."""
        ...

    @property
    def out_dim(self) -> int:
        """Columns that it returns."""
        ...

    @property
    def preparation(self) -> Preparation:
        """The form of the edges, prepared once per batch for all layers that share it."""
        ...

    @property
    def takes_attr(self) -> bool:
        """Whether it reads edge features, which the batch must then hold."""
        ...

    @property
    def trims(self) -> bool:
        """Whether an output row depends only on that row, its senders (its scope) and prepared weights."""
        ...

    def __call__(self, x: Tensor, adjacency: Adjacency | EdgeList | ScopeTokens, num_rows: int) -> Tensor:
        """Return the first num_rows rows; x holds at least those and all their senders. [num_rows, out_dim]"""
        ...


@dataclass(frozen=True)
class LayerOptions:
    """Options of every layer: dropout before the messages, activation and norm after them, heads, edge features.

    >>> nn.LayerOptions(activation="elu", dropout=0.2).norm
    'layer'
    """

    activation: Activation = "relu"
    """relu, elu, prelu (one learned slope per layer) or none."""
    norm: Norm = "layer"
    """layer: normalize each node's features, with learned scale and offset; none: leave them."""
    dropout: float = 0.0
    """Share of the input's elements that are set to 0 in training."""
    num_heads: int = 4
    """Attention heads, in layers that have them; out_dim is the width of all heads together."""
    edge_dim: int = 0
    """Columns of the graph's edge features; 0 for none."""
    equal_widths: bool = False
    """All layers must return the same number of columns, so that outputs can be added (skip)."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of a conv class, by name (model.layer_options)."""

    def __post_init__(self) -> None:
        for name, value, known in (("activation", self.activation, Activation), ("norm", self.norm, Norm)):
            if value not in get_args(known):
                raise ValueError(f"LayerOptions: {name} must be one of {', '.join(get_args(known))}, got {value!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"LayerOptions: dropout must be from 0 to below 1, got {self.dropout!r}")


LayerStack = Callable[[int, int, int, LayerOptions], list[Layer]]
"""(in_dim, hidden_dim, num_layers, options) -> the layers of a backbone."""


def stacked(make: Callable[[int, int, LayerOptions], Layer]) -> LayerStack:
    """Return the usual stack of layers that are made from (in_dim, out_dim, options): all return hidden_dim columns.

    >>> stack = nn.stacked(nn.GinLayer)
    >>> [layer.in_dim for layer in stack(2, 8, 3, nn.LayerOptions())]
    [2, 8, 8]
    """

    def stack(in_dim: int, hidden_dim: int, num_layers: int, options: LayerOptions) -> list[Layer]:
        return [make(width, hidden_dim, options) for width in [in_dim, *[hidden_dim] * (num_layers - 1)]]

    return stack


def make_activation(name: Activation, *, in_place: bool = True) -> nn.Module:
    """Return the activation as a module; in_place: it may overwrite its input."""
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
