"""Table 1: accuracy and inference cost of every model on five datasets.

Not for: training (studies/paper/training_jobs.py) or counting operations (cost_columns.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import comparable, data_titles, open_found
from shadow_gnn.studies.paper.experiment import Cell, Finding, Job, ReproduceOptions, Result, Table
from shadow_gnn.studies.paper.experiments.cost_columns import COST_COLUMNS, ROWS
from shadow_gnn.studies.paper.paper_values import COSTS, TABLE_1
from shadow_gnn.studies.paper.scores import Heads, Line, how_text, score_table
from shadow_gnn.studies.paper.training_jobs import RecipeOf, Row, metric_of, score, training_jobs

PAPER_RUNS = 5

POOLED = {
    "flickr": {"gcn": "5-ppr-mean", "sage": "5-ppr-max", "gat": "3-ppr-mean"},
    "reddit": {"gcn": "3-ppr-max", "sage": "5-ppr-max", "gat": "5-ppr-max"},
    "yelp": {"gcn": "5-ppr-max", "sage": "3-ppr-max", "gat": "3-ppr-max"},
    "ogbn-arxiv": {"gcn": "5-ppr-max", "sage": "5-ppr-max", "gat": "5-ppr-max"},
    "ogbn-products": {"gcn": "5-ppr-max", "sage": "3-ppr-max", "gat": "3-ppr-max"},
}
"""Layers and readout of the rows with pooling, from the paper's table of configurations."""

_KINDS = {
    "full": ("{}", "o"),
    "saint": ("{}-SAINT", "s"),
    "2hop": ("shaDow-{} (2-hop)", "^"),
    "ppr": ("shaDow-{} (PPR)", "D"),
    "pooling": ("shaDow-{} (PPR) + pooling", "*"),
}
_COLOR = dict(zip(("gcn", "sage", "gat"), COLORS, strict=False))


@dataclass(frozen=True)
class Model:
    """A row of the table on one dataset."""

    line: Line
    """Recipe, labels and printed accuracy."""
    layer: str
    """gcn, sage or gat."""
    kind: str
    """full, saint, 2hop, ppr or pooling."""
    key: str
    """Its key in TABLE_1."""
    printed_cost: float
    """The paper's cost."""

    def cost(self, results: Mapping[str, Result]) -> float | None:
        """Return operations of one prediction over those of the 3-layer shaDow (PPR) model with the same layer."""
        found = results.get(_cost_key(self.line.row.data))
        if found is None:
            return None
        return float(found["rows"][ROWS[self.key].key]["ratio"][0])


def _models(data: str, place: int) -> list[Model]:
    models = []
    for key, printed in TABLE_1[data].items():
        layer, *rest = key.split("-")
        kind = rest[-1]
        tail = POOLED[data][layer] if kind == "pooling" else "-".join(rest)
        method = _KINDS[kind][0].format(layer.upper())
        line = Line(Row(f"{data}-{layer}-{tail}", data), (method, tail.split("-")[0]), printed)
        models.append(Model(line, layer, kind, key, COSTS[key][place]))
    return models


MODELS = {data: _models(data, place) for place, data in enumerate(TABLE_1)}
"""The rows of the table, by dataset."""


@dataclass(frozen=True)
class Table1:
    """Test accuracy and inference cost."""

    recipe_of: RecipeOf = paper_recipe
    """Gives the recipe of a name."""
    name = "table1"
    paper = "Table 1"
    summary = "GCN, SAGE, GAT, normal, GraphSAINT and shaDow, on five datasets: accuracy and cost."
    data = tuple(TABLE_1)

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job that counts the costs of each dataset, then one for each model, dataset and seed."""
        graphs = open_found(self.data, options.data)
        costs = [replace(job, key=_cost_key(job.key)) for job in COST_COLUMNS.jobs(options)]
        rows = (model.line.row for models in MODELS.values() for model in models)
        return [*costs, *training_jobs(rows, graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)]

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        graphs = open_found(self.data, options.data)
        return Finding(
            title="Table 1: accuracy and inference cost",
            text=f"{how_text(options, PAPER_RUNS)}\n\n{_COST_TEXT}",
            tables=tuple(_table(name, results, comparable(graphs, options)) for name in graphs),
            draw=partial(_draw, data_titles(graphs, options), results),
            notes=_NOTES,
        )


def _cost_key(data: str) -> str:
    return f"cost-{data}"


def _table(data: str, results: Mapping[str, Result], names: Collection[str]) -> Table:
    models = MODELS[data]
    heads = Heads(f"table1-{data}", f"Table 1, {data}.", ("method", "layers"))
    table = score_table(heads, [model.line for model in models], results, names)
    rows: list[tuple[Cell, ...]] = []
    for row, model in zip(table.rows, models, strict=True):
        cost = model.cost(results)
        rows.append((*row, None if cost is None else round(cost, 2), model.printed_cost))
    return replace(table, columns=(*table.columns, "cost, ours", "cost, paper"), rows=tuple(rows))


def _draw(titles: Mapping[str, str], results: Mapping[str, Result], path: Path) -> None:
    """Draw accuracy over cost: ours filled, the paper's hollow."""
    with panels(path, (4.5 * len(titles), 4.8), len(titles), share_x=True) as axes:
        for plot, name in zip(axes, titles, strict=True):
            for model in MODELS[name]:
                _draw_model(plot, model, results)
            metric = metric_of(results, [model.line.row.recipe for model in MODELS[name]])
            plot.set(xscale="log", xlabel="cost", ylabel=f"test {metric}")
            plot.set_title(titles[name], fontsize=10)
            plot.grid(alpha=0.3)
        _legend(axes[-1])


def _draw_model(plot: Any, model: Model, results: Mapping[str, Result]) -> None:
    look = {"marker": _KINDS[model.kind][1], "color": _COLOR[model.layer], "linestyle": "none", "markersize": 6}
    hollow = {"markerfacecolor": "none", "alpha": 0.5}
    ours, cost = score(results, model.line.row.recipe), model.cost(results)
    for at, found, extra in ((cost, ours, {}), (model.printed_cost, model.line.paper, hollow)):
        if at is not None and found is not None:
            plot.errorbar([at], [found.mean], yerr=[found.deviation or 0.0], **look, **extra)


def _legend(plot: Any) -> None:
    from matplotlib.lines import Line2D

    looks = [{"color": color, "marker": "o", "label": layer} for layer, color in _COLOR.items()]
    looks += [{"color": "0.3", "marker": marker, "label": kind} for kind, (_, marker) in _KINDS.items()]
    looks.append({"color": "0.3", "marker": "o", "markerfacecolor": "none", "label": "paper (hollow)"})
    handles = [Line2D([], [], linestyle="none", **look) for look in looks]  # type: ignore[arg-type]
    legend_below(plot.figure, handles, columns=8)


_COST_TEXT = (
    "Costs are operations of one prediction over those of the 3-layer shaDow (PPR) model with the same layer, by the "
    "equations of the paper's appendix with the paper's feature columns and 256 hidden ones, also with `--fast`; "
    "`shadow reproduce cost` has them with confidence intervals. The paper prints one digit."
)
_NOTES = (
    "Settings of normal GNNs and of GraphSAINT are not published: those recipes follow the dataset's "
    "shaDow rows where they can, and their heads name our own choices.",
    "OOM: the paper ran out of memory. Here a run that would not fit is refused and listed as not done.",
)
