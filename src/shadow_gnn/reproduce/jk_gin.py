"""JK and GIN: the paper's table of other architectures, normal and shaDow.

Not for: training (trained.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from shadow_gnn.reproduce.data import comparable, data_titles, open_found
from shadow_gnn.reproduce.experiment import Finding, Job, Options, Result, Spread
from shadow_gnn.reproduce.paper_values import JK_GIN
from shadow_gnn.reproduce.recipes import paper_recipe
from shadow_gnn.reproduce.scores import Heads, Line, draw_scores, how_text, score_table
from shadow_gnn.reproduce.trained import RecipeOf, Row, training_jobs

PAPER_RUNS = 5
HEADS = Heads("jk-gin", "Test accuracy on other architectures (PPR).", ("model", "layers", "method"))


def _line(data: str, key: str, paper: Spread) -> Line:
    layer, num_layers, scope = key.split("-")
    return Line(Row(f"{data}-{key}", data), (layer.upper(), num_layers, _METHODS[scope]), paper)


_METHODS = {"full": "normal", "ppr": "shaDow"}
LINES = tuple(_line(data, key, paper) for data, values in JK_GIN.items() for key, paper in values.items())
"""The cells of the table."""


@dataclass(frozen=True)
class JkGin:
    """Test accuracy of JK-Net and GIN."""

    recipe_of: RecipeOf = paper_recipe
    """Gives the recipe of a name."""
    name = "jk-gin"
    paper = "Appendix, other architectures"
    summary = "JK-Net and GIN with 3 and 5 layers, normal and shaDow (PPR): test accuracy."
    data = tuple(JK_GIN)

    def jobs(self, options: Options) -> Sequence[Job]:
        """Return a job for each model, data set and seed."""
        graphs = open_found(self.data, options.data)
        return training_jobs((line.row for line in LINES), graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)

    def finding(self, results: Mapping[str, Result], options: Options) -> Finding:
        """Show ours beside the paper's."""
        graphs = open_found(self.data, options.data)
        lines = [line for line in LINES if line.row.data in graphs]
        return Finding(
            title="JK-Net and GIN",
            text=how_text(options, PAPER_RUNS),
            tables=(score_table(HEADS, lines, results, comparable(graphs, options)),),
            draw=partial(draw_scores, lines, results, data_titles(graphs, options)),
            notes=(
                "The settings of this table are not published: JK is GraphSAGE whose layers' outputs are concatenated, "
                "with the settings of the data set's shaDow-SAGE row of Table 1; the head of each recipe says more.",
            ),
        )
