"""What several ranks do in the tests: run by torchrun as a program, and imported for what one process is to do alike.

`torchrun ... -m tests.training.distributed.scenarios FOLDER` trains every scenario and writes the results there.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import torch
from tests.communities import communities, small_recipe, with_labels
from torch import nn

from shadow_gnn.base.ranks import Ranks, join_ranks, leave_ranks
from shadow_gnn.extract import NodeExtractor
from shadow_gnn.graph.store import open_graph
from shadow_gnn.inference import resumable
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.inference.write_predictions import write_predictions
from shadow_gnn.loading.loader import Loader
from shadow_gnn.recipe import Recipe, TrainingRecipe
from shadow_gnn.tasks.task import node_task, split_targets
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.repeats import train_repeats
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe

GRAPH = communities()
PAIRS = [[3, 17], [17, 3], [5, 60], [3, 17], *([node, 119 - node] for node in range(40))]


def exact(**changes: Any) -> Recipe:
    """Return a recipe whose runs can be compared digit by digit."""
    plain = {"training__precision": "float64", "model__dropout": 0.0, "model__dropedge": 0.0}
    return small_recipe(**plain, **changes)


TWO_BRANCHES = [{"extractor": {"topk": 5}}, {"extractor": {"kind": "khop", "num_hops": 1}}]
SCENARIOS: dict[str, tuple[Recipe, str]] = {
    "scopes": (exact(training__num_epochs=13, inputs__learned_dim=2, model__encoding="hop"), "classes"),
    "a rank without targets": (exact(training__batch_size=59), "classes"),
    "class weights": (
        exact(
            training__batch_size=7,
            training__num_epochs=6,
            task__class_weights=True,
            model__layer="gat",
            model__num_heads=1,
        ),
        "classes",
    ),
    "several labels": (exact(model__layer="gin", model__readout="sort"), "multilabel"),
    "values": (exact(model__layer="gcn", model__readout="max", training__batch_size=9), "values"),
    "branches": (exact(extractor=None, branches=TWO_BRANCHES, model__ensemble="attention"), "classes"),
    "drawn scopes": (exact(extractor={"kind": "khop", "fanout": 2}, training__cache="none"), "classes"),
    "cache on disk": (exact(training__cache="disk"), "classes"),
    "packed": (exact(training__pack=True, training__batch_size=59), "classes"),
    "links": (
        exact(task__kind="link", training__batch_size=33, training__num_epochs=3, model__hidden_dim=32),
        "classes",
    ),
    "plateau": (exact(training__schedule="plateau", training__decay_epochs=1, training__num_epochs=6), "classes"),
    "neighbors": (
        exact(extractor=None, training__method="neighbor", neighbor={"fanouts": [1000]}, model__encoding="none"),
        "classes",
    ),
}
"""Recipes by name, with the labels that the graph has.

None has norms of very few numbers. The norm of the two that a head has in a GAT of width 8 with 4 heads is nearly their
sign: its gradient is next to nothing or very large, and a difference in the 16th digit grows to 1e-2 and more in 50
steps, also in one process that adds up the gradients of two halves of a batch. With one head it stays at 3e-13, and
that of links with width 32, in the place of 8, at 1e-15.
"""

REFUSED: dict[str, Recipe] = {
    "full": small_recipe(extractor=None, training__method="full", model__encoding="none"),
    "saint": small_recipe(extractor=None, training__method="saint", model__encoding="none"),
    "joint": small_recipe(training__method="joint"),
    "batch norm": small_recipe(model__layer="GENConv"),
}


def train(name: str, folder: Path) -> None:
    """Train a scenario, with as many ranks as there are."""
    recipe, labels = SCENARIOS[name]
    train_recipe(recipe, folder, options=RunOptions(graph=with_labels(GRAPH, labels)))


class Breaking(nn.Module):
    """Gives what is not finite in its third step, for one target alone."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.count = nn.Linear(3, 3), 0

    def forward(self, batches: Any) -> torch.Tensor:
        self.count += 1
        logits = self.linear(batches[0].x[batches[0].target_node[:, 0]])
        poison = torch.zeros(len(logits), 1)
        poison[-1] = math.nan if self.count == 3 else 0.0
        return logits + poison


def broken(ranks: Ranks) -> str:
    """Return what is said of a loss that is not finite."""
    loader = Loader(GRAPH, NodeExtractor(), split_targets(GRAPH, "train"), batch_size=8, shuffle=True)
    try:
        fit(Breaking(), [loader], node_task(GRAPH), TrainingRecipe(num_epochs=2), FitOptions(ranks=ranks))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing was raised"


def refusal(recipe: Recipe, folder: Path) -> str:
    """Return why a recipe is not trained."""
    try:
        train_recipe(recipe, folder, options=RunOptions(graph=GRAPH))
    except ValueError as error:
        return str(error)
    return "nothing was raised"


def predict(model: str, out: Path, root: Path, ranks: Ranks) -> None:
    """Write the predictions of a model that is there, for nodes in an odd order or for pairs."""
    trained = read_model(root / model)
    if trained.config.target == "links":
        write_predictions(out, Predictor(trained, GRAPH), PAIRS, ranks=ranks)
        return
    targets = torch.arange(120).flip(0).numpy()
    write_predictions(out, Predictor(trained, GRAPH), targets, embedding=True, ranks=ranks)


def predict_kept(out: Path, root: Path, ranks: Ranks) -> None:
    """Write the predictions of all nodes of a graph folder, as if they were many."""
    resumable.MIN_TARGETS, resumable._KEEP_SECONDS = 10, 0.0
    predictor = Predictor(read_model(root / "nodes"), open_graph(root / "graph"))
    write_predictions(out, predictor, range(120), ranks=ranks)


def main(root: Path) -> None:
    """Do everything, in one start of the ranks; each start costs seconds."""
    torch.set_num_threads(1)
    ranks = join_ranks()
    for name in SCENARIOS:
        train(name, root / "shared" / name)
    resume_run(root / "stopped", options=RunOptions(graph=GRAPH))
    train_repeats(small_recipe(training__num_epochs=2), root / "repeats", 2, RunOptions(graph=GRAPH))
    for model in ("nodes", "pairs"):
        predict(model, root / f"shared-{model}.parquet", root, ranks)
    predict_kept(root / "shared-kept.parquet", root, ranks)
    said = {name: refusal(recipe, root / "refused") for name, recipe in REFUSED.items()}
    said["not finite"] = broken(ranks)
    (root / f"said-{ranks.rank}.json").write_text(json.dumps(said))
    leave_ranks()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
