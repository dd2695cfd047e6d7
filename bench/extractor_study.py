"""Extractor study: shaDow-SAGE with every extractor at equal scope size on seven graphs: docs/extractors-results.md.

Not for: speed (extractors.py), or the rows (extractor_rows.py).
An interrupted study resumes; --part lets several processes share it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import CACHE, ROOT, Report
from extractor_rows import (
    DIFFUSED,
    NEIGHBORS,
    PAGES,
    SIZE,
    TOLERANCE,
    made_seconds,
    make_files,
    page_of,
    row_names,
    scopes_of,
)
from extractor_runs import NUM_SEEDS, SIZES, SMALL_SEARCH, study_graph, train

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.files import write_file
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.learned_scopes.recipes import CANDIDATES_PER_NODE

FOLDER = CACHE / "extractors"
PAGE = ROOT / "docs" / "extractors-results.md"
NAMES = {
    **{name: f"{name} (substitute features)" for name in ("ogbn-arxiv", "flickr")},
    "debian": "debian (built in)",
}
Accuracies = dict[tuple[str, str], "Found"]

HEAD = """# Extractors: results

This page shows which extractor suits which graph: test accuracy in percent, mean and sample standard deviation of
{seeds} seeds, {runs} runs, {hours} hours of one core in all. It is written by `python bench/extractor_study.py` (two
processes share the runs: `--part 1/2`, `--part 2/2`; if stopped, they resume).

All rows have the same model and training: shaDow-SAGE of 3 layers with the target's vector as readout. Only the
extractor differs, each with its default settings (see [extractors](extractors.md)) except for the size, at most {size}
nodes. khop draws with a fanout for that many nodes, and has fewer if nodes have fewer neighbors; full takes the nearest
nodes up to the cap; node is the target alone, an MLP. For every cell the learning rates 0.01 and 0.003 are tried with
the first seed and chosen on validation, then {seeds} seeds are run. Dropout is 0.2 and DropEdge 0.1 everywhere. Four
rows are more than an extractor of one kind:

- gdc and near take scopes of ppr, including edges, from [another graph](extractors/scope-graph.md): gdc from the
  graph's diffusion (`shadow data diffuse`, {diffused} entries of a row, tolerance {tolerance:g}), near from the
  {neighbors} nearest neighbors in features, which leaves out all edges of the graph.
- learned has [scopes chosen by a normal GNN](extractors/learned.md). For each seed one is trained on the whole graph
  with the labels of the training targets, the best epoch by validation, and saliency keeps {size} of {candidates} PPR
  candidates. GNNExplainer is left out: it needs a separate pass for every step of every target and would take far
  longer than all other rows together.
- ensemble joins ppr and fire by [attention](extractors.md#several-at-once): two scopes of at most {size} nodes each.

Sizes are small, so that the study takes hours: narrow layers, small scopes, few targets (last table). Accuracies are
therefore below those of [docs/learning.md](learning.md). Features of more than 128 columns are replaced by their
projections on the first 128 singular vectors. The features of ogbn-arxiv and flickr are substitutes, so their
accuracies must not be compared with published ones. amazon-computers and coauthor-cs draw new targets for every seed;
the others have one draw from their official split.

`shadow compare-extractors` makes a quick comparison of this kind for your own graph.
"""


@dataclass(frozen=True)
class Found:
    """Results of the seeds of one extractor on one graph."""

    test: np.ndarray
    """In percent, one for each seed."""
    seconds: float
    """Mean CPU time of a run."""

    def text(self) -> str:
        """Mean and sample deviation."""
        return f"{self.test.mean():.1f} ± {self.test.std(ddof=1):.1f}"


def recipe_of(data: str, kind: str, settings: Mapping[str, float], seed: int) -> Recipe:
    """Return the recipe of one run."""
    size = SIZES[data]
    model = {"layer": "sage", "num_layers": 3, "hidden_dim": size.hidden_dim, "dropedge": 0.1}
    model |= {"dropout": settings["dropout"], "standardize": data in ("debian", "ogbn-arxiv")}
    training: dict[str, Any] = {"learning_rate": settings["learning_rate"], "schedule": "cosine"}
    training |= {"batch_size": size.batch_size, "num_epochs": size.shadow_epochs, "evaluate_every": size.evaluate_every}
    table = {"graph": data, "seed": seed, "model": model, "training": training, **scopes_of(kind, data, seed)}
    return Recipe.model_validate(table)


def run(data: str, kind: str, settings: Mapping[str, float], seed: int, folder: Path) -> dict[str, Any]:
    """Train once, unless that very run is kept already; return validation and test accuracy and CPU seconds."""
    recipe = recipe_of(data, kind, settings, seed)
    path = FOLDER / data / kind / f"{settings['learning_rate']}-{seed}.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text())
        # Read as a recipe: keys that are newer than the run have their defaults.
        if Recipe.model_validate(kept["recipe"]) == recipe:
            return kept
    make_files(kind, recipe, folder)
    plan = recipe.model_dump(mode="json", exclude_none=True)
    found = {"recipe": plan, "settings": dict(settings), **train(recipe, study_graph(data, folder, seed))}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(found).encode())
    print(f"{data} {kind} {path.stem}: {found['test']:.4f} {found['cpu_seconds']:.1f} s", flush=True)
    return found


def chosen(data: str, kind: str, folder: Path) -> list[dict[str, Any]]:
    """Return the runs of all seeds with the settings that are best on validation of the first."""
    tried = [(run(data, kind, settings, 0, folder), settings) for settings in SMALL_SEARCH]
    _, best = max(tried, key=lambda pair: pair[0]["valid"])
    return [run(data, kind, best, seed, folder) for seed in range(NUM_SEEDS)]


def work(names: Sequence[str], kinds: Sequence[str], part: int, num_parts: int, folder: Path) -> None:
    """Do every num_parts-th cell of some graphs."""
    torch.set_num_threads(1)
    cells = [(data, kind) for data in names for kind in kinds]
    for data, kind in cells[part::num_parts]:
        chosen(data, kind, folder)


def gather(names: Sequence[str], kinds: Sequence[str], folder: Path) -> Accuracies:
    """Return the results of every cell; missing runs are done now."""
    torch.set_num_threads(1)
    found = {}
    for data in names:
        for kind in kinds:
            runs = chosen(data, kind, folder)
            test = 100 * np.array([one["test"] for one in runs])
            found[data, kind] = Found(test, float(np.mean([one["cpu_seconds"] for one in runs])))
    return found


def alike(one: Found, other: Found) -> bool:
    """Tell whether two means are within two standard errors of their difference, seed by seed."""
    difference = one.test - other.test
    return bool(abs(difference.mean()) <= 2 * difference.std(ddof=1) / np.sqrt(len(difference)))


def table(found: Accuracies, names: Sequence[str], kinds: Sequence[str]) -> Report:
    """Return the accuracies, the best of each graph in bold."""
    report = Report("Accuracy", ("extractor", *(NAMES.get(name, name) for name in names), "mean rank"))
    ranks = {data: {kind: place for place, kind in enumerate(_by_mean(found, data, kinds), start=1)} for data in names}
    for kind in kinds:
        texts = [
            f"**{found[data, kind].text()}**" if ranks[data][kind] == 1 else found[data, kind].text() for data in names
        ]
        rank = np.mean([ranks[data][kind] for data in names])
        report.rows.append([f"[{kind}]({page_of(kind)})", *texts, f"{rank:.1f}"])
    report.notes.append("Bold: the highest mean of a graph. Mean rank: 1 would be the highest mean everywhere.")
    return report


def _by_mean(found: Accuracies, data: str, kinds: Sequence[str]) -> list[str]:
    return sorted(kinds, key=lambda kind: -float(found[data, kind].test.mean()))


def wins(found: Accuracies, names: Sequence[str], kinds: Sequence[str]) -> Report:
    """Return, graph by graph, the best extractor, its equals, and the gaps of PPR and the MLP."""
    report = Report("Best extractors", ("graph", "best", "equal", "best - ppr", "best - node"))
    for data in names:
        best, *others = _by_mean(found, data, kinds)
        near = [kind for kind in others if alike(found[data, best], found[data, kind])]
        behind = [
            f"{found[data, best].test.mean() - found[data, kind].test.mean():.1f}" if kind in kinds else "-"
            for kind in ("ppr", "node")
        ]
        report.rows.append([NAMES.get(data, data), best, ", ".join(near) or "none", *behind])
    report.notes.append(
        f"equal: the mean difference over {NUM_SEEDS} seeds is within two of its standard errors. Differences of means "
        "in points."
    )
    return report


def costs(found: Accuracies, names: Sequence[str], kinds: Sequence[str]) -> Report:
    """Return the CPU time of a run; scopes that are kept between epochs and seeds are extracted once."""
    report = Report("CPU seconds of a run", ("extractor", *names))
    for kind in kinds:
        report.rows.append([kind, *(f"{found[data, kind].seconds:.1f}" for data in names)])
    for kind in (kind for kind in kinds if kind in PAGES and kind != "ensemble"):
        seconds = [f"{np.mean(made_seconds(data, kind)):.1f}" for data in names]
        report.rows.append([f"{kind}: made beforehand", *seconds])
    report.notes.append(
        "Training, validation and test, a mean over seeds; fixed scopes are kept between runs. Made beforehand: the "
        "other graph, once for all seeds, or a normal GNN and scopes of all targets, for each seed."
    )
    return report


def sizes(names: Sequence[str]) -> Report:
    """Return how small the runs were made."""
    report = Report("Sizes", ("graph", "targets: train, valid, test", "width", "epochs", "batch"))
    for name in names:
        size = SIZES[name]
        targets = "official split" if size.targets is None else ", ".join(f"{count:,}" for count in size.targets)
        report.rows.append([name, targets, *map(str, (size.hidden_dim, size.shadow_epochs, size.batch_size))])
    return report


def write(found: Accuracies, names: Sequence[str], kinds: Sequence[str]) -> None:
    """Write docs/extractors-results.md."""
    runs = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*/*/*.json"))]
    made = sum(sum(made_seconds(data, kind)) for data in names for kind in kinds)
    hours = (sum(run["cpu_seconds"] for run in runs) + made) / 3600
    head = HEAD.format(
        seeds=NUM_SEEDS,
        runs=len(runs),
        hours=f"{hours:.2f}",
        size=SIZE,
        candidates=CANDIDATES_PER_NODE * SIZE,
        diffused=DIFFUSED,
        tolerance=TOLERANCE,
        neighbors=NEIGHBORS,
    )
    missing = [name for name in SIZES if name not in names]
    if missing:
        head += f"\n**Not finished**: the runs of {', '.join(missing)} are still to be done.\n"
    parts = (table(found, names, kinds), wins(found, names, kinds), costs(found, names, kinds), sizes(names))
    PAGE.write_text("\n".join([head, *(part.markdown() for part in parts)]).rstrip() + "\n")


def main() -> None:
    keep_freed_memory()
    kinds = row_names()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--extractors", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--part", help="do a share of the runs, such as 2/3, and write nothing")
    parser.add_argument("--page", action="store_true", help="write the page of the chosen graphs and extractors alone")
    options = parser.parse_args()
    if options.part is not None:
        part, num_parts = map(int, options.part.split("/"))
        work(options.only, options.extractors, part - 1, num_parts, options.data)
        return
    found = gather(options.only, options.extractors, options.data)
    for report in (table(found, options.only, options.extractors), wins(found, options.only, options.extractors)):
        print(report.text(), end="\n\n")
    if options.page or (set(options.only) == set(SIZES) and set(options.extractors) == set(kinds)):
        write(found, options.only, options.extractors)


if __name__ == "__main__":
    main()
