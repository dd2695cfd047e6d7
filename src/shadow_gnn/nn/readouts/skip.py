"""skip: joining the outputs of several layers (jumping knowledge).

Not for: which rows are joined; the readout decides that.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

Skip = Literal["none", "max", "sum", "concat"]


def join_layers(outputs: Sequence[Tensor], skip: Skip) -> Tensor:
    """Return the last layer's output, or all of them joined element by element or side by side. [..., joined_dim]"""
    if skip == "none":
        return outputs[-1]
    if skip == "concat":
        return torch.cat(tuple(outputs), dim=-1)
    return functools.reduce(torch.maximum if skip == "max" else torch.add, outputs)


def joined_dim(layer_dims: Sequence[int], skip: Skip) -> int:
    """Return how many columns join_layers makes of layers with these."""
    if skip not in get_args(Skip):
        raise ValueError(f"skip must be one of {', '.join(get_args(Skip))}, got {skip!r}")
    if skip == "concat":
        return sum(layer_dims)
    if skip != "none" and len(set(layer_dims)) > 1:
        raise ValueError(f"skip must be none or concat for layers of several widths {tuple(layer_dims)}, got {skip!r}")
    return layer_dims[-1]
