"""Accuracy-time: test accuracy against inference time of trained models, by scope size at inference.

Not for: times by part (extraction_time.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from shadow_gnn.base.files import Progress
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.closure import closure_batch
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.cost.estimate import sample_targets
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import available_titles, here_title, open_found
from shadow_gnn.studies.paper.experiment import Cell, Finding, Job, ReproduceOptions, Result, Table
from shadow_gnn.studies.paper.timing import Clock, machine, machine_notes
from shadow_gnn.studies.paper.training_jobs import adapted, digest, fast_graph, train
from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.model_file import TrainedModel, read_model
from shadow_gnn.training.run_setup import EVALUATION_FACTOR, make_loaders

DATA = ("flickr", "reddit", "ogbn-arxiv", "ogbn-products")
SIZES, FAST_SIZES = (50, 100, 150, 200), (10, 20, 30)
ALONE, FAST_ALONE = 16, 4
"""Targets to time a normal GNN on, one after the other."""
LAYERS = {"sage": "SAGE", "gat": "GAT"}

# The points of the appendix's figure: (milliseconds per node, test accuracy), scopes of up to 50, 100, 150, 200 nodes.
PRINTED = {
    ("flickr", "gat"): ((1.194, 0.4875), (1.451, 0.5132), (1.719, 0.5281), (1.983, 0.538)),
    ("flickr", "sage"): ((1.111, 0.4949), (1.307, 0.5247), (1.512, 0.5341), (1.704, 0.5407)),
    ("reddit", "gat"): ((0.808, 0.9611), (1.436, 0.9693), (2.134, 0.9723), (2.801, 0.9727)),
    ("reddit", "sage"): ((0.61, 0.9572), (0.973, 0.9661), (1.458, 0.9697), (1.985, 0.9695)),
    ("ogbn-arxiv", "gat"): ((1.135, 0.7227), (1.516, 0.73), (1.894, 0.7318), (2.28, 0.7321)),
    ("ogbn-arxiv", "sage"): ((1.117, 0.7206), (1.433, 0.7248), (1.707, 0.7256), (1.943, 0.7263)),
    ("ogbn-products", "gat"): ((0.97, 0.7932), (1.64, 0.8028), (2.2, 0.806), (2.61, 0.8074)),
    ("ogbn-products", "sage"): ((0.88, 0.7874), (1.378, 0.797), (1.809, 0.8001), (2.08, 0.8015)),
}
PRINTED_NORMAL = {
    ("flickr", "sage"): (462.0, 0.48),
    ("flickr", "gat"): (500.0, 0.522),
    ("ogbn-arxiv", "sage"): (80.0, 0.719),
    ("ogbn-arxiv", "gat"): (175.0, 0.72),
}


class AccuracyTime:
    """The figure of inference time against accuracy."""

    name = "accuracy-time"
    paper = "Appendix, inference time and accuracy"
    summary = "Accuracy against inference time, the scope size changed without retraining."
    data = DATA

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each model, training and evaluation: shaDow, and the normal ones in the figure."""
        jobs = []
        for name, graph in open_found(DATA, options.data).items():
            small = fast_graph(graph) if options.fast else graph
            for layer in LAYERS:
                jobs.append(_job(name, layer, "ppr", small, options))
                if (name, layer) in PRINTED_NORMAL:
                    jobs.append(_job(name, layer, "full", small, options))
        return jobs

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        return Finding(
            title="Inference time against accuracy",
            text=_TEXT,
            tables=(_table(results),),
            draw=partial(_draw, dict(results), here_title(available_titles(DATA, options))),
            notes=machine_notes(results.values()),
        )


def _job(name: str, layer: str, kind: str, graph: Graph, options: ReproduceOptions) -> Job:
    recipe = adapted(paper_recipe(f"{name}-{layer}-5-{kind}"), options)
    sizes = FAST_SIZES if options.fast else SIZES
    trained = {
        "recipe": recipe.model_dump(mode="json", exclude={"graph"}),
        "fingerprint": graph.fingerprint,
        "in_dim": 0 if graph.x is None else graph.x.shape[1],
        "targets": {split: len(nodes) for split, nodes in graph.splits.items()},
    }
    settings = {**trained, "sizes": sizes, "machine": machine()}
    key = f"{name}-{layer}-5-{kind}"
    # The name contains the settings of training: a run of other settings is never resumed.
    folder = options.out / "runs" / f"{key}-{digest(trained)}"
    alone = FAST_ALONE if options.fast else ALONE
    run = partial(_train_and_measure, recipe, graph, folder, sizes if kind == "ppr" else (), alone)
    return Job(key, f"{key}: training, then evaluation", settings, run)


def _train_and_measure(
    recipe: Recipe, graph: Graph, folder: Path, sizes: Sequence[int], num_alone: int, progress: Progress
) -> Result:
    scores = train(recipe, graph, folder, progress)
    trained = read_model(folder)
    found: dict[str, Any] = {"machine": machine(), "test": scores["test"], "points": []}
    for place, size in enumerate(sizes):
        progress(f"scopes of {size} nodes", place, len(sizes))
        found["points"].append(evaluate_size(trained, graph, size))
    if not sizes:
        progress("inference alone", 0, 1)
        found["points"].append({"size": None, "score": scores["test"], **_alone(trained, graph, num_alone)})
    return found


def evaluate_size(trained: TrainedModel, graph: Graph, size: int) -> dict[str, Any]:
    """Return test score and milliseconds per target of a trained model on scopes of at most `size` nodes.

    The time includes extraction, batches and the model.
    """
    extractor = trained.config.branches[0].extractor
    assert isinstance(extractor, PprExtractor)
    smaller = build_extractor(replace(extractor, topk=size), training=False)
    targets = split_targets(graph, "test")
    batch_size = EVALUATION_FACTOR * trained.config.batch_size
    loaders = make_loaders(graph, (smaller,), trained.model, targets, batch_size, trained.config.seed)
    clock = Clock()
    with clock.running(len(targets)):
        metrics = evaluate(trained.model, loaders, trained.task)
    return {"size": size, "score": metrics[METRICS[trained.task.target][0]], **clock.per_target()}


def _alone(trained: TrainedModel, graph: Graph, count: int) -> dict[str, float]:
    """Time a normal GNN on the whole neighborhood of single targets, one after the other."""
    model = trained.config.branches[0].model
    assert model is not None
    clock = Clock()
    for target in sample_targets(split_targets(graph, "test"), count).tolist():
        with clock.running(1), torch.inference_mode():
            trained.model((closure_batch(graph, [target], model.num_layers),))
    return clock.per_target()


def _lines(results: Mapping[str, Result]) -> list[tuple[str, str, str, Result]]:
    """Return (data, layer, kind, result) of the available results, in the paper's order."""
    models = [(name, layer, kind) for name in DATA for layer in LAYERS for kind in ("ppr", "full")]
    keys = {model: "{}-{}-5-{}".format(*model) for model in models}
    return [(*model, results[keys[model]]) for model in models if keys[model] in results]


def _paper_point(name: str, layer: str, size: int | None) -> tuple[Cell, Cell]:
    if size is None:
        return PRINTED_NORMAL.get((name, layer), (None, None))
    return PRINTED[name, layer][SIZES.index(size)] if size in SIZES else (None, None)


def _row(name: str, model: str, point: Mapping[str, Any], paper: tuple[Cell, Cell]) -> dict[str, Cell]:
    return {
        "data": name,
        "model": model,
        "scope": str(point["size"] or "5 hops"),
        "ms per node (paper)": paper[0],
        "accuracy (paper)": paper[1],
        "ms per node": point["wall"],
        "of which processor": point["cpu"],
        "accuracy": point["score"],
    }


def _table(results: Mapping[str, Result]) -> Table:
    rows = []
    for name, layer, kind, result in _lines(results):
        model = f"{'shaDow-' if kind == 'ppr' else 'normal '}{LAYERS[layer]}"
        rows += [_row(name, model, point, _paper_point(name, layer, point["size"])) for point in result["points"]]
    caption = "Inference time per node against test accuracy, 5 layers; scopes made smaller without retraining."
    return Table.of("accuracy-time", caption, rows)


def _draw(results: Mapping[str, Result], here: str, path: Path) -> None:
    with panels(path, (10, 4.6), 2, share_x=True, share_y=True) as axes:
        for plot, title in zip(axes, ("paper", here), strict=True):
            for name, layer, kind, result in _lines(results):
                points = [(point["wall"], point["score"]) for point in result["points"]]
                if title == "paper":
                    points = [PRINTED_NORMAL[name, layer]] if kind == "full" else list(PRINTED[name, layer])
                style = {"color": COLORS[DATA.index(name)], "marker": "o" if layer == "sage" else "s"}
                label = f"{'shaDow-' if kind == 'ppr' else ''}{LAYERS[layer]}, {name}"
                hollow = {"markerfacecolor": "none"} if kind == "full" else {}
                plot.plot(*zip(*points, strict=True), label=label, linewidth=1, **style, **hollow)
            plot.set(xscale="log", xlabel="ms per node")
            plot.set_title(title, fontsize=10)
        axes[0].set_ylabel("test accuracy")
        legend_below(axes[0].figure)


_TEXT = """The 5-layer models of Table 1 are trained with scopes of 200 nodes (ogbn-products: 150), once, and evaluated
with scopes of 50 to 200 without retraining. Times are of the whole evaluation per test node, including extraction.
Normal models are trained on the whole graph; their time is that of single nodes, each with its whole neighborhood of
5 hops. The paper's times are those of 32 cores and a GPU (RTX 3090)."""
