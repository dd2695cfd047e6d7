"""Speed against another checkout: extraction, a training step and a collated batch, by both in turns on one thread.

Each turn is a process of its own that prints the least CPU time of its repetitions; the ratio is that of the medians of
all turns. The other checkout needs an environment with its core built.

python bench/against.py OTHER/.venv/bin/python --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

WORK = ("ppr", "heat", "khop", "full", "collate", "step")
MOST = 1.02


def least_cpu(run: Callable[[], object], repetitions: int) -> float:
    """Return the least CPU milliseconds of a call."""
    run()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        run()
        times.append(1000 * (time.process_time() - begin))
    return min(times)


def worker(data: Path) -> None:
    """Measure the package of this environment and print the milliseconds as JSON."""
    import torch

    from shadow_gnn import Recipe
    from shadow_gnn.extract import FullExtractor, HeatExtractor, KhopExtractor, PprExtractor
    from shadow_gnn.graph.record import DenseFeatures, Graph
    from shadow_gnn.loading.batch import collate
    from shadow_gnn.training.loop import fit
    from shadow_gnn.training.run_setup import make_setup

    torch.set_num_threads(1)
    arrays, rng = np.load(data / "ogbn-arxiv.npz"), np.random.default_rng(0)
    indptr, num_nodes = arrays["indptr"], len(arrays["indptr"]) - 1
    nodes = np.sort(rng.choice(num_nodes, 1000, replace=False))
    graph = Graph(
        indptr=indptr,
        indices=arrays["indices"],
        directed=False,
        x=DenseFeatures(rng.normal(size=(num_nodes, 128)).astype(np.float32)),
        y=arrays["labels"],
        splits={"train": nodes[:640], "valid": nodes[640:700]},
    )
    kinds = {
        "ppr": (PprExtractor(topk=200), 3),
        "heat": (HeatExtractor(topk=200), 3),
        "khop": (KhopExtractor(num_hops=2, fanout=20), 40),
        "full": (FullExtractor(num_hops=1), 40),
    }
    found = {}
    for name, (extractor, repetitions) in kinds.items():
        alone = replace(extractor, num_threads=1)
        found[name] = least_cpu(lambda alone=alone: alone(graph, nodes), repetitions)  # type: ignore[misc]
    scopes = replace(kinds["ppr"][0], num_threads=1)(graph, nodes[:128])
    found["collate"] = least_cpu(lambda: collate(graph, scopes), 40)
    table = {
        "graph": "memory",
        "extractor": {"kind": "ppr", "topk": 200},
        "model": {"layer": "sage", "num_layers": 5, "hidden_dim": 256},
        "training": {"num_epochs": 4, "batch_size": 128},
    }
    recipe = Recipe.model_validate(table)
    setup = make_setup(recipe, graph)
    epochs = fit(setup.model, setup.training_loaders(), setup.task, recipe.training).history
    found["step"] = min(1000 * epoch.cpu_seconds / 5 for epoch in epochs[1:])
    sys.stdout.write(json.dumps(found) + "\n")


def main() -> None:
    """Measure both in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="Python of the other checkout's environment")
    parser.add_argument("--data", type=Path, required=True, help="folder with ogbn-arxiv.npz")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        worker(chosen.data)
        return
    if chosen.other is None:
        parser.error("the Python of the other checkout must be given")
    sides: dict[str, list[dict[str, float]]] = {str(chosen.other): [], sys.executable: []}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for _ in range(chosen.rounds):
        for python, rounds in sides.items():
            command = [python, __file__, "--worker", "--data", str(chosen.data)]
            answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            rounds.append(json.loads(answer.stdout))
    before, after = sides.values()
    sys.stdout.write(f"{'work':8} {'other ms':>9} {'here ms':>9} {'ratio':>6}\n")
    for name in WORK:
        old, new = (statistics.median(one[name] for one in rounds) for rounds in (before, after))
        word = "PASS" if new <= MOST * old else "FAIL"
        sys.stdout.write(f"{name:8} {old:9.2f} {new:9.2f} {new / old:6.3f} {word}\n")


if __name__ == "__main__":
    main()
