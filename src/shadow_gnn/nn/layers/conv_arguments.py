"""Conv arguments: the arguments that make a conv class: widths, heads, edge features, relations, and layer_options.

Not for: running the conv (pyg.py) or finding a class of PyG by name (nn/pyg_class.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from torch import nn

from shadow_gnn.nn.layers.base import LayerOptions, check_dims
from shadow_gnn.nn.pyg_class import required_parameters

_WIDTHS = ("in_channels", "out_channels")
_EDGE_WIDTHS = ("edge_dim", "in_edge_channels")
_SET_ELSEWHERE = {
    "in_channels": "the features set it",
    "out_channels": "model.hidden_dim sets it",
    "heads": "model.num_heads sets it",
    "nn": "the layer makes it",
    "edge_dim": "the edge features set it",
    "in_edge_channels": "the edge features set it",
    "cached": "scopes differ from batch to batch",
}
_NEEDS_EDGES = ("CGConv", "ECConv", "GINEConv", "GMMConv", "NNConv", "PDNConv", "SplineConv")
_OF_ALL = ("aggr",)
"""Arguments of MessagePassing that a class with **kwargs takes."""


def conv_arguments(
    owner: str, conv: type[nn.Module], in_dim: int, out_dim: int, options: LayerOptions
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and named arguments of a conv class; a fault is a ValueError of one line.

    owner: beginning of its message.
    """
    parameters = dict(inspect.signature(conv.__init__).parameters)
    parameters.pop(next(iter(parameters)))
    given = dict(options.extra)
    _check_given(owner, conv, parameters, given)
    if list(inspect.signature(conv.forward).parameters)[1:3] != ["x", "edge_index"]:
        raise ValueError(f"{owner} must be called with x and edge_index, got one that takes other inputs")
    typed = "num_relations" in required_parameters(conv)
    if (typed or conv.__name__ in _NEEDS_EDGES) and not options.edge_dim:
        raise ValueError(f"{owner} must have edge features, the graph has none")
    side_by_side = bool(given.get("concat", "concat" in parameters))
    heads = options.num_heads if "heads" in parameters else 1
    check_dims(owner, in_dim, out_dim, heads if side_by_side else 1)
    made = {name: value for name, value in _made(conv, in_dim, out_dim, options).items() if name in parameters}
    if "heads" in parameters:
        made["heads"] = heads
        made["out_channels"] = out_dim // heads if side_by_side else out_dim
    arguments, first = {**made, **given}, []
    if not {"nn", *_WIDTHS} & made.keys():
        first = _positional(owner, conv, in_dim, out_dim)
    _check_complete(owner, conv, arguments, first)
    return first, arguments


def _made(conv: type[nn.Module], in_dim: int, out_dim: int, options: LayerOptions) -> dict[str, Any]:
    """Return the arguments that the program makes, taken or not."""
    edge_dim = options.edge_dim
    made: dict[str, Any] = {"in_channels": in_dim, "out_channels": out_dim}
    if "nn" in required_parameters(conv):
        made["nn"] = _network(conv.__name__, in_dim, out_dim, edge_dim)
    if edge_dim:
        made |= dict.fromkeys(_EDGE_WIDTHS, edge_dim)
    if "num_relations" in required_parameters(conv) and edge_dim > 1:
        made["num_relations"] = edge_dim
    return made


def _network(name: str, in_dim: int, out_dim: int, edge_dim: int) -> nn.Module:
    """Make the network that a conv maps with: a perceptron of two layers, for NNConv one linear map of the edges."""
    if name in ("NNConv", "ECConv"):
        return nn.Linear(edge_dim, in_dim * out_dim)
    width = 2 * in_dim if name == "EdgeConv" else in_dim
    return nn.Sequential(nn.Linear(width, out_dim), nn.ReLU(), nn.Linear(out_dim, out_dim))


def _positional(owner: str, conv: type[nn.Module], in_dim: int, out_dim: int) -> list[int]:
    """Return the widths for a class of the user that names its first two parameters otherwise."""
    if conv.__module__.startswith("torch_geometric.") or len(required_parameters(conv)) < 2:
        raise ValueError(f"{owner} must be made from an input and an output width, got one that takes neither")
    return [in_dim, out_dim]


def _check_given(
    owner: str, conv: type[nn.Module], parameters: Mapping[str, inspect.Parameter], given: Mapping[str, Any]
) -> None:
    """Raise for the first of layer_options that the class does not take, or that is not the user's."""
    more = _OF_ALL if any(item.kind is item.VAR_KEYWORD for item in parameters.values()) else ()
    known = [*(name for name in parameters if name not in _SET_ELSEWHERE and name != "kwargs"), *more]
    for name in given:
        if name in _SET_ELSEWHERE:
            raise ValueError(f"{owner} must not get {name} from layer_options: {_SET_ELSEWHERE[name]}")
        if name not in known:
            near = get_close_matches(name, known, 1, 0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{owner} must get layer_options of {', '.join(known) or 'none'}, got {name!r}{hint}")


def _check_complete(owner: str, conv: type[nn.Module], arguments: Mapping[str, Any], first: list[Any]) -> None:
    missing = [name for name in required_parameters(conv)[len(first) :] if name not in arguments]
    if missing:
        table = ", ".join(f"{name} = ..." for name in missing)
        raise ValueError(f"{owner} must get {' and '.join(missing)}: set model.layer_options = {{{table}}}")
