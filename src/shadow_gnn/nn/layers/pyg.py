"""PygLayer: any conv class of torch_geometric as a layer, by its name, or a class of the same form.

Not for: the arguments that make it (conv_arguments.py).
"""

from __future__ import annotations

import inspect
from typing import ClassVar

import torch
from torch import Tensor, nn

from shadow_gnn.nn.layers.base import LayerOptions, Preparation, make_activation
from shadow_gnn.nn.layers.conv_arguments import conv_arguments
from shadow_gnn.nn.norm import make_norm
from shadow_gnn.nn.pyg_class import pyg_class
from shadow_gnn.nn.sparse.edge_list import EdgeList
from shadow_gnn.nn.sparse.ops import dropout

TRIMMABLE = frozenset(
    {"FiLMConv", "GATConv", "GATv2Conv", "GraphConv", "LEConv", "ResGatedGraphConv", "SAGEConv", "TransformerConv"}
)
"""One-hop convs that take (all rows, first rows) and whose rows depend only on themselves and their senders. Others
reach further, use degrees of the senders, or share statistics: they run on the whole scope."""


class PygLayer(nn.Module):
    """norm(activation(conv(dropout(x), edge_index))), with the weights, features or types of edges that it takes.

    >>> layer = nn.PygLayer("TransformerConv", 2, 8, nn.LayerOptions(num_heads=2))
    >>> layer.in_dim, layer.out_dim, layer.preparation
    (2, 8, 'edge_list')
    """

    preparation: ClassVar[Preparation] = "edge_list"

    def __init__(self, conv: str | type[nn.Module], in_dim: int, out_dim: int, options: LayerOptions) -> None:
        """Make a conv from in_dim to out_dim columns: torch_geometric.nn.conv.<conv>, or a class of that form."""
        super().__init__()
        made = pyg_class("PygLayer: name", "conv", conv) if isinstance(conv, str) else conv
        name, edge_dim = made.__name__, options.edge_dim
        first, arguments = conv_arguments(f"PygLayer: {name}", made, in_dim, out_dim, options)
        self.name, self.in_dim, self.out_dim, self.dropout = name, in_dim, out_dim, options.dropout
        self.trims = conv in TRIMMABLE
        taken = inspect.signature(made.forward).parameters
        self.takes_weight = "edge_weight" in taken
        self.num_relations = int(arguments.get("num_relations", 0)) if "edge_type" in taken else 0
        widths = inspect.signature(made.__init__).parameters.keys() & {"edge_dim", "in_edge_channels", "nn"}
        reads = "edge_attr" in taken and (bool(widths) or not isinstance(conv, str))
        self.takes_attr = edge_dim > 0 and (reads or self.num_relations > 0)
        self._attr_name = "edge_type" if self.num_relations else "edge_attr"
        try:
            self.conv = made(*first, **arguments)
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
            attr = edges.attr[:num_edges]
            extra[self._attr_name] = (
                relations(attr, self.num_relations, self.name) if self.num_relations else attr.to(x.dtype)
            )
        nodes = x if num_rows is None else (x, x[:num_rows])
        out: Tensor = self.conv(nodes, edges.edge_index[:, :num_edges], **extra)
        return out

    def _try_out(self, edge_dim: int) -> None:
        """Raise unless the conv turns two nodes and two edges into out_dim columns; without values nothing is tried."""
        if any(weight.is_meta for weight in self.conv.parameters()):
            return
        self.conv.eval()
        edge_index = torch.tensor([[1, 0], [0, 1]])
        attr = torch.eye(1, edge_dim).expand(2, edge_dim) if self.takes_attr else None
        edges = EdgeList(edge_index, torch.tensor([0, 1, 2]), torch.ones(2), attr)
        with torch.no_grad():
            out = self._message(torch.ones(2, self.in_dim), edges, None)
        self.conv.train()
        if not isinstance(out, Tensor) or out.shape != (2, self.out_dim):
            shape = tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
            raise ValueError(f"2 rows become {shape}, not {(2, self.out_dim)}")


def relations(attr: Tensor, num_relations: int, name: str) -> Tensor:
    """Return the type of each edge from its features: one column of numbers, or a column for each type. [E]"""
    if attr.shape[1] == 1:
        found = attr[:, 0].long()
        if len(found) and not (int(found.min()) >= 0 and int(found.max()) < num_relations):
            raise ValueError(f"PygLayer: {name} must get edge types from 0 to {num_relations - 1}, got others")
        if not torch.equal(found.to(attr.dtype), attr[:, 0]):
            raise ValueError(f"PygLayer: {name} must get whole numbers as edge types, got others")
        return found
    if attr.shape[1] > num_relations or not bool(((attr != 0).sum(dim=1) == 1).all()):
        raise ValueError(
            f"PygLayer: {name} must get edge features with a column for each type, of which one is set, got others"
        )
    return attr.argmax(dim=1)


def _line(fault: Exception) -> str:
    """Return the first line of an error message."""
    text = str(fault).strip()
    return f"{type(fault).__name__}: {text.splitlines()[0]}" if text else type(fault).__name__
