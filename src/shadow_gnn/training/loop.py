"""Loop: training on Lightning Fabric, from a model and its loaders to a history of epochs.

Not for: files (training/runs/run.py), printing (cli) or building a model (build.py).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from shadow_gnn.base.bf16 import check_bf16
from shadow_gnn.base.cpu_time import cpu_seconds
from shadow_gnn.base.errors import TrainingError
from shadow_gnn.base.metric_order import is_better
from shadow_gnn.base.ranks import ALONE, Ranks
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import BatchSource, RankPart, derive_seed
from shadow_gnn.loading.side_by_side import aligned
from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.tasks.metrics import Metric, Scores, monitored
from shadow_gnn.tasks.task import Task
from shadow_gnn.training.accelerator import check_accelerator
from shadow_gnn.training.average import WeightAverage
from shadow_gnn.training.checkpoint import Checkpoint, averages_of, restore_training
from shadow_gnn.training.schedule import learning_rate


@dataclass(frozen=True)
class Epoch:
    """Results of one pass over the training targets."""

    number: int
    """From 0."""
    loss: float
    """Mean over the targets."""
    learning_rate: float
    """Of the last step."""
    seconds: float
    """Time of the training steps."""
    extraction_seconds: float
    """Part of it spent waiting for batches."""
    train: dict[str, float] = field(default_factory=dict)
    """The monitored metric over the training targets, measured during the epoch."""
    valid: dict[str, float] = field(default_factory=dict)
    """Metrics of the validation targets; empty if they were not evaluated."""
    cpu_seconds: float = 0.0
    """CPU time of the training steps in this process; 0 in runs of earlier versions."""


@dataclass(frozen=True)
class Step:
    """Results of one step."""

    epoch: int
    """Number of the epoch, from 0."""
    number: int
    """Number of the step in its epoch, from 0."""
    num_steps: int
    """Steps of an epoch."""
    loss: float
    """Mean over the step's targets."""


@dataclass(frozen=True, eq=False)
class TrainingState:
    """State of training after an epoch: the content of a checkpoint."""

    model: nn.Module
    """With the current weights."""
    optimizer: Optimizer
    """With its current state."""
    history: tuple[Epoch, ...]
    """Every epoch so far."""
    monitor: Metric
    """The metric that chooses the best epoch."""
    average: WeightAverage | None = None
    """The average of the weights, which is validated and kept in their place; None for none."""

    @property
    def best(self) -> Epoch | None:
        """The epoch with the best validation, the first of equal ones; the last epoch if none was evaluated."""
        best: Epoch | None = None
        for epoch in self.history:
            so_far = None if best is None else best.valid[self.monitor]
            if epoch.valid and is_better(self.monitor, epoch.valid[self.monitor], so_far):
                best = epoch
        return best or (self.history[-1] if self.history else None)


class Watcher(Protocol):
    """Receives the events of training."""

    def on_step(self, step: Step) -> None:
        """Handle the end of a step."""
        ...

    def on_epoch(self, state: TrainingState) -> None:
        """Handle the end of an epoch, for example by writing a checkpoint."""
        ...


class Silent:
    """A watcher that does nothing."""

    def on_step(self, step: Step) -> None:
        """Do nothing."""

    def on_epoch(self, state: TrainingState) -> None:
        """Do nothing."""


@dataclass(frozen=True, eq=False)
class FitOptions:
    """Optional settings of fit.

    >>> sg.FitOptions(seed=1).keep_best
    True
    """

    seed: int = 0
    """Seed of dropout and DropEdge, with epoch and step; loaders have their own seeds."""
    validate: Callable[[nn.Module], Mapping[str, float]] | None = None
    """Returns the validation metrics of the model."""
    watcher: Watcher = field(default_factory=Silent)
    """Receives steps and epochs."""
    checkpoint: Checkpoint | None = None
    """Checkpoint to resume from; None to begin."""
    keep_best: bool = True
    """Restore the weights of the best validated epoch at the end, averaged if training averages them, at the cost of a
    copy in memory; otherwise the model ends with the weights of the last step."""
    fabric: Any = None
    """A launched lightning_fabric.Fabric; None makes one from the settings."""
    ranks: Ranks = ALONE
    """Processes that share every batch and end with the same weights."""


class _Parcel:
    """Hides batches from Fabric, which would convert the types it knows."""

    def __init__(self, batches: tuple[Batch, ...]) -> None:
        self.batches = batches


class _Trainee(nn.Module):
    """The model with its loss, as one forward."""

    def __init__(self, model: nn.Module, task: Task) -> None:
        super().__init__()
        self.model = model
        self._task = task

    def forward(self, parcel: _Parcel) -> tuple[Tensor, Tensor]:
        batches = parcel.batches
        if batches[0].y is None:
            raise ValueError("fit: batches must have labels, the graph has none")
        logits = self.model(batches)
        return self._task.loss(logits, batches[0].y, batches[0].target_weight), logits


def make_fabric(settings: TrainingRecipe, ranks: Ranks = ALONE) -> Any:
    """Return a launched Fabric for the ranks with the precision and accelerator of the settings."""
    check_accelerator(settings.accelerator)
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.ddp import DDPStrategy

    # Weights in float64 stay unchanged: Fabric's own float64 would round the loss.
    precision: Any = "bf16-mixed" if settings.precision == "bf16" else "32-true"
    # Fabric announces its precision on stderr, which belongs to the command line.
    logger = logging.getLogger("lightning_fabric")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        fabric = Fabric(
            accelerator=settings.accelerator,
            devices=ranks.num_local,
            num_nodes=ranks.num_ranks // ranks.num_local,
            strategy="auto" if ranks.alone else DDPStrategy(),
            precision=precision,
        )
        if not ranks.alone:
            fabric.launch()
    finally:
        logger.setLevel(level)
    if settings.precision == "bf16" and fabric.device.type == "cpu":
        check_bf16()
    return fabric


def make_optimizer(model: nn.Module, settings: TrainingRecipe) -> Optimizer:
    """Return the optimizer of the settings, in the fused form that touches each weight once."""
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return kind(weights, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)


def fit(
    model: nn.Module,
    loaders: Sequence[BatchSource],
    task: Task,
    settings: TrainingRecipe | None = None,
    options: FitOptions | None = None,
) -> TrainingState:
    """Train a model on the targets of its loaders, one for each branch, and return the final state.

    model(batches) gives logits [B, C] for a tuple of batches. Torch's generator is seeded again in every step.

    >>> model = sg.build_model(sg.ModelRecipe(hidden_dim=8), in_dim=2, out_dim=2, seed=0)
    >>> loader = sg.Loader(graph, extract.PprExtractor(topk=6), graph.splits["train"], shuffle=True, model=model)
    >>> state = sg.fit(model, [loader], sg.node_task(graph), sg.TrainingRecipe(num_epochs=2))
    >>> len(state.history)
    2
    """
    settings, options = settings or TrainingRecipe(), options or FitOptions()
    monitor = monitored(task, settings.monitor)
    if not options.ranks.alone:
        check_shareable(model)
    fabric = options.fabric or make_fabric(settings, options.ranks)
    optimizer = make_optimizer(model.to(fabric.device), settings)
    trainee, stepper = fabric.setup(_Trainee(model, task), optimizer)
    loop = _Loop(fabric, trainee, stepper, tuple(loaders), task, settings, options)
    history: tuple[Epoch, ...] = ()
    average = WeightAverage(model, settings.average) if settings.average else None
    if options.checkpoint is not None:
        restore_training(options.checkpoint, model, optimizer)
        if average is not None:
            average.restore(averages_of(options.checkpoint))
        history = tuple(Epoch(**epoch) for epoch in options.checkpoint.content["history"])
    state = TrainingState(model, optimizer, history, monitor, average)
    best_weights: dict[str, Tensor] = {}
    while len(state.history) < settings.num_epochs and not stops_early(state, settings):
        epoch = loop.train(state)
        with nullcontext() if average is None else average.in_use():
            if options.validate is not None and _is_due(epoch.number, settings):
                epoch = replace(epoch, valid=dict(options.validate(model)))
            state = replace(state, history=(*state.history, epoch))
            if options.keep_best and state.best is epoch:
                best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        options.watcher.on_epoch(state)
    if best_weights:
        model.load_state_dict(best_weights)
    return state


def check_shareable(model: nn.Module) -> None:
    """Raise if a model has batch statistics, which differ between a whole batch and the share of a rank."""
    from torch.nn.modules.batchnorm import _BatchNorm

    for name, module in model.named_modules():
        if isinstance(module, _BatchNorm):
            raise ValueError(
                f"fit: layers must not use batch statistics in training with several processes, "
                f"got {type(module).__name__} in {name}; train it as one process"
            )


def stops_early(state: TrainingState, settings: TrainingRecipe) -> bool:
    """Tell whether the best epoch is at least `patience` epochs ago."""
    best = state.best
    if settings.patience == 0 or best is None or not best.valid:
        return False
    return state.history[-1].number - best.number >= settings.patience


def _is_due(epoch: int, settings: TrainingRecipe) -> bool:
    """Tell whether an epoch is validated: every evaluate_every-th, and the last."""
    return (epoch + 1) % settings.evaluate_every == 0 or epoch + 1 == settings.num_epochs


@dataclass(frozen=True, eq=False)
class _Loop:
    """The fixed parts of a training loop."""

    fabric: Any
    trainee: nn.Module
    optimizer: Any
    loaders: tuple[BatchSource, ...]
    task: Task
    settings: TrainingRecipe
    options: FitOptions

    def train(self, state: TrainingState) -> Epoch:
        """Train one epoch."""
        cpu_begin = cpu_seconds()  # The first look at a loader may count the subgraphs of GraphSAINT.
        number, num_steps = len(state.history), len(self.loaders[0])
        if num_steps == 0:
            raise ValueError("fit: loaders must give at least one batch, got none")
        scores = Scores(self.task, (state.monitor,))
        begin, waited, num_targets, total = time.perf_counter(), 0.0, 0, 0.0
        self.trainee.train()
        ranks = self.options.ranks
        with aligned(self.loaders, number, self.fabric.device, RankPart(ranks.rank, ranks.num_ranks)) as batches:
            for step in range(num_steps):
                asked = time.perf_counter()
                parcel = _Parcel(next(batches))
                waited += time.perf_counter() - asked
                rate = self._rate(state, step, num_steps)
                loss, count, logits = self._step(parcel, number, step, rate)
                if state.average is not None:
                    state.average.update(number * num_steps + step + 1)
                if not parcel.batches[0].filler:
                    scores.update(logits.detach(), cast(Tensor, parcel.batches[0].y))
                num_targets += count
                total += loss * count
                self.options.watcher.on_step(Step(number, step, num_steps, loss))
        seconds = time.perf_counter() - begin
        scores.bring_to_main(ranks)
        measured = scores.compute() if ranks.is_main else {}
        cpu = cpu_seconds() - cpu_begin
        epoch = Epoch(number, total / num_targets, rate, seconds, waited, measured, cpu_seconds=cpu)
        return Epoch(**ranks.from_main(asdict(epoch)))

    def _rate(self, state: TrainingState, step: int, num_steps: int) -> float:
        measured = [epoch.valid[state.monitor] for epoch in state.history if epoch.valid]
        return learning_rate(self.settings, len(state.history), step, num_steps, measured, monitor=state.monitor)

    def _step(self, parcel: _Parcel, epoch: int, step: int, rate: float) -> tuple[float, int, Tensor]:
        """Make one step; return loss and number of targets over all ranks, and the logits of this rank.

        A loss or gradient that is not finite changes no weight.
        """
        seed_step(self.options.seed, epoch, step, self.fabric.device, rank=self.options.ranks.rank)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss, logits = self.trainee(parcel)
        self.optimizer.zero_grad(set_to_none=True)
        mean, count, factor = self._everywhere(loss.detach(), 0 if parcel.batches[0].filler else len(logits))
        self.fabric.backward(loss * factor)
        largest = self.settings.clip_norm or math.inf
        norm = self.fabric.clip_gradients(self.trainee, self.optimizer, max_norm=largest, error_if_nonfinite=False)
        value, size, num_targets = torch.stack((mean, norm, count)).tolist()  # one wait for the device, not three
        if not (math.isfinite(value) and math.isfinite(size)):
            raise TrainingError(_not_finite(value, size, epoch, step, self._target_ids(parcel.batches[0])))
        self.optimizer.step()
        return value, int(num_targets), logits

    def _everywhere(self, loss: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor | float]:
        """Return the mean loss and number of targets over all ranks, and the factor of this rank's loss.

        With this factor, the strategy's mean of gradients over ranks is the mean over all targets.
        """
        own = loss.new_tensor(count)
        if self.fabric.world_size == 1:
            return loss, own, 1.0
        both = torch.stack((loss * own if count else own, own))  # The loss of a filler may be nan.
        total, everywhere = self.fabric.all_reduce(both, reduce_op="sum")
        return total / everywhere, everywhere, own * self.fabric.world_size / everywhere

    def _target_ids(self, batch: Batch) -> list[int]:
        """Return the first nodes of a step's targets, gathered from all ranks on the main one."""
        own = batch.targets[:0, 0] if batch.filler else batch.targets[:, 0]
        return [node for part in self.options.ranks.gather(own.cpu()) for node in part.tolist()]


def seed_step(seed: int, epoch: int, step: int, device: torch.device, *, rank: int = 0) -> None:
    """Seed torch's default generator of a device by (seed, epoch, step, rank)."""
    value = derive_seed(f"step {step} of rank {rank}" if rank else f"step {step}", seed, epoch)
    # torch.manual_seed would seed every device, which costs 0.4 ms a step.
    torch.default_generator.manual_seed(value)
    if device.type == "cuda":
        torch.cuda.manual_seed(value)
    elif device.type == "mps":
        torch.mps.manual_seed(value)


def _not_finite(loss: float, norm: float, epoch: int, step: int, ids: list[int]) -> str:
    shown = ", ".join(map(str, ids[:20])) + (f" and {len(ids) - 20} more" if len(ids) > 20 else "")
    what = (
        f"loss must be finite, got {loss}"
        if not math.isfinite(loss)
        else f"gradient must be finite, its norm is {norm}"
    )
    return (
        f"training: {what} in epoch {epoch + 1}, step {step + 1}, targets {shown}; try a lower training.learning_rate"
    )
