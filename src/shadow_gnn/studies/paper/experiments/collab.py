"""Collab: the paper's comparison on ogbl-collab, link prediction.

Not for: training (studies/paper/trained.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper.data import data_titles, open_found
from shadow_gnn.studies.paper.experiment import Finding, Job, ReproduceOptions, Result
from shadow_gnn.studies.paper.experiments.leaderboards import draw_ranked, ranked_rows, ranked_table
from shadow_gnn.studies.paper.paper_values import COLLAB
from shadow_gnn.studies.paper.scores import how_text
from shadow_gnn.studies.paper.trained import RecipeOf, Row, training_jobs

DATA = "ogbl-collab"
RECIPES = {"shaDow-SAGE": "ogbl-collab-sage-5-ppr-sort"}
PAPER_RUNS = 10


@dataclass(frozen=True)
class Collab:
    """Hits@50 of shaDow-SAGE beside methods of the leaderboard."""

    recipe_of: RecipeOf = paper_recipe
    """Gives the recipe of a name."""
    name = "collab"
    paper = "Table 3"
    summary = "shaDow-SAGE on ogbl-collab: Hits@50, beside the leaderboard of the time."
    data = (DATA,)

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each seed."""
        rows = (Row(recipe, DATA) for recipe in RECIPES.values())
        return training_jobs(rows, open_found(self.data, options.data), options, self.recipe_of, paper_runs=PAPER_RUNS)

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show ours beside the paper's."""
        title = data_titles(open_found(self.data, options.data), options)[DATA]
        caption = "Leaderboard comparison on ogbl-collab; validation edges are not used."
        return Finding(
            title="ogbl-collab",
            text=how_text(options, PAPER_RUNS),
            tables=(ranked_table("collab", caption, "Hits@50", ranked_rows(COLLAB, RECIPES, results)),),
            draw=partial(draw_ranked, COLLAB, RECIPES, results, title),
            notes=("SEAL, DeeperGCN and LRGA+GCN are printed as the paper cites them; they are not trained here.",),
        )
