"""PygTwin: a copy of a model in PyG's message passing, with shared weights, for PyG's explainers.

Not for: speed; every message is a row of an array here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import scatter, softmax

from shadow_gnn.nn.layers.gat import GatConvLayer, GatLayer
from shadow_gnn.nn.layers.gcn import GcnLayer
from shadow_gnn.nn.layers.gin import GinLayer
from shadow_gnn.nn.layers.mlp import MlpLayer
from shadow_gnn.nn.layers.pyg import PygLayer
from shadow_gnn.nn.layers.residual import SPEED, ResidualLayer
from shadow_gnn.nn.layers.sage import SageLayer
from shadow_gnn.nn.layers.sgc import SgcLayer
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.nn.readouts.skip import join_layers
from shadow_gnn.normal.layerwise import single_branch


class MessageSum(MessagePassing):  # type: ignore[misc]
    """out[i] = sum over edges (j, i) of factor[edge] x[j], one factor for each head of a row."""

    def __init__(self) -> None:
        """Make the sum, which has no weights."""
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor, factor: Tensor) -> Tensor:
        """Sum the senders' rows; factor [E, heads]. [N, H]"""
        out: Tensor = self.propagate(edge_index, x=x, factor=factor)
        return out

    def message(self, x_j: Tensor, factor: Tensor) -> Tensor:
        """Return the messages; PyG multiplies them by an explainer's mask. [E, H]"""
        heads = x_j.view(x_j.shape[0], factor.shape[1], -1)
        return (factor[:, :, None] * heads).flatten(1)


@dataclass(frozen=True, eq=False)
class TwinEdges:
    """The edges of a graph, as the twin of a layer reads them."""

    edge_index: Tensor
    """[2, E], senders first, then receivers, in any order."""
    weight: Tensor
    """[E], 1 for edges without weights."""
    num_nodes: int
    """Number of nodes N."""

    def degree(self) -> Tensor:
        """Return the sum of the weights of each receiver's edges. [N]"""
        out: Tensor = scatter(self.weight, self.edge_index[1], dim=0, dim_size=self.num_nodes, reduce="sum")
        return out

    def mean(self) -> Tensor:
        """Return factors that sum to 1 for each receiver. [E, 1]"""
        degree = self.degree()
        return (self.weight / degree[self.edge_index[1]])[:, None]

    def symmetric(self) -> tuple[Tensor, Tensor]:
        """Return the factors of D^-1/2 (A + I) D^-1/2: of the edges [E, 1] and of every node's self-edge [N, 1]."""
        root = (self.degree() + 1).rsqrt()
        sender, receiver = self.edge_index
        return (self.weight * root[sender] * root[receiver])[:, None], (root * root)[:, None]

    def attention(self, to_score: Tensor, from_score: Tensor) -> tuple[Tensor, Tensor]:
        """Return softmax attention to the senders, times the weights, and of every node to itself. [E, h], [N, h]"""
        sender, receiver = self.edge_index
        nodes = torch.arange(self.num_nodes, device=sender.device)
        score = torch.cat((to_score[receiver] + from_score[sender], to_score + from_score))
        share: Tensor = softmax(F.leaky_relu(score, 0.2), torch.cat((receiver, nodes)), num_nodes=self.num_nodes)
        return share[: sender.shape[0]] * self.weight[:, None], share[sender.shape[0] :]


def _gcn(layer: GcnLayer, x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    return _after(layer.norm, layer.activation, layer.linear(_smoothed(x, edges, add)))


def _sage(layer: SageLayer, x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    mean = add(x, edges.edge_index, edges.mean())
    own = _after(layer.self_norm, layer.activation, layer.self_linear(x))
    return own + _after(layer.neighbor_norm, layer.activation, layer.neighbor_linear(mean))


def _gat(layer: GatLayer, x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    own = layer.activation(layer.self_linear(x))
    sent = layer.activation(layer.neighbor_linear(x))
    scores = _head_scores(own, layer.self_attention), _head_scores(sent, layer.neighbor_attention)
    out: Tensor = (layer.self_norm(own) + layer.neighbor_norm(_attended(add, sent, edges, *scores))) / 2
    return out


def _gat_conv(layer: GatConvLayer, x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    sent = layer.linear(x)
    scores = _head_scores(sent, layer.self_attention), _head_scores(sent, layer.neighbor_attention)
    return _after(layer.norm, layer.activation, _attended(add, sent, edges, *scores) + layer.bias)


def _gin(layer: GinLayer, x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    total = (1 + layer.eps) * x + add(x, edges.edge_index, edges.weight[:, None])
    return _after(layer.norm, layer.activation, layer.outer_linear(F.relu(layer.inner_linear(total))))


def _sgc(layer: SgcLayer, x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    total = _smoothed(x, edges, add)
    return total if layer.linear is None else F.linear(total, layer.linear.weight)


def _mlp(layer: MlpLayer, x: Tensor, edges: TwinEdges, add: None) -> Tensor:
    out: Tensor = layer.dense(x)
    return out


def _conv(layer: PygLayer, x: Tensor, edges: TwinEdges, add: None) -> Tensor:
    extra = {"edge_weight": edges.weight} if layer.takes_weight else {}
    return _after(layer.norm, layer.activation, layer.conv(x, edges.edge_index, **extra))


def _residual(layer: ResidualLayer, x: Tensor, edges: TwinEdges, add: Any) -> Tensor:
    x = x if layer.entry is None else layer.entry(x)
    x = x + SPEED * layer.scale * _EQUATIONS[type(layer.layer)](layer.layer, layer.norm(x), edges, add)
    return x if layer.last_norm is None else layer.last_norm(x)


_EQUATIONS: dict[type[nn.Module], Callable[[Any, Tensor, TwinEdges, Any], Tensor]] = {
    GcnLayer: _gcn,
    SageLayer: _sage,
    GatLayer: _gat,
    GatConvLayer: _gat_conv,
    GinLayer: _gin,
    SgcLayer: _sgc,
    MlpLayer: _mlp,
    PygLayer: _conv,
    ResidualLayer: _residual,
}


class LayerTwin(nn.Module):
    """The twin of one layer; a PyG layer uses its own conv."""

    def __init__(self, layer: nn.Module) -> None:
        """Share the layer's weights."""
        super().__init__()
        inner = layer.layer if isinstance(layer, ResidualLayer) else layer
        if isinstance(inner, PygLayer) and inner.takes_attr:
            raise ValueError(f"PygTwin: {inner.name} must be without edge features, which a twin does not get")
        self.layer = layer
        self.add = None if isinstance(inner, (MlpLayer, PygLayer)) else MessageSum()

    def forward(self, x: Tensor, edges: TwinEdges) -> Tensor:
        """Return the rows of all nodes. [N, H]"""
        return _EQUATIONS[type(self.layer)](self.layer, x, edges, self.add)


class PygTwin(nn.Module):
    """The logits of a normal GNN (one branch, encoding none, readout center) for every node of a graph.

    Called like PyG models, model(x, edge_index, edge_weight=None), with the stored features. Weights are shared, not
    copied; in eval mode the logits of a target are those of the model itself.

    >>> normal = sg.build_model(sg.ModelRecipe(hidden_dim=8, encoding="none"), in_dim=2, out_dim=2)
    >>> twin = sg.PygTwin(normal)
    >>> data = graph.to_pyg()
    >>> twin(data.x, data.edge_index).shape
    torch.Size([40, 2])
    """

    def __init__(self, model: ShadowGNN) -> None:
        """Make a twin of each layer."""
        super().__init__()
        branch = single_branch(model)
        self.layers = nn.ModuleList(LayerTwin(layer) for layer in branch.backbone.layers)
        self.readout, self.norm, self.head, self.scaling = branch.readout, branch.norm, model.head, model.scaling
        self.eval()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the logits of all nodes; edge_index [2, E], senders first. [N, C]"""
        weight = x.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight.to(x.dtype)
        edges = TwinEdges(edge_index, weight, len(x))
        if self.scaling is not None:
            x = self.scaling(x)
        outputs: list[Tensor] = []
        for layer in self.layers:
            x = layer(x, edges)
            outputs.append(x)
        vector = join_layers(outputs, self.readout.skip)
        if self.readout.dense is not None:
            vector = self.readout.dense(vector)
        logits: Tensor = self.head(self.norm(vector))
        return logits


def _after(norm: nn.Module, activation: nn.Module, x: Tensor) -> Tensor:
    out: Tensor = norm(activation(x))
    return out


def _head_scores(x: Tensor, attention: Tensor) -> Tensor:
    """Multiply each head's part of every row by that head's vector. [N, heads]"""
    return (x.view(x.shape[0], *attention.shape) * attention).sum(dim=2)


def _smoothed(x: Tensor, edges: TwinEdges, add: MessageSum) -> Tensor:
    """Multiply the rows by D^-1/2 (A + I) D^-1/2. [N, H]"""
    factor, own = edges.symmetric()
    out: Tensor = add(x, edges.edge_index, factor) + own * x
    return out


def _attended(add: MessageSum, sent: Tensor, edges: TwinEdges, to_score: Tensor, from_score: Tensor) -> Tensor:
    """Sum the messages by attention, including each node's own. [N, H]"""
    share, own = edges.attention(to_score, from_score)
    values = sent.view(sent.shape[0], own.shape[1], -1)
    out: Tensor = add(sent, edges.edge_index, share) + (own[:, :, None] * values).flatten(1)
    return out
