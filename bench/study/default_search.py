"""Default search: validation accuracy of the networks that the default recipe may use, alone and averaged in pairs.

Not for: test accuracy, which must not choose anything: `--test` shows it in the end. Each training is a file in the
folder, so that the script resumes; the same command prints the table of all results so far.

python bench/study/default_search.py FOLDER --graphs debian thesaurus-origins --networks normal scopes-labels --seeds 1
"""

from __future__ import annotations

import argparse
import os
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from default_page import page
from study_graphs import GRAPHS, Places, open_study_graph

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.defaults import choose_recipe, epochs_within, graph_facts
from shadow_gnn.training.runs.run import RunOptions, train_recipe

ROOT = Path(__file__).resolve().parents[2]
NORMAL: dict[str, Any] = {
    "training": {"method": "full", "num_epochs": 300, "learning_rate": 0.005, "evaluate_every": 10},
    "model": {"encoding": "none"},
}
SCOPES: dict[str, Any] = {"extractor": {"topk": 50}, "training": {"num_epochs": 1.0}}
LABELS: dict[str, Any] = {"inputs": {"labels": True}}


def joined(*tables: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a recipe with the keys of all; later tables have precedence."""
    whole: dict[str, Any] = {}
    for table in tables:
        for name, values in table.items():
            whole[name] = {**whole.get(name, {}), **values}
    return whole


DEMO: dict[str, Any] = {"model": {"hidden_dim": 64}, "training": {"num_epochs": 8}, "extractor": {"topk": 32}}
DEMO_NORMAL: dict[str, Any] = {**DEMO, "training": {"num_epochs": 170}}
DEEP: dict[str, Any] = {"model": {"num_layers": 5, "skip": "residual"}}


NETWORKS: dict[str, dict[str, Any]] = {
    "normal": NORMAL,
    "normal-dropout": joined(NORMAL, {"model": {"dropout": 0.5}}),
    "normal-slow": joined(NORMAL, {"training": {"learning_rate": 0.002}}),
    "normal-labels": joined(NORMAL, LABELS),
    "normal-labels-5": joined(NORMAL, LABELS, DEEP),
    "labels-50": joined(SCOPES, LABELS),
    "labels-50-5": joined(SCOPES, LABELS, DEEP, {"training": {"num_epochs": 1.6}}),
    "labels-100": joined(SCOPES, LABELS, {"extractor": {"topk": 100}}),
    "demo-scopes-3": joined(LABELS, DEMO),
    "demo-scopes-5": joined(LABELS, DEMO, DEEP),
    "demo-normal-3": joined(NORMAL, LABELS, DEMO_NORMAL),
    "demo-normal-5": joined(NORMAL, LABELS, DEMO_NORMAL, DEEP),
}
"""Changes of the default recipe; num_epochs as a float: in units of the epochs that take the CPU seconds of normal."""


def recipe_of(graph: Graph, network: str, seed: int, cpu_seconds: float) -> Recipe:
    """Return the recipe of a network on a graph. cpu_seconds: of a normal GNN."""
    base = choose_recipe(graph_facts(graph), str(graph.path)).recipe.model_dump(exclude_none=True)
    change = NETWORKS[network]
    table = joined({key: base[key] for key in ("extractor", "model", "training")}, change)
    if table["training"].get("method") == "full":
        del table["extractor"]
    table |= {"graph": base["graph"], "seed": seed}
    epochs = table["training"]["num_epochs"]
    if isinstance(epochs, float):
        table["training"]["num_epochs"] = 3
        whole = epochs_within(Recipe.model_validate(table), graph, epochs * cpu_seconds)
        table["training"] |= {"num_epochs": whole, "evaluate_every": max(1, whole // 10)}
    return Recipe.model_validate(table)


def train(graph: Graph, network: str, seed: int, path: Path) -> None:
    """Train a network and keep the probabilities of all validation and test targets."""
    folder = path.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    normal = path.parent / f"{path.name.partition('--')[0]}--normal--{seed}.npz"
    seconds = float(np.load(normal)["cpu_seconds"]) if normal.exists() else 0.0
    recipe = recipe_of(graph, network, seed, seconds)
    result = train_recipe(recipe, folder, options=RunOptions(graph=graph)).result
    assert result is not None
    assert graph.y is not None
    predictor, kept = open_predictor(folder, graph), {}
    for split in ("valid", "test"):
        nodes = split_targets(graph, split)
        kept[split] = predictor.predict(nodes).scores.astype(np.float16)
        kept[f"{split}_label"] = np.asarray(graph.y)[nodes]
    shutil.rmtree(folder)
    temporary = path.with_suffix(".part.npz")
    np.savez_compressed(temporary, cpu_seconds=result["cpu_seconds"], epoch=result["best_epoch"], **kept)
    temporary.rename(path)


def accuracy(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of correct predictions, in percent."""
    return 100 * float((scores.argmax(1) == labels).mean())


def report(folder: Path, graph: str, split: str) -> None:
    """Print each network and each pair with the mean over seeds of its accuracy and CPU seconds."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted(folder.glob(f"{graph}--*.npz")):
        _, network, seed = path.stem.split("--")
        found.setdefault(int(seed), {})[network] = np.load(path)
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
    for a, b in combinations(sorted(found), 2):
        if "normal" in found[a] and "normal" in found[b]:
            one, two = found[a]["normal"], found[b]["normal"]
            mean = one[split].astype(np.float32) + two[split].astype(np.float32)
            seconds = float(one["cpu_seconds"] + two["cpu_seconds"])
            rows.setdefault("normal + normal", []).append((accuracy(mean, one[f"{split}_label"]), seconds))
    print(f"\n{graph}, {split}")
    for name, row in rows.items():
        scores, seconds = np.array(row).T
        print(f"  {name:44}{scores.mean():8.2f}{seconds.mean():8.0f} s  ({len(scores)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, required=True)
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=())
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--graph-folder", type=Path, default=Path("graphs"), help="folder of graph folders")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--test", action="store_true", help="report test accuracy as well")
    parser.add_argument("--page", action="store_true", help="write docs/default-results.md, with test accuracies")
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
    for name in options.graphs:
        for split in ("valid", "test") if options.test else ("valid",):
            report(options.folder, name, split)


if __name__ == "__main__":
    main()
