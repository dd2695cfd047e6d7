"""Score tables: the paper's tables whose cells are test scores of trained recipes.

Not for: training (training_jobs.py), or Table 1, which also has costs (table1.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper import paper_values
from shadow_gnn.studies.paper.data import comparable, data_titles, open_found
from shadow_gnn.studies.paper.experiment import Finding, Job, ReproduceOptions, Result, Spread
from shadow_gnn.studies.paper.scores import Heads, Line, draw_scores, how_text, score_table
from shadow_gnn.studies.paper.training_jobs import RecipeOf, Row, training_jobs

PAPER_RUNS = 5


@dataclass(frozen=True)
class ScoreTable:
    """An experiment that trains a recipe for each cell of a table."""

    name: str
    """Name for `shadow reproduce`."""
    paper: str
    """Place in the paper."""
    summary: str
    """One line for the list of experiments."""
    title: str
    """Heading of its page."""
    heads: Heads
    """Of the table."""
    lines: tuple[Line, ...]
    """The cells of the table."""
    note: str
    """Remark on the settings."""
    recipe_of: RecipeOf = paper_recipe
    """Returns the recipe of a name."""

    @property
    def data(self) -> tuple[str, ...]:
        """The datasets of the cells."""
        return tuple(dict.fromkeys(line.row.data for line in self.lines))

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each cell and seed."""
        graphs = open_found(self.data, options.data)
        return training_jobs((line.row for line in self.lines), graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        graphs = open_found(self.data, options.data)
        lines = [line for line in self.lines if line.row.data in graphs]
        return Finding(
            title=self.title,
            text=how_text(options, PAPER_RUNS),
            tables=(score_table(self.heads, lines, results, comparable(graphs, options)),),
            draw=partial(draw_scores, lines, results, data_titles(graphs, options)),
            notes=(self.note,),
        )


def _architecture(data: str, key: str, paper: Spread | None) -> Line:
    layer, num_layers, scope = key.split("-")
    method = {"full": "normal", "ppr": "shaDow"}[scope]
    return Line(Row(f"{data}-{key}", data), (layer.upper(), num_layers, method), paper)


def _readout(data: str, readout: str, paper: Spread | None) -> Line:
    # The paper's None is our center.
    suffix = "" if readout == "center" else f"-{readout}"
    return Line(Row(f"{data}-sage-5-ppr{suffix}", data), (readout,), paper)


def _scope(data: str, key: str, paper: Spread | None) -> Line:
    num_layers, scope = key.split("-")
    label = {"ppr": "PPR", "2hop": "2-hop", "ensemble": "PPR and 2-hop"}[scope]
    return Line(Row(f"{data}-gcn-{key}", data), (num_layers, label), paper)


JK_GIN = ScoreTable(
    name="jk-gin",
    paper="Appendix, other architectures",
    summary="JK-Net and GIN with 3 and 5 layers, normal and shaDow (PPR): test accuracy.",
    title="JK-Net and GIN",
    heads=Heads("jk-gin", "Test accuracy on other architectures (PPR).", ("model", "layers", "method")),
    lines=tuple(_architecture(data, *cell) for data, cells in paper_values.JK_GIN.items() for cell in cells.items()),
    note="The settings of this table are not published: JK is GraphSAGE whose layers' outputs are concatenated, with "
    "the settings of the dataset's shaDow-SAGE row of Table 1; the head of each recipe says more.",
)
POOLING = ScoreTable(
    name="pooling",
    paper="Appendix, pooling",
    summary="Readouts center, mean, max and sort of 5-layer shaDow-SAGE: test accuracy.",
    title="Pooling",
    heads=Heads("pooling", "Effect of subgraph pooling on 5-layer shaDow-SAGE (PPR).", ("readout",)),
    lines=tuple(_readout(data, *cell) for data, cells in paper_values.POOLING.items() for cell in cells.items()),
    note="The settings of this table are not published; the recipes are those of the 5-layer shaDow-SAGE rows of Table "
    "1 with another readout. The paper's values differ from its own Table 1 for the same models (center: 0.5351 here, "
    "0.5417 there on flickr; 0.7302 and 0.7238 on ogbn-arxiv): so did its settings.",
)
ENSEMBLE = ScoreTable(
    name="ensemble",
    paper="Appendix, ensemble and depth",
    summary="shaDow-GCN with PPR, 2-hop and both scopes, and with 3, 5 and 7 layers: test accuracy.",
    title="Ensemble and depth",
    heads=Heads("ensemble", "shaDow-GCN test accuracy: ensemble of scopes, and more layers.", ("layers", "scope")),
    lines=tuple(_scope(data, *cell) for data, cells in paper_values.ENSEMBLE.items() for cell in cells.items()),
    note="Scopes are as in the paper's tables of configurations, other settings as in the dataset's shaDow-GCN row of "
    "Table 1; the training of the ensemble is not published.",
)
