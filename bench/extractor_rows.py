"""Extractor rows: the extractor of each row of the extractor study; its input files are made once.

Not for: training on them and the page (extractor_study.py).
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import CACHE
from extractor_runs import SIZES, study_graph

from shadow_gnn.base.files import write_file
from shadow_gnn.extract import PprExtractor
from shadow_gnn.extract.diffused import FeatureNeighbors, Kept, PprDiffusion, diffuse_graph
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.compare_extractors.sized import comparable_kinds, sized_table
from shadow_gnn.studies.learned_scopes.recipes import CANDIDATES_PER_NODE, normal_recipe
from shadow_gnn.studies.learned_scopes.scoring import Places, Scorer, write_scopes
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

MADE = CACHE / "extractors-made"
"""Where learned scopes and other graphs are kept, each with its CPU seconds."""
SIZE = 50
"""Most nodes of a scope, for every extractor."""
DIFFUSED = 64
"""Most entries of a row of the diffusion."""
TOLERANCE = 1e-4
"""Residual bound of the diffusion."""
NEIGHBORS = 11
"""Most entries of a row of the neighbors in features, the node's own included."""
PAGES = {
    "gdc": "extractors/scope-graph.md",
    "near": "extractors/scope-graph.md",
    "learned": "extractors/learned.md",
    "ensemble": "extractors.md#several-at-once",
}
"""Rows that are more than an extractor of one kind, and the pages that tell of them."""


def row_names() -> list[str]:
    """Return all rows of the study: every kind of extractor that a size is enough for, then PAGES."""
    return [*comparable_kinds(), *PAGES]


def page_of(row: str) -> str:
    """Return the page of a row, from the folder of docs."""
    return PAGES.get(row, f"extractors/{row}.md")


def scopes_of(row: str, data: str, seed: int) -> dict[str, Any]:
    """Return the scope settings of a recipe; its files need not exist yet."""
    ppr = sized_table("ppr", SIZE)
    if row == "ensemble":
        return {"branches": [{"extractor": sized_table(kind, SIZE)} for kind in ("ppr", "fire")]}
    if row in ("gdc", "near"):
        return {"extractor": {**ppr, "scope_graph": str(MADE / data / row), "scope_edges": "scope_graph"}}
    if row == "learned":
        return {"extractor": {"kind": "file", "path": str(MADE / data / f"learned-{seed}"), "topk": SIZE}}
    return {"extractor": sized_table(row, SIZE)}


def make_files(row: str, recipe: Recipe, folder: Path) -> None:
    """Make the missing input files of a recipe's scopes; folder: that of the graphs."""

    def graph() -> Graph:
        return study_graph(recipe.graph, folder, recipe.seed)

    if row in ("gdc", "near"):
        _once(recipe.graph, row, lambda path: _scope_graph(row, graph(), path))
    elif row == "learned":
        _once(recipe.graph, f"learned-{recipe.seed}", lambda path: _learned(recipe, graph(), path))


def made_seconds(data: str, row: str) -> list[float]:
    """Return the CPU seconds of the files of a row on a graph."""
    paths = sorted((MADE / data).glob(f"{row}-[0-9].json" if row == "learned" else f"{row}.json"))
    return [float(json.loads(path.read_text())["cpu_seconds"]) for path in paths]


def _once(data: str, name: str, make: Callable[[Path], None]) -> None:
    """Make a file or folder and write its CPU seconds last: without them it is unfinished."""
    path = MADE / data / name
    done = path.with_name(f"{name}.json")
    if done.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    begin = time.process_time()
    make(path)
    seconds = time.process_time() - begin
    write_file(done, json.dumps({"cpu_seconds": seconds}).encode())
    print(f"{data} {name} made: {seconds:.1f} s", flush=True)


def _scope_graph(row: str, graph: Graph, path: Path) -> None:
    source = PprDiffusion(tolerance=TOLERANCE) if row == "gdc" else FeatureNeighbors()
    kept = Kept(topk=DIFFUSED if row == "gdc" else NEIGHBORS)
    save_graph(diffuse_graph(graph, source, kept, num_threads=1), path, overwrite=True)


def _learned(recipe: Recipe, graph: Graph, path: Path) -> None:
    """Train a normal GNN on the training targets of the seed, and rank PPR candidates of all targets by saliency."""
    phase = normal_recipe(recipe, "full", SIZES[recipe.graph].full_epochs)
    place = path.with_name(f"{path.name}-normal")
    shutil.rmtree(place, ignore_errors=True)
    run = train_recipe(phase, place, options=RunOptions(graph=graph, check_memory=False))
    trained = read_model(run.folder)
    num_candidates = CANDIDATES_PER_NODE * SIZE
    candidates = build_extractor(PprExtractor(topk=num_candidates), training=False, edge_pos=True)
    targets = np.unique(np.concatenate([*graph.splits.values()]))
    scorer = Scorer(trained, candidates, num_candidates, SIZE, seed=recipe.seed)
    write_scopes(scorer, Places.of(trained, graph, inductive=False), targets, path)
    shutil.rmtree(place)
