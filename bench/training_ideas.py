"""Training ideas: averages of weights, smoothed labels, other scopes in each epoch, next to the default on scopes.

Not for: inputs from outside the scope (breadth_ideas.py). Findings: docs/what-was-tried.md.
Usage: python bench/training_ideas.py GRAPH... --ideas plain smoothing
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from common import Report
from torch import Tensor, nn
from torch.nn import functional

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.extract import BaseExtractor, CachedExtractor, StochasticPprExtractor, Subgraphs, induce
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import BatchSource
from shadow_gnn.loading.loader import Loader
from shadow_gnn.recipe.file import change_recipe
from shadow_gnn.tasks.task import NodeTask
from shadow_gnn.training.average import WeightAverage
from shadow_gnn.training.defaults import choose_recipe, graph_facts, normal_recipe
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import FitOptions, Silent, Step, TrainingState, fit
from shadow_gnn.training.run_setup import RunSetup, make_setup, open_recipe_graph

Wrap = Callable[[RunSetup, Loader], Sequence[BatchSource]]
DECAYS = (0.9, 0.98, 0.99, 0.999)
"""Weight averages that are measured during one training: they do not change its steps."""


@dataclass(frozen=True, eq=False)
class DropNode(BaseExtractor):
    """Scopes of another extractor without a share of their nodes, drawn anew each time, low scores first."""

    kind = "drop-node"

    inner: CachedExtractor | None = None
    share: float = 0.3

    @property
    def deterministic(self) -> bool:
        return False

    def choose(self, graph: Graph, targets: np.ndarray, seed: int) -> Subgraphs:
        assert self.inner is not None
        whole = self.inner(graph, targets, seed=seed)
        rng = np.random.default_rng((seed, int(targets.sum())))
        keys = np.log(np.maximum(whole.score, 1e-12)) + rng.gumbel(size=len(whole.score))
        parts = []
        for begin, end in zip(whole.ptr[:-1], whole.ptr[1:], strict=True):
            kept = begin + np.argsort(-keys[begin:end])[: max(1, round((1 - self.share) * (end - begin)))]
            parts.append(kept[np.argsort(-whole.score[kept], kind="stable")])
        rows = np.concatenate(parts)
        ptr = np.concatenate(([0], np.cumsum([len(part) for part in parts])))
        return induce(graph, targets, ptr, whole.node_id[rows], whole.score[rows], num_threads=1)


@dataclass(frozen=True, eq=False)
class TwoScopesTask(NodeTask):
    """The mean loss of two predictions of each target, and a pull towards each other."""

    pull: float = 1.0

    def loss(self, logits: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
        first, second = (functional.log_softmax(part.float(), dim=1) for part in logits.chunk(2, dim=1))
        mean = ((first.exp() + second.exp()) / 2).clamp(min=1e-12).log()
        apart = sum(functional.kl_div(mean, part, log_target=True, reduction="batchmean") for part in (first, second))
        return (functional.nll_loss(first, y) + functional.nll_loss(second, y) + self.pull * apart) / 2

    def predictions(self, logits: Tensor) -> Tensor:
        return logits[:, : self.out_dim].argmax(dim=1)


class TwoScopes(nn.Module):
    """A model that predicts each target from two scopes in training and from one in evaluation."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batches: Sequence[Batch]) -> Tensor:
        return torch.cat([self.model((batch,)) for batch in batches], dim=1)


def _with(loader: Loader, setup: RunSetup, extractor: BaseExtractor) -> Loader:
    options = {"batch_size": loader.batch_size, "shuffle": True, "seed": loader.seed, "inputs": loader.inputs}
    return Loader(loader.graph, extractor, loader.targets, model=setup.model, **options)


def _drop_nodes(setup: RunSetup, loader: Loader) -> list[BatchSource]:
    assert isinstance(loader.extractor, CachedExtractor)
    return [_with(loader, setup, DropNode(inner=loader.extractor))]


def _two_scopes(setup: RunSetup, loader: Loader) -> list[BatchSource]:
    topk = setup.recipe.extractor.topk  # type: ignore[union-attr]
    return [loader, _with(loader, setup, StochasticPprExtractor(topk=topk, num_threads=1))]


IDEAS: dict[str, tuple[tuple[str, ...], Wrap | None]] = {
    "plain": ((), None),
    "constant": (("training.schedule=constant",), None),
    "smoothing": (("training.label_smoothing=0.1",), None),
    "stochastic": (("extractor.kind=stochastic-ppr",), None),
    "drop nodes": ((), _drop_nodes),
    "consistency": ((), _two_scopes),
    "transformer": (("model.layer=transformer",), None),
}
"""Changes of the recipe, and of the loader of training."""
AVERAGED = ("plain", "constant")
"""Ideas whose weights are also averaged: at the default's cosine schedule, and at a constant learning rate."""


@dataclass
class Watch(Silent):
    """Evaluates averages of the weights after each epoch, without an effect on training."""

    validate: Callable[[nn.Module], dict[str, float]]
    averages: dict[float, WeightAverage]
    best: dict[float, float] = field(default_factory=dict)

    def on_step(self, step: Step) -> None:
        for average in self.averages.values():
            average.update(step.epoch * step.num_steps + step.number + 1)

    def on_epoch(self, state: TrainingState) -> None:
        if not state.history[-1].valid:
            return
        for decay, average in self.averages.items():
            with average.in_use():
                found = self.validate(state.model)[state.monitor]
            self.best[decay] = max(found, self.best.get(decay, 0.0))


def train(
    graph: Graph,
    changes: Sequence[str],
    wrap: Wrap | None = None,
    *,
    normal: bool = False,
    decays: Sequence[float] = (),
    wrap_valid: Callable[[RunSetup, BatchSource], BatchSource] | None = None,
    learned: Callable[[NodeTask], NodeTask] | None = None,
) -> tuple[float, float, dict[float, float]]:
    """Train one variant; return the best validation accuracy, the CPU seconds of training, and those of averages.

    learned: returns the task of training if it is not that of validation.
    """
    recipe = choose_recipe(graph_facts(graph), str(graph.path)).recipe
    recipe = change_recipe(normal_recipe(recipe) if normal else recipe, changes)
    setup = make_setup(recipe, graph)
    loaders = setup.training_loaders()
    if wrap is not None:
        assert isinstance(loaders[0], Loader)
        loaders = wrap(setup, loaders[0])
    valid = setup.split_loaders("valid")
    if wrap_valid is not None:
        valid = [wrap_valid(setup, valid[0])]  # type: ignore[index]
    model, task = setup.model, setup.task
    assert isinstance(task, NodeTask)
    if learned is not None:
        task = learned(task)
    if len(loaders) == 2:
        model, task = TwoScopes(model), TwoScopesTask(task.target, task.out_dim)  # type: ignore[assignment]
    validating = 0.0

    def validate(_: nn.Module) -> dict[str, float]:
        nonlocal validating
        begin = time.process_time()
        found = evaluate(setup.model, valid, setup.task)
        validating += time.process_time() - begin
        return found

    watch = Watch(validate, {decay: WeightAverage(model, decay) for decay in decays})
    begin = time.process_time()
    options = FitOptions(validate=validate, watcher=watch, keep_best=False)
    best = fit(model, loaders, task, recipe.training, options).best
    assert best is not None
    return best.valid["accuracy"], time.process_time() - begin - validating, watch.best


def main() -> None:
    """Train every variant on every graph and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--ideas", nargs="+", choices=IDEAS, default=list(IDEAS))
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--decays", nargs="*", type=float, default=DECAYS, help="averages to measure as well")
    parser.add_argument("--normal", action="store_true", help="a normal GNN, with 300 epochs")
    chosen = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    report = Report("Training ideas, the default", ("graph", "idea", "valid", "CPU s"))
    for path in chosen.graphs:
        graph = open_recipe_graph(path)
        for name in chosen.ideas:
            changes, wrap = IDEAS[name]
            epochs = 300 if chosen.normal else chosen.epochs
            changes = (*changes, f"training.num_epochs={epochs}")
            found = train(graph, changes, wrap, normal=chosen.normal, decays=chosen.decays if name in AVERAGED else ())
            rows = [(name, found[0]), *((f"{name}, average {decay}", value) for decay, value in found[2].items())]
            for label, accuracy in rows:
                report.rows.append((Path(path).name, label, f"{100 * accuracy:.2f}", f"{found[1]:.0f}"))
                print(report.rows[-1], flush=True)
    print(report.text())


if __name__ == "__main__":
    main()
