"""PygLayer: any conv class of torch_geometric as a layer, by its name.

Not for: convs that need more than widths, heads and edge features; the error message names them.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, Preparation, check_dims, make_activation
from shadow_gnn.nn.norm import make_norm
from shadow_gnn.nn.pyg_class import pyg_class, required_parameters
from shadow_gnn.nn.sparse.edge_list import EdgeList
from shadow_gnn.nn.sparse.ops import dropout

TRIMMABLE = frozenset(
    {"FiLMConv", "GATConv", "GATv2Conv", "GraphConv", "LEConv", "ResGatedGraphConv", "SAGEConv", "TransformerConv"}
)
"""One-hop convs that take (all rows, first rows) and whose rows depend only on themselves and their senders. Others
reach further, use degrees of the senders, or share statistics: they run on the whole scope."""

_EDGE_WIDTHS = ("edge_dim", "in_edge_channels")


class PygLayer(nn.Module):
    """norm(activation(conv(dropout(x), edge_index))), with the edges' weights or features where the conv takes them."""

    preparation: ClassVar[Preparation] = "edge_list"

    def __init__(self, name: str, in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make torch_geometric.nn.conv.<name> from in_dim to out_dim columns."""
        super().__init__()
        conv_class, edge_dim = pyg_class("PygLayer: name", "conv", name), options.edge_dim
        arguments = _arguments(conv_class, in_dim, out_dim, options)
        self.name, self.in_dim, self.out_dim, self.dropout = name, in_dim, out_dim, options.dropout
        self.trims = name in TRIMMABLE
        taken = inspect.signature(conv_class.forward).parameters
        self.takes_weight = "edge_weight" in taken
        self.takes_attr = edge_dim > 0 and "edge_attr" in taken and bool(arguments.keys() & set(_EDGE_WIDTHS))
        try:
            self.conv = conv_class(**arguments)
            self._try_out(edge_dim)
        except Exception as fault:
            raise ValueError(f"PygLayer: {name} must map {in_dim} to {out_dim} columns: {_line(fault)}") from fault
        self.activation = make_activation(options.activation, in_place=False)  # The conv may keep its output.
        self.norm = make_norm(options.norm, out_dim)

    def forward(self, x: Tensor, edges: EdgeList, num_rows: int) -> Tensor:
        """Return the first num_rows rows. [num_rows, out_dim]"""
        x = dropout(x, self.dropout, training=self.training)
        trimmed = self.trims and num_rows < len(x)
        got = self._message(x, edges, num_rows) if trimmed else self._message(x, edges, None)[:num_rows]
        out: Tensor = self.norm(self.activation(got))
        return out

    def _message(self, x: Tensor, edges: EdgeList, num_rows: int | None) -> Tensor:
        """Run the conv on all rows, or on the first num_rows of them as the receivers."""
        num_edges = None if num_rows is None else edges.num_edges(num_rows)
        extra: dict[str, Tensor] = {}
        if self.takes_weight and edges.weight is not None:
            extra["edge_weight"] = edges.weight[:num_edges].to(x.dtype)
        if self.takes_attr:
            if edges.attr is None:
                raise ValueError(f"PygLayer: {self.name} must get edge_attr, got none; its Loader needs model=model")
            extra["edge_attr"] = edges.attr[:num_edges].to(x.dtype)
        nodes = x if num_rows is None else (x, x[:num_rows])
        out: Tensor = self.conv(nodes, edges.edge_index[:, :num_edges], **extra)
        return out

    def _try_out(self, edge_dim: int) -> None:
        """Raise unless the conv turns two nodes and two edges into out_dim columns."""
        self.conv.eval()
        edge_index = torch.tensor([[1, 0], [0, 1]])
        attr = torch.ones(2, edge_dim) if self.takes_attr else None
        edges = EdgeList(edge_index, torch.tensor([0, 1, 2]), torch.ones(2), attr)
        with torch.no_grad():
            out = self._message(torch.ones(2, self.in_dim), edges, None)
        self.conv.train()
        if not isinstance(out, Tensor) or out.shape != (2, self.out_dim):
            shape = tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
            raise ValueError(f"2 rows become {shape}, not {(2, self.out_dim)}")


def _arguments(conv_class: Any, in_dim: int, out_dim: int, options: LayerOptions) -> dict[str, int]:
    """Return the arguments that make the conv; raise if it needs any others."""
    owner = f"PygLayer: {conv_class.__name__}"
    parameters = inspect.signature(conv_class.__init__).parameters
    required = required_parameters(conv_class)
    if required != ["in_channels", "out_channels"]:
        wants = ", ".join(required) or "neither"
        raise ValueError(f"{owner} must be made from in_channels and out_channels alone, got one that takes {wants}")
    if list(inspect.signature(conv_class.forward).parameters)[1:3] != ["x", "edge_index"]:
        raise ValueError(f"{owner} must be called with x and edge_index, got one that takes other inputs")
    arguments = {"in_channels": in_dim, "out_channels": out_dim}
    heads = options.num_heads if "heads" in parameters else 1
    side_by_side = "concat" in parameters
    check_dims(owner, in_dim, out_dim, heads if side_by_side else 1)
    if "heads" in parameters:
        arguments["heads"] = heads
        arguments["out_channels"] = out_dim // heads if side_by_side else out_dim
    arguments |= {width: options.edge_dim for width in _EDGE_WIDTHS if options.edge_dim and width in parameters}
    return arguments


def _line(fault: Exception) -> str:
    """Return the first line of an error message."""
    text = str(fault).strip()
    return f"{type(fault).__name__}: {text.splitlines()[0]}" if text else type(fault).__name__
