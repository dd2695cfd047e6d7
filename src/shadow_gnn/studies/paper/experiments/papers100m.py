"""Papers100M: the paper's comparison on ogbn-papers100M, with the size of the scopes.

Not for: training (studies/paper/trained.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper.data import data_titles, open_found
from shadow_gnn.studies.paper.experiment import Finding, Job, Options, Result
from shadow_gnn.studies.paper.experiments.leaderboards import draw_ranked, ranked_rows, ranked_table
from shadow_gnn.studies.paper.paper_values import PAPERS100M
from shadow_gnn.studies.paper.scores import how_text
from shadow_gnn.studies.paper.trained import RecipeOf, Row, adapted, training_jobs
from shadow_gnn.training.build import build_extractor

DATA = "ogbn-papers100M"
RECIPES = {
    "shaDow-GAT 200": "ogbn-papers100M-gat-5-ppr-max",
    "shaDow-GAT 400": "ogbn-papers100M-gat-3-ppr-max",
}
PAPER_RUNS = 10
NUM_SCOPES, FAST_SCOPES = 2000, 100
_BLOCK = 100


@dataclass(frozen=True)
class Papers100M:
    """Accuracy and scope size of shaDow-GAT beside methods of the leaderboard."""

    recipe_of: RecipeOf = paper_recipe
    """Gives the recipe of a name."""
    name = "papers100m"
    paper = "Table 2"
    summary = "shaDow-GAT on ogbn-papers100M: accuracy and scope size, beside the leaderboard of the time."
    data = (DATA,)

    def jobs(self, options: Options) -> Sequence[Job]:
        """Return a job that measures the scopes of each model, and one for each model and seed."""
        graphs = open_found(self.data, options.data)
        rows = [Row(recipe, DATA) for recipe in RECIPES.values()]
        scopes = [self._scope_job(recipe, graphs[DATA], options) for recipe in RECIPES.values()]
        return [*scopes, *training_jobs(rows, graphs, options, self.recipe_of, paper_runs=PAPER_RUNS)]

    def finding(self, results: Mapping[str, Result], options: Options) -> Finding:
        """Show ours beside the paper's."""
        title = data_titles(open_found(self.data, options.data), options)[DATA]
        caption = "Leaderboard comparison on ogbn-papers100M."
        table = ranked_table("papers100m", caption, "accuracy", ranked_rows(PAPERS100M, RECIPES, results))
        rows = []
        for row, (method, paper) in zip(table.rows, PAPERS100M.items(), strict=True):
            found = results.get(_scope_key(RECIPES[method])) if method in RECIPES else None
            rows.append((*row, None if found is None else round(found["mean"], 1), paper.num_nodes))
        columns = (*table.columns, "nodes of a scope, ours", "nodes, paper")
        return Finding(
            title="ogbn-papers100M",
            text=how_text(options, PAPER_RUNS),
            tables=(replace(table, columns=columns, rows=tuple(rows)),),
            draw=partial(draw_ranked, PAPERS100M, RECIPES, results, title),
            notes=("GraphSAGE+incep, SIGN-XL and SGC are printed as the paper cites them; they are not trained here.",),
        )

    def _scope_job(self, name: str, graph: Graph, options: Options) -> Job:
        recipe, count = adapted(self.recipe_of(name), options), FAST_SCOPES if options.fast else NUM_SCOPES
        assert recipe.extractor is not None
        settings = {
            "extractor": extractor_table(recipe.extractor),
            "fingerprint": graph.fingerprint,
            "num_targets": count,
        }
        title = f"scopes of {name}"
        return Job(_scope_key(name), title, settings, partial(_measure_scopes, recipe, graph, count))


def _scope_key(recipe: str) -> str:
    return f"scopes-{recipe.lower()}"


def _measure_scopes(recipe: Recipe, graph: Graph, count: int, progress: Progress) -> Result:
    """Return the mean number of nodes of the scopes of some test targets."""
    assert recipe.extractor is not None
    extractor = build_extractor(recipe.extractor, training=False)
    test = np.asarray(graph.splits["test"], dtype=np.int64)
    targets = test[np.linspace(0, len(test) - 1, min(count, len(test))).astype(np.int64)]
    sizes = []
    for begin in range(0, len(targets), _BLOCK):
        progress("extracting", begin, len(targets))
        scopes = extractor(graph, targets[begin : begin + _BLOCK], seed=recipe.seed)
        sizes.append(scopes.ptr[1:] - scopes.ptr[:-1])
    return {"mean": float(np.concatenate(sizes).mean()), "num_targets": len(targets)}
