"""ScoreExperiment: a table of the paper whose cells are test scores of trained recipes, nothing else.

Not for: the rows of one table (experiments/) or training (trained.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper.data import comparable, data_titles, open_found
from shadow_gnn.studies.paper.experiment import Finding, Job, ReproduceOptions, Result
from shadow_gnn.studies.paper.scores import Heads, Line, draw_scores, how_text, score_table
from shadow_gnn.studies.paper.trained import RecipeOf, training_jobs

PAPER_RUNS = 5


@dataclass(frozen=True)
class ScoreExperiment:
    """An experiment that trains a recipe for each cell of a table."""

    name: str
    """What `shadow reproduce` calls it."""
    paper: str
    """Where it is in the paper."""
    summary: str
    """One line for the list of experiments."""
    title: str
    """Head of its page."""
    heads: Heads
    """Of the table."""
    lines: tuple[Line, ...]
    """The cells of the table."""
    note: str
    """What is to be known of the settings."""
    recipe_of: RecipeOf = paper_recipe
    """Gives the recipe of a name."""

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets of the cells."""
        return tuple(dict.fromkeys(line.row.data for line in self.lines))

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each cell and seed."""
        graphs = open_found(self.data, options.data)
        return training_jobs((line.row for line in self.lines), graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show ours beside the paper's."""
        graphs = open_found(self.data, options.data)
        lines = [line for line in self.lines if line.row.data in graphs]
        return Finding(
            title=self.title,
            text=how_text(options, PAPER_RUNS),
            tables=(score_table(self.heads, lines, results, comparable(graphs, options)),),
            draw=partial(draw_scores, lines, results, data_titles(graphs, options)),
            notes=(self.note,),
        )
