"""Layers by name: the table that `model.layer` of a recipe is looked up in.

Not for: the layers themselves; each has its own file. A new layer is a file and a line here.
"""

from __future__ import annotations

from functools import partial

from torch import nn

from shadow_gnn.nn.layers.base import Layer, LayerOptions, LayerStack, stacked
from shadow_gnn.nn.layers.gat import GatConvLayer, GatLayer
from shadow_gnn.nn.layers.gcn import GcnLayer
from shadow_gnn.nn.layers.gin import GinLayer
from shadow_gnn.nn.layers.mlp import MlpLayer
from shadow_gnn.nn.layers.pyg import PygLayer
from shadow_gnn.nn.layers.residual import residual_layers
from shadow_gnn.nn.layers.sage import SageLayer
from shadow_gnn.nn.layers.sgc import sgc_layers
from shadow_gnn.nn.layers.transformer import TransformerLayer
from shadow_gnn.nn.pyg_class import pyg_class

LAYERS: dict[str, LayerStack] = {
    "gcn": stacked(GcnLayer),
    "sage": stacked(SageLayer),
    "gin": stacked(GinLayer),
    "mlp": stacked(MlpLayer),
    "gat": stacked(GatLayer),
    "gatconv": stacked(GatConvLayer),
    "sgc": sgc_layers,
    "transformer": stacked(TransformerLayer),
}
_OWN = frozenset(LAYERS)


def conv_stack(conv: str | type[nn.Module]) -> LayerStack:
    """Return the stack of layers of a conv class: one of PyG by name, or your own; also for a line in LAYERS.

    >>> stack = nn.conv_stack("TransformerConv")
    >>> len(stack(2, 8, 3, nn.LayerOptions()))
    3
    """
    return stacked(partial(PygLayer, conv))


def make_layers(
    name: str | type[nn.Module],
    in_dim: int,
    hidden_dim: int,
    num_layers: int,
    options: LayerOptions,
    *,
    residual: bool = False,
) -> list[Layer]:
    """Make the layers of a backbone; residual: see ResidualLayer.

    name: a key of LAYERS, a conv class of PyG by name, or a class of the form of PyG's convs.

    >>> [layer.in_dim for layer in nn.make_layers("gcn", 2, 8, 3, nn.LayerOptions())]
    [2, 8, 8]
    """
    stack = LAYERS.get(name) if isinstance(name, str) else None
    if stack is None:
        if isinstance(name, str):
            pyg_class("model: layer", "conv", name, LAYERS)
        stack = conv_stack(name)
    elif options.extra and name in _OWN:
        raise ValueError(f"model: layer_options must be empty for layer {name!r}, got {next(iter(options.extra))!r}")
    if not residual:
        return stack(in_dim, hidden_dim, num_layers, options)
    return residual_layers(stack(hidden_dim, hidden_dim, num_layers, options), in_dim, options)
