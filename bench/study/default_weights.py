"""Default weights: how to weigh the models of the default, judged on the half of the validation targets not used.

Not for: training (default_search.py fills the folder).

python bench/study/default_weights.py FOLDER --graphs pubmed coauthor-cs
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from study_graphs import GRAPHS

from shadow_gnn.inference.averaging import Weights, average, best_subset, chosen_weights

NETWORKS = ("normal-labels", "normal-labels-fast-gcn", "labels-50")
"""Networks that are averaged if none are given."""
NUM_REPEATS = 3
WAYS: dict[str, Weights] = {
    "equal": lambda kind, scores, labels: [1 / len(scores)] * len(scores),
    "free": chosen_weights,
    "subset": best_subset,
}
"""Equal weights, ensemble selection by accuracy, and the set with the smallest loss."""


def judged(scores: list[np.ndarray], labels: np.ndarray, way: Weights) -> float:
    """Return the accuracy in percent on each half of the targets with the weights of the other half, a mean."""
    rng, found = np.random.default_rng(0), []
    for _ in range(NUM_REPEATS):
        order = rng.permutation(len(labels))
        for choice, rest in ((order[::2], order[1::2]), (order[1::2], order[::2])):
            weights = way("classes", [part[choice] for part in scores], labels[choice])
            mean = average([part[rest] for part in scores], weights)
            found.append(float((mean.argmax(1) == labels[rest]).mean()))
    return 100 * float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, required=True)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help="networks to average")
    options = parser.parse_args()
    print(f"{'':20}" + "".join(f"{name:>10}" for name in WAYS))
    for graph in options.graphs:
        runs = [np.load(options.folder / f"{graph}--{network}--0.npz") for network in options.networks]
        scores, labels = [run["valid"].astype(np.float32) for run in runs], runs[0]["valid_label"]
        print(f"{graph:20}" + "".join(f"{judged(scores, labels, way):10.2f}" for way in WAYS.values()), flush=True)


if __name__ == "__main__":
    main()
