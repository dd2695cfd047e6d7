"""Ensemble: the paper's table of shaDow-GCN with an ensemble of scopes and with more layers.

Not for: training (trained.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from shadow_gnn.reproduce.data import comparable, data_titles, open_found
from shadow_gnn.reproduce.experiment import Finding, Job, Options, Result, Spread
from shadow_gnn.reproduce.paper_values import ENSEMBLE
from shadow_gnn.reproduce.recipes import paper_recipe
from shadow_gnn.reproduce.scores import Heads, Line, draw_scores, how_text, score_table
from shadow_gnn.reproduce.trained import RecipeOf, Row, training_jobs

PAPER_RUNS = 5
HEADS = Heads("ensemble", "shaDow-GCN test accuracy: ensemble of scopes, and more layers.", ("layers", "scope"))


def _line(data: str, key: str, paper: Spread) -> Line:
    num_layers, scope = key.split("-")
    return Line(Row(f"{data}-gcn-{key}", data), (num_layers, _SCOPES[scope]), paper)


_SCOPES = {"ppr": "PPR", "2hop": "2-hop", "ensemble": "PPR and 2-hop"}
LINES = tuple(_line(data, key, paper) for data, values in ENSEMBLE.items() for key, paper in values.items())
"""The cells of the table."""


@dataclass(frozen=True)
class Ensemble:
    """Test accuracy of shaDow-GCN by layers and scope."""

    recipe_of: RecipeOf = paper_recipe
    """Gives the recipe of a name."""
    name = "ensemble"
    paper = "Appendix, ensemble and depth"
    summary = "shaDow-GCN with PPR, 2-hop and both scopes, and with 3, 5 and 7 layers: test accuracy."
    data = tuple(ENSEMBLE)

    def jobs(self, options: Options) -> Sequence[Job]:
        """Return a job for each model, data set and seed."""
        graphs = open_found(self.data, options.data)
        return training_jobs((line.row for line in LINES), graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)

    def finding(self, results: Mapping[str, Result], options: Options) -> Finding:
        """Show ours beside the paper's."""
        graphs = open_found(self.data, options.data)
        lines = [line for line in LINES if line.row.data in graphs]
        return Finding(
            title="Ensemble and depth",
            text=how_text(options, PAPER_RUNS),
            tables=(score_table(HEADS, lines, results, comparable(graphs, options)),),
            draw=partial(draw_scores, lines, results, data_titles(graphs, options)),
            notes=(
                "Scopes are as in the paper's tables of configurations, the rest as in the data set's shaDow-GCN row "
                "of Table 1; how the ensemble was trained is not published.",
            ),
        )
