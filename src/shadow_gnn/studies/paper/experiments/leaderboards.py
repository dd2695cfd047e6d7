"""Leaderboards: our runs next to the methods that the paper cites, on ogbn-papers100M and ogbl-collab.

Not for: training (studies/paper/training_jobs.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.cost.counts import scope_sizes
from shadow_gnn.studies.figures import legend_below, panels
from shadow_gnn.studies.paper import paper_values
from shadow_gnn.studies.paper.data import data_titles, open_found
from shadow_gnn.studies.paper.experiment import Cell, Finding, Job, ReproduceOptions, Result, Table
from shadow_gnn.studies.paper.paper_values import Ranked
from shadow_gnn.studies.paper.scores import draw_scores_of, how_text
from shadow_gnn.studies.paper.training_jobs import RecipeOf, Row, adapted, count_runs, score, thinned, training_jobs
from shadow_gnn.training.build import build_extractor

PAPER_RUNS = 10
NUM_SCOPES, FAST_SCOPES = 2000, 100


@dataclass(frozen=True)
class Leaderboard:
    """An experiment that trains some methods of a leaderboard and cites the others."""

    name: str
    """Name for `shadow reproduce`."""
    paper: str
    """Place in the paper."""
    summary: str
    """One line for the list of experiments."""
    dataset: str
    """Name of the dataset."""
    metric: str
    """Metric of the leaderboard, for the table's columns."""
    caption: str
    """One sentence above the table."""
    printed: Mapping[str, Ranked]
    """The paper's scores by method."""
    recipes: Mapping[str, str]
    """Recipes of the methods to train."""
    note: str
    """Remark below the table."""
    with_scopes: bool = False
    """Whether to measure the sizes of the scopes as well."""
    recipe_of: RecipeOf = paper_recipe
    """Returns the recipe of a name."""

    @property
    def data(self) -> tuple[str, ...]:
        """The one dataset."""
        return (self.dataset,)

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each model and seed, after those that measure the scopes."""
        graphs = open_found(self.data, options.data)
        rows = [Row(recipe, self.dataset) for recipe in self.recipes.values()]
        measured = self.recipes.values() if self.with_scopes else ()
        scopes = [self._scope_job(recipe, graphs[self.dataset], options) for recipe in measured]
        return [*scopes, *training_jobs(rows, graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)]

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        title = data_titles(open_found(self.data, options.data), options)[self.dataset]
        return Finding(
            title=self.dataset,
            text=how_text(options, PAPER_RUNS),
            tables=(self._table(results),),
            draw=partial(self._draw, results, title),
            notes=(self.note,),
        )

    def _table(self, results: Mapping[str, Result]) -> Table:
        heads = (f"test {self.metric}, ours", "test, paper", f"valid {self.metric}, ours", "valid, paper")
        scopes = ("nodes of a scope, ours", "nodes, paper") if self.with_scopes else ()
        rows: list[tuple[Cell, ...]] = []
        for method, paper in self.printed.items():
            recipe = self.recipes.get(method)
            runs = None if recipe is None else count_runs(results, recipe)
            test, valid = (self._score(results, method, split) for split in ("test", "valid"))
            row: tuple[Cell, ...] = (method, runs, test, paper.test, valid, paper.valid)
            if self.with_scopes:
                found = None if recipe is None else results.get(_scope_key(recipe))
                row = (*row, None if found is None else round(found["mean"], 1), paper.num_nodes)
            rows.append(row)
        return Table(self.name, self.caption, ("method", "runs", *heads, *scopes), tuple(rows))

    def _score(self, results: Mapping[str, Result], method: str, split: str) -> Any:
        return score(results, self.recipes[method], split) if method in self.recipes else None

    def _draw(self, results: Mapping[str, Result], title: str, path: Path) -> None:
        """Draw test and validation scores of all methods, ours and the paper's; title: of the dataset."""
        with panels(path, (11.0, 1.5 + 0.4 * len(self.printed)), 2, share_x=True, share_y=True) as axes:
            for plot, split in zip(axes, ("test", "valid"), strict=True):
                ours = [self._score(results, method, split) for method in self.printed]
                draw_scores_of(plot, ours, [getattr(paper, split) for paper in self.printed.values()], self.printed)
                plot.set_title(f"{title}, {split}", fontsize=9)
            legend_below(axes[0].figure)

    def _scope_job(self, name: str, graph: Graph, options: ReproduceOptions) -> Job:
        recipe, count = adapted(self.recipe_of(name), options), FAST_SCOPES if options.fast else NUM_SCOPES
        assert recipe.extractor is not None
        extractor = extractor_table(recipe.extractor)
        settings = {"extractor": extractor, "fingerprint": graph.fingerprint, "num_targets": count}
        return Job(_scope_key(name), f"scopes of {name}", settings, partial(_measure_scopes, recipe, graph, count))


def _scope_key(recipe: str) -> str:
    return f"scopes-{recipe.lower()}"


def _measure_scopes(recipe: Recipe, graph: Graph, count: int, progress: Progress) -> Result:
    """Return the mean scope size of some test targets."""
    assert recipe.extractor is not None
    extractor = build_extractor(recipe.extractor, training=False)
    targets = thinned(graph.split("test"), count)
    sizes = scope_sizes(graph, extractor, targets, seed=recipe.seed, progress=progress)
    return {"mean": float(sizes.nodes.mean()), "num_targets": len(targets)}


PAPERS100M = Leaderboard(
    name="papers100m",
    paper="Table 2",
    summary="shaDow-GAT on ogbn-papers100M: accuracy and scope size, with the leaderboard of the time.",
    dataset="ogbn-papers100M",
    metric="accuracy",
    caption="Leaderboard comparison on ogbn-papers100M.",
    printed=paper_values.PAPERS100M,
    recipes={
        "shaDow-GAT 200": "ogbn-papers100M-gat-5-ppr-max",
        "shaDow-GAT 400": "ogbn-papers100M-gat-3-ppr-max",
    },
    note="GraphSAGE+incep, SIGN-XL and SGC are printed as the paper cites them; they are not trained here.",
    with_scopes=True,
)
COLLAB = Leaderboard(
    name="collab",
    paper="Table 3",
    summary="shaDow-SAGE on ogbl-collab: Hits@50, with the leaderboard of the time.",
    dataset="ogbl-collab",
    metric="Hits@50",
    caption="Leaderboard comparison on ogbl-collab; validation edges are not used.",
    printed=paper_values.COLLAB,
    recipes={"shaDow-SAGE": "ogbl-collab-sage-5-ppr-sort"},
    note="SEAL, DeeperGCN and LRGA+GCN are printed as the paper cites them; they are not trained here.",
)
