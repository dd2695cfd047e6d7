"""Extraction time: milliseconds per node of PPR extraction and of the models on the scopes.

Not for: accuracy (accuracy_time.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from shadow_gnn.base.files import Progress
from shadow_gnn.extract import Extractor, PprExtractor
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.cost.estimate import sample_targets
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import available_titles, graph_settings, here_title, open_found
from shadow_gnn.studies.paper.experiment import Cell, Finding, Job, ReproduceOptions, Result, Table
from shadow_gnn.studies.paper.timing import Clock, machine, machine_notes
from shadow_gnn.studies.paper.training_jobs import adapted
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.run_setup import make_setup

DATA = ("flickr", "reddit", "yelp", "ogbn-arxiv", "ogbn-products", "ogbn-papers100M")
NUM_TARGETS, FAST_TARGETS = 1024, 64
PARTS = {"ppr": "PPR", "sage": "shaDow-SAGE", "gat": "shaDow-GAT"}

# The bars of the appendix's figure, milliseconds per node: PPR on 32 cores, models on a GPU (RTX 3090).
PRINTED = {
    "flickr": {"ppr": 0.9, "sage": 0.66, "gat": 1.98},
    "reddit": {"ppr": 0.33, "sage": 1.09, "gat": 1.73},
    "yelp": {"ppr": 0.2, "sage": 0.35, "gat": 1.0},
    "ogbn-arxiv": {"ppr": 0.82, "sage": 0.68, "gat": 1.18},
    "ogbn-products": {"ppr": 0.52, "sage": 0.9, "gat": 2.5},
    "ogbn-papers100M": {"ppr": 0.63, "sage": 1.32, "gat": 2.23},
}


class ExtractionTime:
    """The figure of extraction time against model time."""

    name = "extraction-time"
    paper = "Appendix, cost of subgraph extraction"
    summary = "Time of PPR extraction against that of the models, per node."
    data = DATA

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return one job for each available dataset."""
        num_targets = FAST_TARGETS if options.fast else NUM_TARGETS
        jobs = []
        for name, graph in open_found(DATA, options.data).items():
            recipes = {layer: adapted(paper_recipe(recipe), options) for layer, recipe in _recipes(name).items()}
            settings = {
                **graph_settings(graph),
                "num_targets": num_targets,
                "recipes": {layer: recipe.model_dump(mode="json") for layer, recipe in recipes.items()},
                "machine": machine(),
            }
            run = partial(measure_times, graph, recipes, num_targets)
            jobs.append(Job(name.lower(), f"times on {name}", settings, run))
        return jobs

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        named = {name: results[name.lower()] for name in DATA if name.lower() in results}
        return Finding(
            title="Extraction time against model time",
            text=_TEXT,
            tables=(_table(named),),
            draw=partial(_draw, named, here_title(available_titles(DATA, options))),
            notes=machine_notes(named.values()),
        )


def _recipes(name: str) -> dict[str, str]:
    if name == "ogbn-papers100M":
        return {"gat": f"{name}-gat-5-ppr-max"}
    return {layer: f"{name}-{layer}-5-ppr" for layer in ("sage", "gat")}


def measure_times(graph: Graph, recipes: Mapping[str, Recipe], num_targets: int, progress: Progress) -> Result:
    """Time extraction and the models' forward passes over some test targets, in batches as in training.

    The time does not depend on the weights, which are not trained.
    """
    targets = sample_targets(split_targets(graph, "test"), num_targets)
    found: dict[str, Any] = {"machine": machine(), "num_targets": len(targets)}
    first = next(iter(recipes.values()))
    assert first.extractor is not None
    extractor = build_extractor(first.extractor, training=False)
    found["ppr"] = _extraction(graph, extractor, targets, first.training.batch_size)
    if isinstance(extractor, PprExtractor):
        refined = replace(extractor, tolerance=None)
        found["ppr refined"] = _extraction(graph, refined, targets, first.training.batch_size)
    for place, (layer, recipe) in enumerate(recipes.items()):
        progress("timing models", place, len(recipes))
        found[layer], found[f"{layer} batches"] = _model(graph, recipe, targets)
    return found


def _parts(targets: Ints, size: int) -> list[Ints]:
    return [targets[start : start + size] for start in range(0, len(targets), size)]


def _extraction(graph: Graph, extractor: Extractor, targets: Ints, batch_size: int) -> dict[str, float]:
    clock = Clock()
    extractor(graph, targets[:1])  # The first call pays for scratch memory.
    for part in _parts(targets, batch_size):
        with clock.running(len(part)):
            extractor(graph, part)
    return clock.per_target()


def _model(graph: Graph, recipe: Recipe, targets: Ints) -> tuple[dict[str, float], dict[str, float]]:
    """Return the times of the forward pass, and of joining scopes and looking up their features."""
    setup = make_setup(recipe, graph)
    model = setup.model.eval()
    (extractor,) = setup.evaluation_extractors
    joining, computing = Clock(), Clock()
    for number, part in enumerate(_parts(targets, recipe.training.batch_size)):
        scopes = extractor(graph, part)
        with joining.running(len(part)):
            batch: Batch = collate(graph, scopes, model=model)
        with torch.inference_mode():
            if number == 0:  # The first pass is slower.
                model((batch,))
            with computing.running(len(part)):
                model((batch,))
    return computing.per_target(), joining.per_target()


def _table(results: Mapping[str, Result]) -> Table:
    labels = {**PARTS, "ppr refined": "PPR, refined tolerance"}
    labels |= {f"{layer} batches": f"{PARTS[layer]}: joining its batches" for layer in ("sage", "gat")}
    rows: list[dict[str, Cell]] = [
        {
            "data": name,
            "part": label,
            "ms per node (paper)": PRINTED[name].get(part),
            "ms per node": result[part]["wall"],
            "of which processor": result[part]["cpu"],
            "targets": result["num_targets"],
        }
        for name, result in results.items()
        for part, label in labels.items()
        if part in result
    ]
    caption = "Inference time per node: extraction of its scope, and the 5-layer models."
    return Table.of("extraction-time", caption, rows)


def _draw(results: Mapping[str, Result], here: str, path: Path) -> None:
    with panels(path, (10, 4.4), 2, share_y=True) as axes:
        for plot, title in zip(axes, ("paper", here), strict=True):
            for number, (part, label) in enumerate(PARTS.items()):
                heights = [
                    PRINTED[name][part] if title == "paper" else result.get(part, {}).get("wall", 0.0)
                    for name, result in results.items()
                ]
                place = np.arange(len(results)) + 0.27 * (number - 1)
                plot.bar(place, heights, width=0.27, color=COLORS[number], label=label)
            plot.set_xticks(range(len(results)), list(results), fontsize=8)
            plot.set_title(title, fontsize=10)
        axes[0].set_ylabel("ms per node")
        axes[0].set_yscale("log")  # The machines differ by orders of magnitude.
        legend_below(axes[0].figure)


_TEXT = """Wall and processor time per test node, in batches of the recipe's size: extraction of PPR scopes with the
recipe's tolerance, and with one that is refined for each target; the forward pass of the 5-layer models of Table 1;
and the step in between, which joins scopes into batches with their features. Weights are not trained; the time does
not depend on them. The paper has 32 cores for PPR and a GPU (RTX 3090) for the models: only the order of magnitude and
the shape are comparable."""
