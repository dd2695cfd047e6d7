"""Page: the results of the study as tables and sentences, docs/comparison.md.

Not for: the comparisons themselves (study_findings.py). The same results give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from study_findings import Comparison, Measured, Results, best_on_validation, compare, measured
from study_graphs import MAX_COLUMNS
from study_jobs import DEFAULT, FEW, LOOKS, MAX_BUDGETS, Cell, Ending, Settings
from study_plan import PAPER_CELLS, Plan, progress

from shadow_gnn.base.files import write_file

Pairs = list[Comparison]
ENDINGS: tuple[tuple[Ending, str], ...] = (
    ("budget", "equal CPU seconds"),
    ("patience", "until validation no longer improves"),
)

HEAD = """# Does it pay?

This page compares normal GNNs with models on scopes (shaDow) and with the default of `shadow train --graph`, on whole
training and test sets, prediction by prediction: {runs} runs, {hours} CPU hours of training; graphs with a finished
pair: {graphs}. It is written by `python bench/study page --folder FOLDER` from the results in
[study-results](study-results). `python bench/study run --folder FOLDER` does the runs that are missing, `status` counts
them, and `export` updates the results.
"""

PROTOCOL = """## Protocol

- **Default**: `shadow train --graph GRAPH` without a recipe, with the layer and depth of the row: the mean of a
  normal GNN, a model on scopes of 50 nodes and, on dense homophilous graphs, a GCN, all with training labels as inputs;
  validation chooses which of them are averaged.
  See [the default](default.md). It tries no settings.
- **Models**: {layers} of {depths} layers. shaDow has scopes of personalized PageRank (ppr-100: 100 nodes); a normal GNN
  trains on the whole graph (full), on subgraphs of GraphSAINT (saint) or on drawn neighbors (neighbor) and is evaluated
  on the whole graph.
- **Search**: {trials} settings for each model and method{space}. All methods of a graph, layer and depth except the
  default try the same settings and have the same CPU seconds for each; validation chooses. The run that is chosen is
  also the first seed.
- **Equal CPU seconds**: every run has as many epochs as fit into the CPU seconds of its graph (extraction, batches and
  steps on one thread, without validation), with a cosine schedule.
{patience}- **Accuracy** is that of the epoch with the best validation of about {looks} looks, on all test targets.
  Where several methods of a side are finished, validation chooses between them. The number of seeds is in parentheses.
- **Interval**: 95 %, from a bootstrap over test nodes and seeds of both sides; with a single seed on a side it covers
  the nodes alone. **p**: McNemar's test (mid-p) of the first seeds.
- Features of more than {columns} columns are projected on their first {columns} singular vectors, for all sides. The
  graphs that were never used for tuning are left out until the end.
"""
PATIENCE = """- **Until validation no longer improves**: the chosen settings; the learning rate is halved after a
  quarter of these CPU seconds without better validation, and the run ends after three quarters, or after {most} times
  the CPU seconds.
"""
HYPERCUBE = """, drawn as a Latin hypercube: learning rate from 0.0001 to 0.01
  (log), warm-up of 0 or 10 % of the run, dropout up to 0.5, DropEdge up to 0.4, width 64, 128 or 256"""
HEADINGS = {
    "sage": "SAGE",
    "gcn": "GCN",
    "gat": "GAT",
    "gin": "GIN",
    "jk": "JK (GCN, outputs of all layers concatenated)",
}


def write_page(plan: Plan, results: Results, path: Path) -> None:
    """Write the page of all results."""
    write_file(path, page(plan, results).encode())


def page(plan: Plan, results: Results) -> str:
    """Return the page as Markdown."""
    finished = {name: result for name, result in results.items() if result.job.cell.graph in plan.graphs}
    found = {ending: pairs(plan, ending, finished) for ending, _ in ENDINGS}
    defaults = default_pairs(plan, finished)
    hours = sum(result.cpu_seconds for result in finished.values()) / 3600
    every = [*defaults, *(pair for one in found.values() for pair in one)]
    shown = sorted({pair.first.cell.graph for pair in every}, key=list(plan.graphs).index)
    parts = [HEAD.format(runs=f"{len(finished):,}", graphs=len(shown), hours=f"{hours:.1f}")]
    parts.append(
        "## Findings\n\n" + "\n".join(f"- {line}" for line in sentences(plan, found, defaults, finished)) + "\n"
    )
    parts += [graph_part(plan, name, found, defaults) for name in shown]
    parts += [paper_part(finished)] if any(result.job.ending == "recipe" for result in finished.values()) else []
    parts.append(protocol(plan))
    parts.append(graphs_part(plan, finished))
    return "\n".join(parts).rstrip() + "\n"


def protocol(plan: Plan) -> str:
    """Return the part about the method."""
    few = f": {'; '.join(map(settings_text, FEW))}"
    return PROTOCOL.format(
        layers=" and ".join(HEADINGS[layer] for layer in plan.layers),
        depths=", ".join(map(str, plan.depths)),
        trials=plan.num_trials,
        space=few if plan.num_trials <= len(FEW) else HYPERCUBE,
        patience=PATIENCE.format(most=MAX_BUDGETS) if "patience" in plan.endings else "",
        looks=LOOKS,
        columns=MAX_COLUMNS,
    )


def settings_text(settings: Settings) -> str:
    """Return some settings in words."""
    rate, width = f"learning rate {settings.learning_rate:g}", f"width {settings.hidden_dim}"
    return f"{rate}, dropout {settings.dropout:g}, DropEdge {settings.dropedge:g}, {width}"


def default_pairs(plan: Plan, results: Results) -> Pairs:
    """Return the default and the best normal method of each graph, layer and depth where both are measured."""
    found = []
    for graph, num_layers, layer in product(plan.graphs, plan.depths, plan.layers):
        cell = Cell(graph, DEFAULT, layer, num_layers)
        first, (_, second) = measured(cell, "default", 1, results), sides_of(plan, cell, "budget", results)
        if first is not None and second is not None:
            found.append(compare(first, second))
    return found


def pairs(plan: Plan, ending: Ending, results: Results) -> Pairs:
    """Return the best shaDow and the best normal method of each graph, layer and depth where both are measured."""
    found = []
    for graph, num_layers, layer in product(plan.graphs, plan.depths, plan.layers):
        sides = sides_of(plan, Cell(graph, "", layer, num_layers), ending, results)
        if sides[0] is not None and sides[1] is not None:
            found.append(compare(sides[0], sides[1]))
    return found


def sides_of(plan: Plan, cell: Cell, ending: Ending, results: Results) -> tuple[Measured | None, Measured | None]:
    """Return the best shaDow method and the best normal one of a graph, layer and depth, both by validation."""
    every = [Cell(cell.graph, method, cell.layer, cell.num_layers) for method in plan.methods if method != DEFAULT]
    runs = [measured(one, ending, plan.num_trials, results) for one in every]
    sides = [[run for run in runs if run is not None and run.cell.is_shadow == shadow] for shadow in (True, False)]
    return best_on_validation(sides[0]), best_on_validation(sides[1])


def sentences(plan: Plan, found: dict[Ending, Pairs], defaults: Pairs, results: Results) -> list[str]:
    """Return what the comparisons say, in words."""
    lines = []
    if defaults:
        lines += [f"**Default against normal**: {counted(defaults)}", *goals(defaults)]
        deep = [
            compare(five, three)
            for graph, layer in product(plan.graphs, plan.layers)
            if (five := measured(Cell(graph, DEFAULT, layer, 5), "default", 1, results)) is not None
            and (three := measured(Cell(graph, DEFAULT, layer, 3), "default", 1, results)) is not None
        ]
        if deep:
            lines.append(f"**Default, 5 layers against 3**: {counted(deep)}")
    for ending, words in ENDINGS:
        if found[ending]:
            lines.append(f"**shaDow against normal, {words}**: {counted(found[ending])}")
            lines += extremes(found[ending])
    for ending, words in ENDINGS:
        for side, name in enumerate(("shaDow", "normal")):
            deep = [
                compare(five, three)
                for graph, layer in product(plan.graphs, plan.layers)
                if (five := sides_of(plan, Cell(graph, "", layer, 5), ending, results)[side]) is not None
                and (three := sides_of(plan, Cell(graph, "", layer, 3), ending, results)[side]) is not None
            ]
            if deep:
                lines.append(f"**{name}, 5 layers against 3, {words}**: {counted(deep)}")
    failed = sorted(result.name for result in results.values() if result.fault)
    if failed:
        lines.append(f"**Failed**: {len(failed)} runs: {', '.join(failed)}.")
    left = progress(plan, results, list(plan.graphs))
    if left.num_done < left.num_expected:
        lines.append(
            f"**Not finished**: {left.num_done:,} of at least {left.num_expected:,} runs are done. "
            "All counts on this page are of finished pairs."
        )
    return lines


def goals(found: Pairs) -> list[str]:
    """Return how often the default reaches the goals that were set for it, and what it costs."""
    values = [100 * pair.difference.value for pair in found]
    ratios = [pair.first.cpu_seconds / pair.second.cpu_seconds for pair in found]
    return [
        f"Goal, at most 0.2 points below the best normal GNN: {sum(value >= -0.2 for value in values)} of {len(found)} "
        f"pairs. Goal, 0.3 points above it in half of them: {sum(value >= 0.3 for value in values)} of {len(found)}.",
        f"CPU seconds of training, default over normal: {min(ratios):.1f} to {max(ratios):.1f}, without the search for "
        "settings, which the normal side has and the default does not need.",
    ]


def counted(found: Pairs) -> str:
    """Return how many differences are above, equal and below, and their mean."""
    words = Counter(pair.verdict for pair in found)
    values = [100 * pair.difference.value for pair in found]
    return (
        f"{words['above']} above, {words['equal']} equal within the interval, {words['below']} below, of "
        f"{len(found)}; mean difference {np.mean(values):+.2f} points, from {min(values):+.2f} to {max(values):+.2f}."
    )


def extremes(found: Pairs) -> list[str]:
    """Return a line for each graph where all decided pairs point the same way."""
    lines = []
    for verdict in ("above", "below"):
        graphs = sorted({pair.first.cell.graph for pair in found})
        names = [
            name
            for name in graphs
            if {pair.verdict for pair in found if pair.first.cell.graph == name} - {"equal"} == {verdict}
        ]
        if names:
            lines.append(f"shaDow is {verdict} where the interval decides on {', '.join(names)}.")
    return lines


def graph_part(plan: Plan, name: str, found: dict[Ending, Pairs], defaults: Pairs) -> str:
    """Return the tables of one graph."""
    parts = [f"## {name}\n"]
    columns = ("model", "default", "test", "CPU s", "normal", "test", "CPU s", "difference (95 %)", "p")
    rows = [
        [row[0], weights_text(pair.first), *row[2:]]
        for pair in defaults
        if pair.first.cell.graph == name
        for row in [pair_row(pair)]
    ]
    if rows:
        parts += ["Default, with the mean weight of its model on scopes, against normal:\n", table(columns, rows)]
    columns = ("model", "shaDow", "test", "CPU s", "normal", "test", "CPU s", "difference (95 %)", "p")
    for ending, words in ENDINGS:
        rows = [pair_row(pair) for pair in found[ending] if pair.first.cell.graph == name]
        if rows:
            title = f"{words[0].upper()}{words[1:]}"
            extra = f" ({plan.graphs[name].budget:g} for each run)" if ending == "budget" else ""
            parts += [f"{title}{extra}:\n", table(columns, rows)]
    return "\n".join(parts)


def pair_row(pair: Comparison) -> list[str]:
    """Return a row of a graph's table."""
    cell = pair.first.cell
    sides = [text for side in (pair.first, pair.second) for text in side_texts(side)]
    low, value, high = (100 * number for number in (pair.difference.low, pair.difference.value, pair.difference.high))
    interval = f"{value:+.2f} ({low:+.2f} to {high:+.2f})"
    if pair.verdict != "equal":
        interval = f"**{interval}**"
    return [f"{cell.layer}-{cell.num_layers}", *sides, interval, f"{pair.test.p:.2g}"]


def weights_text(side: Measured) -> str:
    """Return the mean weight of scopes in a default."""
    return f"{np.mean([run.settings['weights']['scopes'] for run in side.runs]):.2f}"


def side_texts(side: Measured) -> tuple[str, str, str]:
    """Return method, accuracy and CPU seconds of one side."""
    test = 100 * side.test
    spread = f" ± {test.std(ddof=1):.2f}" if len(test) > 1 else ""
    return side.cell.method, f"{test.mean():.2f}{spread} ({len(test)})", f"{side.cpu_seconds:.0f}"


def paper_part(results: Results) -> str:
    """Return the table of the paper's recipes."""
    rows = []
    for cell in PAPER_CELLS:
        side = measured(cell, "recipe", 1, results)
        if side is not None:
            rows.append([f"{cell.layer}-{cell.num_layers}", *side_texts(side)])
    text = (
        "## The paper's recipes on ogbn-arxiv\n\nSubstitute features: not to be compared with the paper's values.\n\n"
    )
    return text + table(("model", "method", "test", "CPU s"), rows)


def graphs_part(plan: Plan, results: Results) -> str:
    """Return the table of the graphs."""
    rows = []
    for name, graph in plan.graphs.items():
        done = [result for result in results.values() if result.job.cell.graph == name]
        bits = next((result.bits for result in done if result.bits), None)
        counts = [f"{bits[split]['count']:,}" if bits is not None else "-" for split in ("valid", "test")]
        rows.append([name, f"{graph.budget:g}", *counts, f"{len(done):,}", graph.note or "-"])
    columns = ("graph", "CPU s of a run", "validation targets", "test targets", "runs", "note")
    return "## Graphs\n\n" + table(columns, rows)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---", *["---:"] * (len(columns) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows)) + "\n"
