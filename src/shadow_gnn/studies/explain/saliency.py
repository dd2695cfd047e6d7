"""Saliency: the gradient of a model's answers with respect to every message, for many targets in one backward pass.

Not for: masks optimized for each target (gnn_explainer.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.tasks.task import Target


def edge_saliency(model: ShadowGNN, batch: Batch, target: Target) -> Tensor:
    """Return |d answer / d m| of each edge, where m is a factor of its message in every layer, at m = 1. [E]

    The answer is the log-odds of the prediction (see log_odds). Scopes share no edges: the gradient of the sum over all
    targets is, edge by edge, that of the edge's own target.

    >>> sg.edge_saliency(model, batch, "classes").shape
    torch.Size([36])
    """
    if len(model.branches) != 1:
        raise ValueError(f"edge_saliency: model must have one branch, got {len(model.branches)}")
    if batch.joined:
        raise ValueError("edge_saliency: targets must have separate scopes, got a joined batch")
    dtype = next(model.parameters()).dtype
    mask = torch.ones(batch.num_edges, dtype=dtype, device=batch.indices.device, requires_grad=True)
    with frozen(model), torch.enable_grad():
        total = log_odds(model(replace(batch, edge_mask=mask)), target).sum()
        if not total.requires_grad:  # No message reaches a target.
            return torch.zeros_like(mask)
        (gradient,) = torch.autograd.grad(total, mask)
    return gradient.abs()


def log_odds(logits: Tensor, target: Target) -> Tensor:
    """Return the certainty of each prediction, on a scale that does not saturate. [B]

    classes: log(p / (1 - p)) of the most probable one; multilabel: the sum of log(p / (1 - p)) of the prediction of
    each label; values: the value.
    """
    if target == "multilabel":
        return logits.abs().sum(dim=1)
    if target == "values" or logits.shape[1] == 1:
        return logits[:, 0]
    best, place = logits.max(dim=1, keepdim=True)
    others = logits.scatter(1, place, -torch.inf)
    return best[:, 0] - others.logsumexp(dim=1)


def sent_by_node(batch: Batch, edge_score: Tensor) -> Tensor:
    """Return the sum of the scores of each node's sent messages. [N]

    >>> sg.sent_by_node(batch, sg.edge_saliency(model, batch, "classes")).shape
    torch.Size([12])
    """
    return edge_score.new_zeros(batch.num_nodes).index_add(0, batch.indices, edge_score)


@contextmanager
def frozen(model: nn.Module) -> Iterator[None]:
    """Keep a model in eval mode without gradients of its weights, which saves half of a backward pass."""
    was_training = model.training
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    if was_training:  # Setting it in every module costs as much as a layer.
        model.eval()
    for weight in learned:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in learned:
            weight.requires_grad_(True)
        if was_training:
            model.train()
