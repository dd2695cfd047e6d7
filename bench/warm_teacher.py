"""Warm teacher: training on scopes with the logits of a normal GNN as soft targets, from its weights.

Not for: training without a teacher (warm_start.py), whose normal runs this script reads.

python bench/warm_teacher.py debian my-graph --weight 0.5 --normal-epochs 300
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from warm_start import FOLDER, Job, Settings

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.files import write_file
from shadow_gnn.loading.loader import Loader
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate, outputs
from shadow_gnn.training.first_weights import open_source, take_weights
from shadow_gnn.training.run_setup import make_setup, model_config, open_recipe_graph, whole_graph


def trained(job: Job, weight: float, *, unlabeled: bool) -> list[float]:
    """Return the validation accuracy after each epoch; weight: share of the teacher in the loss of labeled targets.

    unlabeled: all other nodes are targets too, with the teacher alone.
    """
    graph, recipe = open_recipe_graph(job.graph), job.recipe()
    setup, source = make_setup(recipe, graph), open_source(FOLDER / "runs" / job.normal.name)
    take_weights(setup.model, model_config(setup), source, job.normal.name)
    model, settings = setup.model, recipe.training
    everything = whole_graph(graph, np.arange(graph.num_nodes), None)
    teacher = torch.cat([output.logits for output in outputs(source.model, everything)]).softmax(dim=1)
    train = split_targets(graph, "train")
    known = torch.zeros(graph.num_nodes, dtype=torch.bool)
    known[torch.from_numpy(train)] = True
    targets = np.arange(graph.num_nodes) if unlabeled else train
    (extractor,) = setup.training_extractors
    loader = Loader(graph, extractor, targets, model=model, batch_size=128, shuffle=True, seed=recipe.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)
    scores = []
    for epoch in range(settings.num_epochs):
        model.train()
        for step, batch in enumerate(loader.epoch(epoch)):
            done = (epoch + step / len(loader)) / settings.num_epochs
            optimizer.param_groups[0]["lr"] = settings.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
            node, logs = batch.targets[:, 0], model((batch,)).log_softmax(dim=1)
            assert batch.y is not None
            soft = -(teacher[node] * logs).sum(dim=1)
            hard = functional.nll_loss(logs, batch.y.clamp(min=0), reduction="none")
            loss = torch.where(known[node], (1 - weight) * hard + weight * soft, soft).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
            optimizer.step()
        scores.append(evaluate(model, setup.split_loaders("valid"), setup.task)["accuracy"])
    return scores


def main() -> None:
    """Train on each graph that has no result yet, and print the validation accuracies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", help="graph folders or names")
    parser.add_argument("--weight", type=float, default=0.5, help="share of the teacher in the loss")
    parser.add_argument("--unlabeled", action="store_true", help="all other nodes are targets too")
    parser.add_argument("--normal-epochs", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0.0005)
    given = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    for graph in given.graphs:
        settings = Settings(given.normal_epochs, given.epochs, 0, given.rate, (100,), (0.2609,), 0)
        job = Job("warm", graph, settings, 100, 0.2609)
        path = FOLDER / "teacher" / f"{job.name}-{given.weight}-{given.unlabeled}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            begin = time.process_time()
            scores = trained(job, given.weight, unlabeled=given.unlabeled)
            write_file(path, json.dumps({"valid": scores, "cpu_seconds": time.process_time() - begin}).encode())
        found = json.loads(path.read_text())
        print(f"{Path(graph).name}: {max(found['valid']):.4f}, {found['cpu_seconds']:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
