"""Cost columns: the inference cost of every row of Table 1, counted on the graphs, with the paper's values.

Not for: the equations (studies/cost) or accuracies (table1.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.normal.hops import hop_counts
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.named import paper_recipe, paper_recipe_names
from shadow_gnn.studies.cost.counts import ScopeSizes, full_batch_cost, normal_macs, scope_sizes, shadow_macs
from shadow_gnn.studies.cost.estimate import estimate_mean, estimate_ratio, sample_targets
from shadow_gnn.studies.cost.recipe import model_shape
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import SEED, DatasetExperiment
from shadow_gnn.studies.paper.experiment import Cell, Result, Table
from shadow_gnn.studies.paper.paper_values import COSTS
from shadow_gnn.studies.paper.paper_values import DATASETS as DATA
from shadow_gnn.training.build import build_extractor

IN_DIM = {"flickr": 500, "reddit": 602, "yelp": 300, "ogbn-arxiv": 128, "ogbn-products": 100}
"""Feature columns of the paper's data, which the costs are for; those of a graph here do not matter."""
MAX_TARGETS = 4000


@dataclass(frozen=True)
class Row:
    """A row of the paper's table."""

    table_key: str
    """Key of the row in COSTS."""
    method: str
    """Name in the table."""
    layer: str
    """gcn, sage or gat."""
    num_layers: int | None
    """None where it differs between datasets (3/5)."""
    kind: str
    """normal, ppr, 2hop or pool."""
    printed: tuple[float, ...]
    """Printed costs, one for each of DATA."""

    @property
    def key(self) -> str:
        """Name of the row in results."""
        return f"{self.layer}-{self.num_layers or 'any'}-{self.kind}-{self.method}"

    def printed_text(self, place: int) -> str:
        """Return a cost as the paper prints it; (1) is the unit of its layer and dataset."""
        is_unit = self.table_key.endswith("-3-ppr")
        return "(1)" if is_unit else f"{self.printed[place]:.0E}".replace("E+0", "E")


_METHODS = {
    "full": ("{name}", "normal"),
    "saint": ("{short}-SAINT", "normal"),
    "2hop": ("shaDow-{short} (2-hop)", "2hop"),
    "ppr": ("shaDow-{short} (PPR)", "ppr"),
    "pooling": ("shaDow-{short} (PPR) + pooling", "pool"),
}


def _row(key: str) -> Row:
    """Return the row of a key of COSTS; GraphSAINT's inference is that of a normal GNN."""
    layer, *rest = key.split("-")
    method, kind = _METHODS[rest[-1]]
    names = {"name": "GraphSAGE" if layer == "sage" else layer.upper(), "short": layer.upper()}
    return Row(key, method.format(**names), layer, int(rest[0]) if len(rest) > 1 else None, kind, COSTS[key])


ROWS = {key: _row(key) for key in COSTS}
"""The rows in the order of the table, by their keys in COSTS."""


def count_costs(name: str, graph: Graph, max_targets: int, progress: Progress) -> Result:
    """Count all rows for the test targets of a dataset, or a sample of them."""
    every = graph.split("test")
    targets = sample_targets(every, max_targets, seed=SEED)
    counts = hop_counts(graph, targets, 5, progress=progress)
    sizes: dict[str, ScopeSizes] = {}
    found: dict[str, Any] = {}
    for layer in ("gcn", "sage", "gat"):
        unit = None
        # The row that is the unit comes first.
        for row in sorted((row for row in ROWS.values() if row.layer == layer), key=lambda row: row.kind != "ppr"):
            recipe = row_recipe(name, row)
            network = model_shape(recipe.model, IN_DIM[name])
            if row.kind == "normal":
                macs = normal_macs(counts, network)
            else:
                macs = shadow_macs(_sizes(recipe, graph, targets, sizes, progress), network)
            unit = macs if unit is None else unit
            mean, ratio = estimate_mean(macs, len(every)), estimate_ratio(macs, unit, len(every))
            found[row.key] = {
                "num_layers": network.num_layers,
                "macs": [mean.value, mean.low, mean.high],
                "ratio": [ratio.value, ratio.low, ratio.high],
                "full_batch_macs": full_batch_cost(graph, network, len(every)) if row.kind == "normal" else None,
            }
    return {"num_targets": len(targets), "num_all": len(every), "rows": found}


def _sizes(recipe: Recipe, graph: Graph, targets: Ints, known: dict[str, ScopeSizes], progress: Progress) -> ScopeSizes:
    """Return the sizes of a recipe's scopes; recipes with the same scopes share them."""
    assert recipe.extractor is not None
    extractor = build_extractor(recipe.extractor, training=False)
    if extractor.key not in known:
        known[extractor.key] = scope_sizes(graph, extractor, targets, seed=SEED, progress=progress)
    return known[extractor.key]


def row_recipe(name: str, row: Row) -> Recipe:
    """Return the recipe of a row for a dataset; that of a normal GNN only lacks a scope."""
    if row.kind == "normal":
        return paper_recipe(f"{name}-{row.layer}-{row.num_layers}-full")
    if row.kind == "pool":
        rows = [each for each in paper_recipe_names(extra=False) if each.startswith(f"{name}-{row.layer}-")]
        (pooled,) = [each for each in rows if each.split("-")[-1] in ("mean", "max")]
        return paper_recipe(pooled)
    return paper_recipe(f"{name}-{row.layer}-{row.num_layers}-{row.kind}")


def _tables(results: Mapping[str, Result]) -> tuple[Table, ...]:
    caption = "Table 1, cost: operations per test node over those of the 3-layer shaDow (PPR) of the same architecture."
    detail = "The same with 95 % confidence intervals and absolute numbers, including a pass over the whole graph."
    wide = [_wide_row(row, results) for row in ROWS.values()]
    long = [_long_row(row, name, result) for name, result in results.items() for row in ROWS.values()]
    return Table.of("cost", caption, wide), Table.of("cost-detail", detail, long)


def _wide_row(row: Row, results: Mapping[str, Result]) -> dict[str, Cell]:
    """Return a row of the paper's table: two columns for each dataset."""
    cells: dict[str, Cell] = {"method": row.method, "layers": str(row.num_layers or "3/5")}
    for place, name in enumerate(DATA):
        ours = round(results[name]["rows"][row.key]["ratio"][0], 2) if name in results else None
        cells |= {f"{name} (paper)": row.printed_text(place), f"{name} (ours)": ours}
    return cells


def _long_row(row: Row, name: str, result: Result) -> dict[str, Cell]:
    found = result["rows"][row.key]
    ratio, whole = found["ratio"], found["full_batch_macs"]
    million, low, high = (value / 1e6 for value in found["macs"])
    return {
        "data": name,
        "method": row.method,
        "layers": found["num_layers"],
        "paper": row.printed_text(DATA.index(name)),
        "ours": ratio[0],
        "ours, low": ratio[1],
        "ours, high": ratio[2],
        "million operations": million,
        "low": low,
        "high": high,
        "full batch, million per target": None if whole is None else whole / 1e6,
        "targets": result["num_targets"],
    }


def _draw(results: Mapping[str, Result], titles: Mapping[str, str], path: Path) -> None:
    """Draw ours over the paper's, with a line where they are equal."""
    with panels(path, (5.5, 4.5), 1) as (plot,):
        for color, (name, result) in zip(COLORS, results.items(), strict=False):
            place = DATA.index(name)
            paper = [row.printed[place] for row in ROWS.values()]
            ours = [result["rows"][row.key]["ratio"][0] for row in ROWS.values()]
            plot.scatter(paper, ours, s=28, alpha=0.7, color=color, label=titles[name])
        plot.plot((0.7, 5e3), (0.7, 5e3), color="0.6", linewidth=1)
        plot.set(xscale="log", yscale="log", xlabel="printed in Table 1", ylabel="counted here")
        plot.set_title("Inference cost over that of the 3-layer shaDow (PPR)", fontsize=10)
        legend_below(plot.figure)


COST_COLUMNS = DatasetExperiment(
    name="cost",
    paper="Table 1, cost",
    summary="Inference cost of every row of Table 1 by the appendix's equations.",
    data=DATA,
    job_title="inference cost",
    measure=count_costs,
    max_targets=(MAX_TARGETS, 256),
    settings=lambda name: {"in_dim": IN_DIM[name], "version": 1},
    title="Inference cost (Table 1)",
    text=f"""Multiply-add operations of one test node's embedding, by the three equations of the appendix, with the
paper's feature columns ({", ".join(f"{name} {width}" for name, width in IN_DIM.items())}) and 256 hidden ones. Features
and labels of the graphs are not read. A normal GNN (minibatch inference) reads all nodes within L hops of its target,
whichever method trained it; a shaDow GNN runs every layer on its whole scope. Equations of our own count pooling and
skips (docs/cost.md). At most {MAX_TARGETS:,} test nodes are sampled; the interval covers the error of the sample. The
last column is the appendix's remark: all layers once over the whole graph, divided by the number of test nodes.""",
    tables=_tables,
    draw=_draw,
    notes=(
        "The paper prints one digit. It does not say whether digits are rounded or cut, which targets were counted, or "
        "how edges are counted; see docs/cost.md for our attempts.",
    ),
)
