"""Baseline: logistic regression on raw and on smoothed features, the baseline of graph neural networks.

Not for: training our own models (learning.py), nor for the fits themselves (shadow_gnn.studies.baselines).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.baselines import BaselineResult, make_problem, run_baselines

REFERENCE = {"cora": 0.810, "pubmed": 0.782, "amazon-computers": 0.876, "coauthor-cs": 0.924}
"""Smoothed features, as an earlier and less tuned logistic regression had them; ours is compared with it."""
# A random split differs for each seed; an official one is the same for all.
RANDOM_SPLIT = ("amazon-computers", "coauthor-cs")
OFFICIAL_SPLIT = ("cora", "pubmed")
NUM_SPLITS = {"coauthor-cs": 1}
"""Random splits that a baseline is fitted on, where fewer than seeds: a fit on thousands of columns takes minutes."""
DATASETS = (*OFFICIAL_SPLIT, *RANDOM_SPLIT, "debian")


def open_named(name: str, data: Path, seed: int) -> Graph:
    """Return a data set with its official split, or with a random one of 60/20/20 by seed."""
    if name == "debian":
        from shadow_gnn.graph.datasets import open_dataset

        return open_dataset(name)
    from shadow_gnn.graph.importing.detect import read_source
    from shadow_gnn.graph.importing.options import ImportOptions, NodeFiles

    shares = (60.0, 20.0, 20.0) if name in RANDOM_SPLIT else None
    graph, _ = read_source(data / f"{name}.npz", ImportOptions(nodes=NodeFiles(split_shares=shares, seed=seed)))
    return graph


def baselines(graph: Graph) -> tuple[BaselineResult, BaselineResult]:
    """Return logistic regression on raw features, and on features smoothed once or more: the best on validation."""
    (raw,), (smoothed,) = run_baselines(make_problem(graph), ("raw", "smoothed"))
    return raw, smoothed


def seeds_of(name: str, num_seeds: int) -> range:
    """Return the seeds that differ for a baseline: those of a random split; an official one gives one result."""
    return range(min(num_seeds, NUM_SPLITS.get(name, num_seeds)) if name in RANDOM_SPLIT else 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    for name in chosen.only:
        found = [baselines(open_named(name, chosen.data, seed)) for seed in seeds_of(name, chosen.seeds)]
        for which, results in zip(("raw", "smoothed"), zip(*found, strict=True), strict=True):
            test = np.array([result.test for result in results])
            hops = ",".join(str(result.settings.get("num_hops", 0)) for result in results)
            decays = ",".join(f"{result.settings['decay']:g}" for result in results)
            print(f"{name:18} {which:9} {test.mean():.4f} ± {test.std():.4f}  hops {hops}  decay {decays}", flush=True)


if __name__ == "__main__":
    main()
