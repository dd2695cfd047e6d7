"""Contributions: the signed share of every node, edge and column of some scopes in a model's answers.

Not for: names and tables (explanation.py), or computing the shares (gradients.py, occlusion.py, gnn_explainer.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

Method = Literal["gradient", "midpoint", "integrated", "occlusion", "gnnexplainer"]
"""gradient: first-order effect of each part, one backward pass for all targets. integrated: the gradient along the way
from no messages, or from average features, to the whole scope. midpoint: the same for messages with one point, in the
middle of the way, and gradient for columns; one backward pass for all targets. occlusion: the scope without the part,
predicted again. gnnexplainer: PyG's optimized masks, which are from 0 to 1 and have no sign."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Contributions to the answers of B targets, in the order of the batch of each branch; above 0 speaks for them."""

    edges: tuple[Tensor, ...]
    """[E] for each branch: of the message of each edge, in all layers together."""
    nodes: tuple[Tensor, ...]
    """[N] for each branch: of all messages that a node sends, and of its row in a readout that pools."""
    columns: Tensor | None
    """[B, F]: of each input column, in all nodes of the scope together, compared with its mean; None without any."""


@dataclass(frozen=True, eq=False)
class Contributions(Parts):
    """Contributions with the outputs that they explain."""

    logits: Tensor
    """[B, C] of the model."""
    answer: Tensor
    """[B], the explained number: see Answer."""
    chosen: Tensor | None
    """[B], the explained class or label; None for values and links."""
    method: Method
    """The way of computing them."""
