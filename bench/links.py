"""Links: heuristics, an encoder with a dot product and shaDow on three graphs, five seeds each: docs/link-results.md.

Not for: the speed of pairs (pair_scopes.py). An interrupted run resumes; --part lets processes share it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import CACHE, ROOT, Bar, Report
from links_text import HEAD, NOTES
from logistic import open_named

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.files import write_file
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.tasks.links.baselines import LINK_BASELINES, run_link_baselines
from shadow_gnn.tasks.links.encoder import EncoderOptions
from shadow_gnn.tasks.links.metrics import LINK_METRICS, LinkMetric
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.link_setup import link_problem
from shadow_gnn.training.loop import FitOptions, fit
from shadow_gnn.training.run_setup import make_setup

FOLDER = CACHE / "links"
NUM_SEEDS = 5
HEURISTICS = LINK_BASELINES[:-1]
SHADOW = {
    "ppr-sort": "link-yeast-ppr-sort.toml",
    "ppr-sum": "link-yeast-ppr-sort.toml",
    "seal": "link-yeast-seal.toml",
}
"""The recipe of each way of shaDow; other graphs change some keys of it."""
TITLES = {
    **{name: name.replace("-", " ") for name in LINK_BASELINES},
    "adamic-adar": "Adamic-Adar",
    "ppr": "PPR",
    "katz": "Katz",
    "encoder": "GraphSAGE + dot product",
    "ppr-sort": "shaDow-SAGE, PPR",
    "ppr-sum": "shaDow-SAGE, PPR",
    "seal": "shaDow-GCN, k-hop (SEAL)",
}


@dataclass(frozen=True)
class Size:
    """How a graph's runs are made."""

    source: str
    """Name of the graph's file."""
    monitor: LinkMetric = "auc"
    """Metric that chooses the best epoch."""
    split: tuple[str, ...] = ()
    """Changes of the [link] table for everything, SHADOW or not."""
    drawn: int | None = None
    """Pairs of each given list that are drawn; None for all."""
    encoder: EncoderOptions = field(default_factory=EncoderOptions)
    """How the encoder is trained."""
    encoder_share: float = 1.0
    """Share of the links in an epoch of the encoder."""
    changes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Changes of each way's recipe; a way that is not here is not run."""
    baselines: tuple[str, ...] = LINK_BASELINES
    """Additional runs."""

    @property
    def methods(self) -> tuple[str, ...]:
        """What is run."""
        return (*self.baselines, *self.changes)


_SMALL = ("model.hidden_dim=32", "inputs.graph_degree=true", "model.encoding_join='concat'")
_LONG = (
    *("training.batch_size=128", "training.learning_rate=0.004", "training.num_epochs=5"),
    *("link.epoch_share=0.04", "link.num_negatives=3"),
)
_FLAT = ("training.batch_size=128", "training.num_epochs=1", "model.num_layers=1")
_SUM = "model.readout='sum'"
_DDI = ("link.split='given'",)
_DDI_PPR = (*_SMALL, *_FLAT, "link.epoch_share=0.005", "extractor.topk=80", "extractor.teleport=0.85")
SIZES = {
    "lp-yeast": Size("lp-yeast", changes={"ppr-sort": (), "seal": ()}),
    "lp-ca-astroph": Size(
        "lp-ca-astroph",
        split=("link.valid_share=0.01",),
        encoder_share=0.18,
        changes={
            "ppr-sort": (*_SMALL, *_LONG, "extractor.topk=30"),
            "seal": (*_SMALL, *_LONG, "extractor.kind='khop'", "extractor.fanout=50"),
        },
    ),
    "ogbl-ddi": Size(
        "ogbl-ddi",
        "hits20",
        _DDI,
        5000,
        encoder_share=0.03,
        changes={
            "ppr-sort": _DDI_PPR,
            "ppr-sum": (*_DDI_PPR, _SUM),
            "seal": (*_SMALL, *_FLAT, _SUM, "link.epoch_share=0.01", "extractor.kind='khop'", "extractor.fanout=100"),
        },
    ),
    "ogbl-ddi, all pairs": Size("ogbl-ddi", "hits20", _DDI, baselines=HEURISTICS),
}


@dataclass(frozen=True)
class Job:
    """One run."""

    data: str
    method: str
    seed: int

    @property
    def path(self) -> Path:
        """Where its result is kept."""
        return FOLDER / self.data.replace(", ", "-").replace(" ", "-") / f"{self.method}-{self.seed}.json"


def jobs(names: Sequence[str]) -> Iterator[Job]:
    """Give the runs of some graphs. A heuristic on given pairs draws nothing: one run."""
    for name in names:
        size = SIZES[name]
        for method, seed in product(size.methods, range(NUM_SEEDS)):
            if seed == 0 or method not in HEURISTICS or size.split != _DDI:
                yield Job(name, method, seed)


def recipe_of(job: Job) -> Recipe:
    """Return the plan of a run; for baselines, only the split and the training pairs matter."""
    size = SIZES[job.data]
    changes = size.changes.get(job.method, (f"link.epoch_share={size.encoder_share}",))
    file = ROOT / "recipes" / SHADOW.get(job.method, SHADOW["seal"])
    always = (*size.split, f"training.monitor='{size.monitor}'", f"seed={job.seed}", f"graph='{job.data}'")
    return read_recipe(file, [*changes, *always])


def title_of(data: str, method: str) -> str:
    """Return the name of a way in the table of a graph, for shaDow with its readout."""
    readout = f", {recipe_of(Job(data, method, 0)).model.readout}" if method in SHADOW else ""
    return TITLES[method] + readout


def plan_of(job: Job) -> dict[str, Any]:
    """Return everything that decides the result of a run, as stored with it."""
    size = SIZES[job.data]
    plan = {"recipe": recipe_of(job).model_dump(mode="json"), "encoder": asdict(size.encoder), "drawn": size.drawn}
    made: dict[str, Any] = json.loads(json.dumps(plan))
    return made


def kept(job: Job) -> dict[str, Any] | None:
    """Return the result of that very run; None if it is not done, or was done with other settings."""
    if not job.path.exists():
        return None
    found: dict[str, Any] = json.loads(job.path.read_text())
    return found if _decisive(job.method, found["plan"]) == _decisive(job.method, plan_of(job)) else None


def _decisive(method: str, plan: dict[str, Any]) -> tuple[Any, ...]:
    """Return the part of a plan that a method reads; read as a recipe, so that keys younger than it have defaults."""
    recipe, drawn = Recipe.model_validate(plan["recipe"]), plan["drawn"]
    if method in SHADOW:
        return recipe, drawn
    if method == "encoder":
        return recipe.seed, recipe.link, recipe.training.monitor, plan["encoder"], drawn
    return recipe.seed, recipe.link.model_copy(update={"epoch_share": 1.0}), drawn


def run(job: Job, data: Path) -> None:
    """Do one run, unless it is kept already; keep its metrics of both splits and CPU seconds."""
    if kept(job) is not None:
        return
    recipe, size = recipe_of(job), SIZES[job.data]
    graph, begin = study_graph(job.data, data), time.process_time()
    if job.method in SHADOW:
        valid, test = train(recipe, graph)
    else:
        options = replace(size.encoder, monitor=size.monitor)
        (found,) = run_link_baselines([link_problem(recipe, graph)], [job.method], options=options)
        assert found.test is not None
        valid, test = found.valid, found.test
    result = {"plan": plan_of(job), "valid": valid, "test": test, "cpu_seconds": time.process_time() - begin}
    job.path.parent.mkdir(parents=True, exist_ok=True)
    write_file(job.path, json.dumps(result).encode())
    print(f"{job.data} {job.method} seed {job.seed}: valid {valid[size.monitor]:.4f} test {test[size.monitor]:.4f} "
          f"{result['cpu_seconds']:.1f} s", flush=True)  # fmt: skip


def train(recipe: Recipe, graph: Graph) -> tuple[dict[str, float], dict[str, float]]:
    """Train a recipe on a graph; return validation and test of the epoch that was best on validation."""
    setup = make_setup(recipe, graph)
    valid = setup.split_loaders("valid")
    options = FitOptions(seed=recipe.seed, validate=lambda model: evaluate(model, valid, setup.task))
    state = fit(setup.model, setup.training_loaders(), setup.task, recipe.training, options)
    assert state.best is not None
    return dict(state.best.valid), evaluate(setup.model, setup.split_loaders("test"), setup.task)


@cache
def study_graph(name: str, folder: Path) -> Graph:
    """Return a graph, with as many of its given pairs as the study takes: the same ones for every method and seed."""
    size = SIZES[name]
    graph = open_named(size.source, folder, 0)
    if size.drawn is None:
        return graph
    rng = np.random.default_rng(0)
    drawn = {
        split: pairs[np.sort(rng.choice(len(pairs), min(size.drawn, len(pairs)), replace=False))]
        for split, pairs in sorted(graph.pairs.items())
        if split.startswith(("valid", "test"))
    }
    return replace(graph, pairs={**graph.pairs, **drawn}, path=None)


def table(name: str) -> Report:
    """Return the metrics of one graph's runs that are done."""
    columns = ("on the test links", *LINK_METRICS, "CPU s of a run", "seeds")
    report, size = Report(name, columns), SIZES[name]
    means: dict[str, dict[str, float]] = {}
    missing: list[str] = []
    for method in size.methods:
        wanted = [job for job in jobs([name]) if job.method == method]
        runs = [result for job in wanted if (result := kept(job)) is not None]
        if not runs:
            missing.append(title_of(name, method))
            continue
        values = {metric: np.array([run["test"][metric] for run in runs]) for metric in LINK_METRICS}
        if len(runs) == len(wanted):
            means[method] = {metric: float(found.mean()) for metric, found in values.items()}
        seconds = np.mean([run["cpu_seconds"] for run in runs])
        cells = [_spread(found) for found in values.values()]
        report.rows.append([title_of(name, method), *cells, f"{seconds:.1f}", str(len(runs))])
    if missing:
        report.notes.append(f"Not run yet: {'; '.join(missing)}.")
    shadow = tuple(size.changes)
    report.notes += [*best_of_both(means, shadow), *NOTES.get(name, [])]
    if name == "lp-yeast":
        report.bars += bars(means, shadow)
    return report


def best_of_both(means: dict[str, dict[str, float]], ways: Sequence[str]) -> list[str]:
    """Say in a line how the best of shaDow compares with the best heuristic, where all of both are done."""
    if not ways or not {*HEURISTICS, *ways} <= set(means):
        return []
    parts = []
    for metric in ("auc", "ap", "hits20", "hits50", "mrr"):
        heuristic, shadow = (max(names, key=lambda name: means[name][metric]) for names in (HEURISTICS, ways))
        gap = means[shadow][metric] - means[heuristic][metric]
        parts.append(f"{metric} {gap:+.4f} ({TITLES[shadow]} against {TITLES[heuristic]})")
    return [f"Best of shaDow minus best heuristic: {', '.join(parts)}."]


def _spread(values: np.ndarray) -> str:
    deviation = f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else ""
    return f"{values.mean():.4f}{deviation}"


def bars(means: dict[str, dict[str, float]], ways: Sequence[str]) -> list[Bar]:
    """Return the claims about lp-yeast."""
    if not {*HEURISTICS, *ways} <= set(means):
        return [Bar("lp-yeast", "runs are missing", None)]
    best = max(HEURISTICS, key=lambda name: means[name]["auc"])
    shadow = {name: means[name]["auc"] for name in ways}
    shown = ", ".join(f"{value:.4f} ({TITLES[name]})" for name, value in shadow.items())
    gap = min(shadow.values()) - means[best]["auc"]
    return [
        Bar("shaDow has an AUC of at least 0.97", shown, min(shadow.values()) >= 0.97),
        Bar(f"at least 0.01 above the best heuristic ({TITLES[best]})", f"{gap:+.4f}", gap >= 0.01),
    ]


def changed() -> Report:
    """Return the changes to the recipes for each graph."""
    report = Report("Settings", ("graph", "recipe", "changed settings"))
    for name, size in SIZES.items():
        for method, changes in size.changes.items():
            text = ", ".join(f"`{change}`" for change in (*size.split, *changes)) or "none"
            report.rows.append([name, f"`recipes/{SHADOW[method]}`", text])
    return report


def write(reports: Sequence[Report]) -> None:
    """Write docs/link-results.md."""
    text = "\n".join([HEAD.format(seeds=NUM_SEEDS), *(report.markdown() for report in (*reports, changed()))])
    (ROOT / "docs" / "link-results.md").write_text(text.rstrip() + "\n")


def main() -> None:
    keep_freed_memory()
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--methods", nargs="+", choices=TITLES, default=list(TITLES))
    parser.add_argument("--part", help="do a share of the runs, such as 2/3, and write nothing")
    parser.add_argument("--page", action="store_true", help="do no runs: write the page of those that are done")
    options = parser.parse_args()
    part, num_parts = map(int, (options.part or "1/1").split("/"))
    wanted = [job for job in jobs(options.only) if job.method in options.methods]
    for job in [] if options.page else wanted[part - 1 :: num_parts]:
        run(job, options.data)
    if options.part is None:
        reports = [table(name) for name in SIZES]
        print("\n\n".join(report.text() for report in reports))
        write(reports)


if __name__ == "__main__":
    main()
