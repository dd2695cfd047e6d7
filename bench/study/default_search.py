"""Default search: validation accuracy of the networks that the default recipe may use, alone and averaged in pairs.

Not for: test accuracy, which must not choose anything: `--test` shows it in the end. Each training is a file in the
folder, so that the script resumes; the same command prints the table of all results so far.

python bench/study/default_search.py FOLDER --graphs debian thesaurus-origins --networks normal scopes-labels --seeds 1
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from default_networks import DEFAULTS, NETWORKS
from default_page import page
from default_runs import train
from study_graphs import GRAPHS, Places, open_study_graph

from shadow_gnn.base.allocator import keep_freed_memory

ROOT = Path(__file__).resolve().parents[2]


def accuracy(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of correct predictions, in percent."""
    return 100 * float((scores.argmax(1) == labels).mean())


def report(folder: Path, graph: str, split: str, networks: Sequence[str]) -> None:
    """Print each network and each pair with the mean over seeds of its accuracy and CPU seconds; no networks: all."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted(folder.glob(f"{graph}--*.npz")):
        _, network, seed = path.stem.split("--")
        if not networks or network in networks:
            found.setdefault(int(seed), {})[network] = dict(np.load(path))
    rows: dict[str, list[tuple[float, float]]] = {}
    for runs in found.values():
        for network, run in runs.items():
            row = accuracy(run[split].astype(np.float32), run[f"{split}_label"]), float(run["cpu_seconds"])
            rows.setdefault(network, []).append(row)
        for first, second in combinations(runs, 2):
            mean = runs[first][split].astype(np.float32) + runs[second][split].astype(np.float32)
            seconds = float(runs[first]["cpu_seconds"] + runs[second]["cpu_seconds"])
            label = runs[first][f"{split}_label"]
            rows.setdefault(f"{first} + {second}", []).append((accuracy(mean, label), seconds))
    print(f"\n{graph}, {split}")
    for name, row in rows.items():
        scores, seconds = np.array(row).T
        print(f"  {name:44}{scores.mean():8.2f}{seconds.mean():8.0f} s  ({len(scores)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, required=True)
    parser.add_argument("--networks", nargs="*", choices=(*DEFAULTS, *NETWORKS), default=())
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--graph-folder", type=Path, default=Path("graphs"), help="folder of graph folders")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--test", action="store_true", help="report test accuracy as well")
    parser.add_argument("--page", action="store_true", help="write docs/default-results.md instead of a report")
    options = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    places = Places(options.folder, options.graph_folder, options.data)
    for seed in options.seeds:
        for name in options.graphs:
            graph = None
            for network in options.networks:
                path = options.folder / f"{name}--{network}--{seed}.npz"
                if not path.exists():
                    graph = graph or open_study_graph(GRAPHS[name], places)
                    train(graph, network, seed, path)
                    print(path.stem, flush=True)
    if options.page:
        (ROOT / "docs" / "default-results.md").write_text(page(options.folder, options.graphs))
        return
    for name in options.graphs:
        for split in ("valid", "test") if options.test else ("valid",):
            report(options.folder, name, split, options.networks)


if __name__ == "__main__":
    main()
