"""Evaluate: run a model over the batches of its loaders, and compute metrics.

Not for: predictions of a finished model (inference/predictor.py) or training (loop.py).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from shadow_gnn.base.bf16 import check_bf16
from shadow_gnn.base.ranks import ALONE, Ranks
from shadow_gnn.base.short_repr import as_html, as_line
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import BatchSource, RankPart
from shadow_gnn.loading.side_by_side import aligned
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.normal.layerwise import Precision
from shadow_gnn.normal.whole import WholeGraph
from shadow_gnn.tasks.metrics import DegreeBucket, DegreeScores, Scores
from shadow_gnn.tasks.report import Report
from shadow_gnn.tasks.task import NodeTask, Task
from shadow_gnn.tasks.thresholds import LabelCounts

Sources = Sequence[BatchSource] | WholeGraph
"""Inputs of a model: a loader for each branch, or a whole graph for a normal GNN."""
_BLOCK_TARGETS = 1 << 14
OnBatch = Callable[[int, int], None]
"""Called as (targets done, targets in all)."""


@dataclass(frozen=True, eq=False)
class Output:
    """Outputs of the model for the targets of one batch, in the order of the loader's targets."""

    node_id: Tensor
    """[B], of pairs [B, 2]."""
    logits: Tensor
    """[B, C] float32."""
    y: Tensor | None
    """[B] or [B, C] labels; None if the graph has none."""
    embedding: Tensor | None
    """[B, H] float32, the input of the head; None unless requested."""


OnOutput = Callable[[Output], None]


@dataclass(frozen=True)
class Evaluation:
    """Metrics of a model on some targets."""

    num_targets: int
    """Targets with known labels."""
    metrics: dict[str, float]
    """By name."""
    by_degree: list[DegreeBucket]
    """The first metric, by degree of the target."""
    report: Report | None = None
    """Classes one by one, calibration and the surest errors; None unless requested."""

    def __repr__(self) -> str:
        """Show the metrics in one line."""
        return as_line("Evaluation", self._facts())

    def _repr_html_(self) -> str:
        """Show the metrics as a table in a notebook."""
        return as_html("Evaluation", self._facts())

    def _facts(self) -> dict[str, str]:
        return {"targets": f"{self.num_targets:,}", **{name: f"{value:.4f}" for name, value in self.metrics.items()}}


def outputs(
    model: nn.Module,
    loaders: Sources,
    *,
    precision: Precision = "float32",
    embedding: bool = False,
    on_batch: OnBatch | None = None,
    ranks: Ranks = ALONE,
) -> Iterator[Output]:
    """Run the model in eval mode over the first epoch of its loaders, which must not shuffle.

    A normal GNN reads a WholeGraph instead of loaders. embedding: also give the joined embeddings; the model must then
    have `embed` and `head`, like ShadowGNN. ranks: they take the batches of a single process in turn; the main rank
    gets all outputs in order, the others none.

    >>> loader = sg.Loader(graph, extract.PprExtractor(topk=6), [0, 7], model=model)
    >>> [output.logits.shape for output in sg.outputs(model, [loader])]
    [torch.Size([2, 2])]
    """
    if isinstance(loaders, WholeGraph):
        if ranks.is_main:
            yield from _whole_outputs(cast(ShadowGNN, model), loaders, precision, embedding, on_batch)
        return
    own = _own_outputs(model, loaders, precision, embedding, RankPart(ranks.rank, ranks.num_ranks, "deal"))
    with closing(own):
        if not ranks.is_main:
            for output in own:
                ranks.send_to_main((output.node_id, output.logits, output.y, output.embedding))
            return
        done = 0
        for number in range(len(loaders[0])):
            rank = number % ranks.num_ranks
            output = next(own) if rank == 0 else Output(*cast(tuple[Any, ...], ranks.receive(rank)))
            yield output
            done += len(output.logits)
            if on_batch is not None:
                on_batch(done, len(loaders[0].targets))


def _own_outputs(
    model: nn.Module, loaders: Sequence[BatchSource], precision: Precision, embedding: bool, part: RankPart
) -> Generator[Output, None, None]:
    """Run the model over one process's batches."""
    if any(loader.shuffle for loader in loaders):
        raise ValueError("outputs: loaders must not shuffle, one of them does")
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    if precision == "bf16" and device.type == "cpu":
        check_bf16()
    was_training = model.training
    model.eval()
    try:
        with aligned(loaders, 0, device, part) as epoch:
            for batches in epoch:
                logits, embedded = forward(model, batches, device, precision, embedding)
                targets = batches[0].targets
                node_id = targets[:, 0] if targets.shape[1] == 1 else targets
                yield Output(node_id, logits, batches[0].y, embedded)
    finally:
        model.train(was_training)


def _whole_outputs(
    model: ShadowGNN, whole: WholeGraph, precision: Precision, embedding: bool, on_batch: OnBatch | None
) -> Iterator[Output]:
    """Compute all targets in one pass, then yield them in blocks."""
    was_training = model.training
    model.eval()
    try:
        embedded = whole.embed(model, precision=precision)
        device = next(model.parameters()).device
        for start in range(0, len(embedded), _BLOCK_TARGETS):
            nodes = np.array(whole.targets[start : start + _BLOCK_TARGETS])  # A split in a file is read-only.
            part = embedded[start : start + _BLOCK_TARGETS]
            with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
                logits = model.head(part.to(device)).float().cpu()
            labels = array_rows(whole.graph, "y", nodes)
            y = None if labels is None else torch.from_numpy(labels)
            yield Output(torch.from_numpy(nodes), logits, y, part.float() if embedding else None)
            if on_batch is not None:
                on_batch(start + len(nodes), len(embedded))
    finally:
        model.train(was_training)


def evaluate(
    model: nn.Module,
    loaders: Sources,
    task: Task,
    *,
    precision: Precision = "float32",
    on_batch: OnBatch | None = None,
    ranks: Ranks = ALONE,
) -> dict[str, float]:
    """Return the task's metrics over the loaders' targets, the same on all ranks; labels must be known.

    >>> loader = sg.Loader(graph, extract.PprExtractor(topk=6), graph.splits["test"], model=model)
    >>> sorted(sg.evaluate(model, [loader], sg.node_task(graph)))
    ['accuracy', 'macro_f1', 'micro_f1']
    """
    scores = Scores(task)
    for output in outputs(model, loaders, precision=precision, on_batch=on_batch, ranks=ranks):
        scores.update(output.logits, _labels(output))
    found: dict[str, float] = ranks.from_main(scores.compute())
    return found


def with_thresholds(
    model: nn.Module, loaders: Sources, task: NodeTask, *, precision: Precision = "float32", ranks: Ranks = ALONE
) -> tuple[NodeTask, dict[str, float]]:
    """Return a task of several labels with the best threshold of each over the loaders' targets, and its metrics."""
    counts = LabelCounts(task.out_dim)
    for output in outputs(model, loaders, precision=precision, ranks=ranks):
        counts.update(output.logits, _labels(output))
    threshold = counts.choose()
    found: tuple[list[float], dict[str, float]] = ranks.from_main((threshold.tolist(), counts.metrics(threshold)))
    return replace(task, threshold=torch.tensor(found[0])), found[1]


def evaluate_by_degree(
    model: nn.Module,
    loaders: Sources,
    task: NodeTask,
    *,
    precision: Precision = "float32",
    on_batch: OnBatch | None = None,
    on_output: OnOutput | None = None,
) -> Evaluation:
    """Return the task's metrics over the loaders' targets, also by the degree of the targets in the graph.

    on_output: receives the outputs of each batch as well.
    """
    scores, by_degree, count = Scores(task), DegreeScores(task), 0
    graph = (loaders if isinstance(loaders, WholeGraph) else loaders[0]).graph
    for output in outputs(model, loaders, precision=precision, on_batch=on_batch):
        node_id = output.node_id.numpy()
        degree = torch.from_numpy(graph.degrees(node_id))
        scores.update(output.logits, _labels(output))
        by_degree.update(output.logits, _labels(output), degree)
        if on_output is not None:
            on_output(output)
        count += len(node_id)
    return Evaluation(count, scores.compute(), by_degree.compute())


def forward(
    model: nn.Module, batches: tuple[Batch, ...], device: torch.device, precision: Precision, embedding: bool
) -> tuple[Tensor, Tensor | None]:
    """Return the logits of a batch, float32 on the CPU, and the inputs of the head if embedding is set."""
    autocast = torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
    with torch.inference_mode(), autocast:
        if not embedding:
            return model(batches).float().cpu(), None
        embedded = model.embed(batches)  # type: ignore[operator]
        return model.head(embedded).float().cpu(), embedded.float().cpu()  # type: ignore[operator]


def _labels(output: Output) -> Tensor:
    if output.y is None:
        raise ValueError("evaluate: graph must have labels, got one without")
    return output.y.cpu()
