"""Comparison: normal GNNs and shaDow on six graphs, five models, two depths, five seeds: docs/comparison.md.

Not for: the single runs (comparison_runs.py). It resumes after an interruption; --part splits it between processes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from common import ROOT, Report
from comparison_runs import (
    LAYERS,
    MODELS,
    NUM_SEEDS,
    PROBED,
    PROBES,
    READOUTS,
    SIZES,
    WAYS,
    Cell,
    cells,
    chosen,
    kept_runs,
    probes,
    work,
)
from comparison_text import EXPLANATIONS, HEAD

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.studies.figures import COLORS, legend_below, picture

NORMAL, SHADOW = ("full", "saint"), ("ppr", "2-hop", "readout")
NAMES = {"ogbn-arxiv": "ogbn-arxiv's graph with substitute features", "debian": "debian, the built-in graph"}
Accuracies = dict[Cell, "Found"]


@dataclass(frozen=True)
class Found:
    """Results of the seeds of one cell, with the best settings on validation."""

    settings: dict[str, float | str]
    valid: np.ndarray
    test: np.ndarray
    """In percent, one for each seed."""

    def text(self) -> str:
        """Mean and sample deviation, and the readout where one was chosen."""
        readout = f" {self.settings['readout']}" if "readout" in self.settings else ""
        return f"{self.test.mean():.1f} ± {self.test.std(ddof=1):.1f}{readout}"


def gather(names: Sequence[str], data: Path) -> Accuracies:
    """Return the results of every cell; missing runs are done now."""
    found = {}
    for name in names:
        for cell in (*cells(name), *probes(name)):
            settings, runs = chosen(cell, data)
            valid, test = (100 * np.array([run[part] for run in runs]) for part in ("valid", "test"))
            found[cell] = Found(settings, valid, test)
    return found


def best_of(found: Accuracies, data: str, model: str, num_layers: int, ways: Sequence[str]) -> Found:
    """Return the way that is best on validation."""
    return max((found[Cell(data, model, num_layers, way)] for way in ways), key=lambda cell: float(cell.valid.mean()))


def table(found: Accuracies, data: str) -> Report:
    """Return the accuracies of one graph."""
    report = Report(NAMES.get(data, data), ("model", "layers", *WAYS))
    for model in MODELS:
        for num_layers in LAYERS:
            row = [found[Cell(data, model, num_layers, way)].text() for way in WAYS]
            report.rows.append([model, str(num_layers), *row])
    return report


def verdict(better: Found, worse: Found) -> str:
    """Tell whether the first mean is above, alike (within two standard errors of the difference) or below."""
    difference = float(better.test.mean() - worse.test.mean())
    error = float(np.sqrt((better.test.var(ddof=1) + worse.test.var(ddof=1)) / NUM_SEEDS))
    return "alike" if abs(difference) <= 2 * error else "above" if difference > 0 else "below"


def claims(found: Accuracies, names: Sequence[str]) -> Report:
    """Count, graph by graph, how often the paper's expectations hold."""
    report = Report(
        "Expectations, and how often they hold",
        ("graph", "shaDow against normal, equal depth", "shaDow, 5 layers against 3", "normal, 5 layers against 3"),
    )

    def count(pairs: list[tuple[Found, Found]]) -> str:
        words = [verdict(*pair) for pair in pairs]
        mean = np.mean([first.test.mean() - second.test.mean() for first, second in pairs])
        return f"{' / '.join(str(words.count(word)) for word in ('above', 'alike', 'below'))}  ({mean:+.1f})"

    for data in names:
        sides: dict[tuple[str, int, tuple[str, ...]], Found] = {
            (model, num_layers, ways): best_of(found, data, model, num_layers, ways)
            for model in MODELS
            for num_layers in LAYERS
            for ways in (NORMAL, SHADOW)
        }
        report.rows.append(
            [
                data,
                count([(sides[m, n, SHADOW], sides[m, n, NORMAL]) for m in MODELS for n in LAYERS]),
                *(count([(sides[m, 5, ways], sides[m, 3, ways]) for m in MODELS]) for ways in (SHADOW, NORMAL)),
            ]
        )
    report.notes.append(
        "above / equal / below, with the mean difference in points; equal is within two standard errors of the "
        "difference of two means. Each side uses its best method on validation: full or saint for normal; ppr, "
        "2-hop or readout for shaDow."
    )
    return report


def reasons(found: Accuracies, names: Sequence[str]) -> Report:
    """Return the effect of changes to the runs with PPR scopes."""
    report = Report("Search for causes", ("graph", "model", "normal", "ppr", *PROBES))
    for data in names:
        for model, num_layers, ways in PROBED.get(data, ()):
            cell = Cell(data, model, num_layers, "ppr")
            row = {way: found[replace(cell, way=way)].text() for way in ways}
            normal = best_of(found, data, model, num_layers, NORMAL).text()
            cells = [normal, found[cell].text(), *(row.get(way, "") for way in PROBES)]
            report.rows.append([data, f"{model}, {num_layers} layers", *cells])
    report.notes.append(
        "The settings chosen for ppr, except for: scopes of 200 or 15 nodes instead of 50; DropEdge 0.5; "
        "dropout 0.5; batches of 200 targets in 72 epochs; a learning rate of 0.001; 48 epochs. "
        "Normal: as in the tables."
    )
    return report


def sizes(names: Sequence[str]) -> Report:
    """Return how small the runs were made."""
    columns = ("graph", "targets: train, valid, test", "width", "shaDow epochs", "batch", "full epochs", "tries")
    report = Report("Sizes", columns)
    for name in names:
        size = SIZES[name]
        targets = "official split" if size.targets is None else ", ".join(f"{count:,}" for count in size.targets)
        numbers = (size.hidden_dim, size.shadow_epochs, size.batch_size, size.full_epochs, len(size.search))
        report.rows.append([name, targets, *map(str, numbers)])
    return report


def draw(found: Accuracies, names: Sequence[str], path: Path) -> None:
    """Draw, graph by graph, the accuracies of both sides at both depths."""
    num_columns = min(3, len(names))
    num_rows = -(-len(names) // num_columns)
    side: Callable[[str, str, int, Sequence[str]], Found] = lambda *key: best_of(found, *key)  # noqa: E731
    with picture(path, (4 * num_columns, 3.2 * num_rows + 0.4)) as figure:
        axes = figure.subplots(num_rows, num_columns, squeeze=False)
        for axis, data in zip(axes.flat, names, strict=False):
            for place, num_layers in enumerate(LAYERS):
                for offset, (label, ways, color) in enumerate(
                    (("normal GNN", NORMAL, COLORS[1]), ("shaDow", SHADOW, COLORS[0]))
                ):
                    values = [side(data, model, num_layers, ways) for model in MODELS]
                    where = np.arange(len(MODELS)) + 0.2 * (2 * place + offset) - 0.3
                    axis.errorbar(
                        where,
                        [value.test.mean() for value in values],
                        [value.test.std(ddof=1) for value in values],
                        fmt="o" if num_layers == 3 else "s",
                        color=color,
                        mfc=color if num_layers == 5 else "white",
                        label=f"{label}, {num_layers} layers",
                    )
            axis.set_title(data)
            axis.set_xticks(np.arange(len(MODELS)), list(MODELS))
            axis.grid(axis="y", alpha=0.3)
        for axis in axes[:, 0]:
            axis.set_ylabel("test accuracy (%)")
        legend_below(figure)


def write(found: Accuracies, names: Sequence[str]) -> None:
    """Write docs/comparison.md and its figure."""
    hours = sum(run["cpu_seconds"] for run in kept_runs()) / 3600
    head = HEAD.format(seeds=NUM_SEEDS, hours=f"{hours:.1f}", runs=len(kept_runs()), readouts=", ".join(READOUTS))
    parts = [claims(found, names), *(table(found, name) for name in names)]
    why = reasons(found, names).markdown()
    missing = [name for name in SIZES if name not in names]
    if missing:
        head += f"\n**Not finished**: the runs of {', '.join(missing)} are still to be done.\n"
    text = [head, parts[0].markdown(), EXPLANATIONS, why, *(part.markdown() for part in (*parts[1:], sizes(names)))]
    (ROOT / "docs" / "comparison.md").write_text("\n".join(text).rstrip() + "\n")
    draw(found, names, ROOT / "docs" / "comparison.png")


def main() -> None:
    keep_freed_memory()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--part", help="do a share of the runs, such as 2/3, and write nothing")
    parser.add_argument("--page", action="store_true", help="write the page of the chosen graphs alone")
    options = parser.parse_args()
    if options.part is not None:
        part, num_parts = map(int, options.part.split("/"))
        work(options.only, part - 1, num_parts, options.data)
        return
    found = gather(options.only, options.data)
    for report in (
        claims(found, options.only),
        reasons(found, options.only),
        *(table(found, name) for name in options.only),
    ):
        print(report.text(), end="\n\n")
    if options.page or set(options.only) == set(SIZES):
        write(found, options.only)


if __name__ == "__main__":
    main()
