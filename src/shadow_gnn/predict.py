"""Predict: what a trained model says of targets, batch by batch, and how good it is.

Not for: tables of predictions (predictions.py) or training (train.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from shadow_gnn.aligned import aligned
from shadow_gnn.batch import Batch
from shadow_gnn.bf16 import check_bf16
from shadow_gnn.loader import BatchSource
from shadow_gnn.metrics import DegreeBucket, DegreeScores, Scores
from shadow_gnn.task import NodeTask

Precision = Literal["float32", "bf16"]
OnBatch = Callable[[int, int], None]
"""Called as (targets done, targets in all)."""


@dataclass(frozen=True, eq=False)
class Output:
    """What the model says of the targets of one batch, in the order of the loader's targets."""

    node_id: Tensor
    """[B]."""
    logits: Tensor
    """[B, C] float32."""
    y: Tensor | None
    """[B] or [B, C] labels; None if the graph has none."""
    embedding: Tensor | None
    """[B, H] float32, what the head reads; None if it was not asked for."""


@dataclass(frozen=True)
class Evaluation:
    """How good a model is on some targets."""

    num_targets: int
    """Targets with known labels."""
    metrics: dict[str, float]
    """By name."""
    by_degree: list[DegreeBucket]
    """The first metric, by degree of the target."""


def outputs(
    model: nn.Module,
    loaders: Sequence[BatchSource],
    *,
    precision: Precision = "float32",
    embedding: bool = False,
    on_batch: OnBatch | None = None,
) -> Iterator[Output]:
    """Run the model over the first epoch of its loaders, which must not shuffle; the model is in eval mode meanwhile.

    embedding: also give the joined embeddings; the model must then have `embed` and `head`, as ShadowGNN has.
    """
    if any(loader.shuffle for loader in loaders):
        raise ValueError("outputs: loaders must not shuffle, one of them does")
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    if precision == "bf16" and device.type == "cpu":
        check_bf16()
    was_training = model.training
    model.eval()
    done = 0
    try:
        with aligned(loaders, 0, device) as epoch:
            for batches in epoch:
                logits, embedded = _forward(model, batches, device, precision, embedding)
                yield Output(batches[0].targets[:, 0], logits, batches[0].y, embedded)
                done += len(logits)
                if on_batch is not None:
                    on_batch(done, len(loaders[0].targets))
    finally:
        model.train(was_training)


def evaluate(
    model: nn.Module,
    loaders: Sequence[BatchSource],
    task: NodeTask,
    *,
    precision: Precision = "float32",
    on_batch: OnBatch | None = None,
) -> dict[str, float]:
    """Return the task's metrics over the loaders' targets, whose labels must be known."""
    scores = Scores(task)
    for output in outputs(model, loaders, precision=precision, on_batch=on_batch):
        scores.update(output.logits, _labels(output))
    return scores.compute()


def evaluate_by_degree(
    model: nn.Module,
    loaders: Sequence[BatchSource],
    task: NodeTask,
    *,
    precision: Precision = "float32",
    on_batch: OnBatch | None = None,
) -> Evaluation:
    """Return the task's metrics over the loaders' targets, also by the degree that targets have in the graph."""
    scores, by_degree, count = Scores(task), DegreeScores(task), 0
    indptr = loaders[0].graph.indptr
    for output in outputs(model, loaders, precision=precision, on_batch=on_batch):
        node_id = output.node_id.numpy()
        degree = torch.from_numpy(indptr[node_id + 1] - indptr[node_id])
        scores.update(output.logits, _labels(output))
        by_degree.update(output.logits, _labels(output), degree)
        count += len(node_id)
    return Evaluation(count, scores.compute(), by_degree.compute())


def _forward(
    model: nn.Module, batches: tuple[Batch, ...], device: torch.device, precision: Precision, embedding: bool
) -> tuple[Tensor, Tensor | None]:
    cast = torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
    with torch.inference_mode(), cast:
        if not embedding:
            return model(batches).float().cpu(), None
        embedded = model.embed(batches)  # type: ignore[operator]
        return model.head(embedded).float().cpu(), embedded.float().cpu()  # type: ignore[operator]


def _labels(output: Output) -> Tensor:
    if output.y is None:
        raise ValueError("evaluate: graph must have labels, got one without")
    return output.y.cpu()
