"""Encoder: GraphSAGE on the whole graph with a dot product of the two ends, the usual baseline of link prediction.

Not for: scopes of pairs; messages pass along all known links, including the training pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import derive_seed, permutation
from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.nn.sparse.ops import aggregate
from shadow_gnn.recipe.training import LinkMetric
from shadow_gnn.tasks.links.loader import TrainingPairs
from shadow_gnn.tasks.links.metrics import link_metrics
from shadow_gnn.tasks.links.pairs import Ints
from shadow_gnn.tasks.links.splits import LinkSplits, PairSet

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class EncoderOptions:
    """How the encoder is trained."""

    num_layers: int = 2
    """Layers of message passing."""
    hidden_dim: int = 64
    """Width of every layer, and of the learned inputs of a graph without features."""
    num_epochs: int = 100
    """Passes over the training pairs."""
    batch_size: int = 1 << 16
    """Most pairs of a step; each step computes the whole graph."""
    learning_rate: float = 0.01
    """Step size of Adam."""
    evaluate_every: int = 5
    """Epochs from one validation to the next."""
    monitor: LinkMetric = "auc"
    """Validation metric that selects the best epoch; AUC breaks ties."""


class Encoder(nn.Module):
    """h' = relu(W h + V mean of the neighbors' h), without relu in the last layer."""

    def __init__(self, in_dim: int, hidden_dim: int, num_layers: int) -> None:
        """Make the layers."""
        super().__init__()
        widths = [in_dim, *[hidden_dim] * num_layers]
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.other = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairwise(widths))

    def forward(self, x: Tensor, adjacency: Adjacency) -> Tensor:
        """Embed every node. [N, hidden_dim]"""
        degree = adjacency.indptr.diff().clamp(min=1)[:, None]
        for number, (own, other) in enumerate(zip(self.own, self.other, strict=True)):
            x = own(x) + other(aggregate(adjacency, x) / degree)
            x = x if number + 1 == len(self.own) else functional.relu(x)
        return x


def encoder_scores(
    splits: LinkSplits, pairs: TrainingPairs, options: EncoderOptions | None = None, *, progress: Progress = silent
) -> dict[str, Floats]:
    """Train on the pairs of training and score those of valid and test, in their order: [P + M] by split."""
    options = options or EncoderOptions()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive_seed("encoder", pairs.seed, None))
        x = _inputs(splits.graph, options.hidden_dim)
        model = Encoder(x.shape[1], options.hidden_dim, options.num_layers)
    weights = [*model.parameters(), *([x] if x.requires_grad else [])]
    optimizer = torch.optim.Adam(weights, lr=options.learning_rate)
    known, in_test = _adjacency(splits.graph), _adjacency(splits.test_graph)
    best: tuple[float, float] | None = None
    found: dict[str, Floats] = {}
    for epoch in range(options.num_epochs):
        for chosen, labels in _batches(pairs, epoch, options.batch_size):
            logits = _dot(model(x, known), chosen)
            loss = functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(labels))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        if (epoch + 1) % options.evaluate_every == 0 or epoch + 1 == options.num_epochs:
            scores = _scored(model, x, known, splits.valid)
            value = _value(scores, splits.valid, options.monitor)
            if best is None or value > best:
                best, found = value, {"valid": scores}
                if splits.test is not None:
                    found["test"] = _scored(model, x, in_test, splits.test)
        progress("encoder", epoch + 1, options.num_epochs)
    return found


def _batches(pairs: TrainingPairs, epoch: int, size: int) -> Iterator[tuple[Ints, Floats]]:
    """Yield the pairs of an epoch and their labels, shuffled, in batches of about equal size."""
    chosen = pairs.of_epoch(epoch)
    order = permutation(len(chosen), derive_seed("encoder", pairs.seed, epoch))
    for rows in np.array_split(order, -(-len(order) // size)):
        yield chosen.pairs[rows], chosen.labels[rows]


@torch.no_grad()
def _scored(model: Encoder, x: Tensor, adjacency: Adjacency, pairs: PairSet) -> Floats:
    scores: Floats = _dot(model(x, adjacency), pairs.pairs).numpy()
    return scores


def _value(scores: Floats, pairs: PairSet, monitor: LinkMetric) -> tuple[float, float]:
    found = link_metrics(scores[: len(pairs.positive)], scores[len(pairs.positive) :], (monitor, "auc"))
    return found[monitor], found["auc"]


def _inputs(graph: Graph, dim: int) -> Tensor:
    """Return standardized features, or learned columns without features. [N, F]"""
    rows = feature_rows(graph, np.arange(graph.num_nodes))
    if rows is None:
        learned: Tensor = torch.randn(graph.num_nodes, dim) / dim**0.5
        return learned.requires_grad_()
    x = torch.from_numpy(rows)
    scaled: Tensor = (x - x.mean(dim=0)) / x.std(dim=0, correction=0).clamp(min=1e-6)
    return scaled


def _adjacency(graph: Graph) -> Adjacency:
    indptr, indices = (torch.from_numpy(np.array(part, dtype=np.int64)) for part in graph.lists)
    return Adjacency(indptr, indices)


def _dot(embedding: Tensor, pairs: Ints) -> Tensor:
    first, second = torch.from_numpy(pairs).unbind(1)
    return (embedding[first] * embedding[second]).sum(dim=1)
