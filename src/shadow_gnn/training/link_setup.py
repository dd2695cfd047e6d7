"""Link setup: the pairs, splits and metric of a recipe's [link] table.

Not for: the splits and pairs themselves (tasks/links).
"""

from __future__ import annotations

from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import LinkRecipe, Recipe
from shadow_gnn.recipe.training import LinkMetric
from shadow_gnn.tasks.links.baselines import LinkProblem
from shadow_gnn.tasks.links.loader import TrainingPairs
from shadow_gnn.tasks.links.metrics import LINK_METRICS
from shadow_gnn.tasks.links.splits import LinkSplits, SplitOptions, make_splits


def training_pairs(recipe: Recipe, links: LinkSplits) -> TrainingPairs:
    """Return the training pairs of a recipe."""
    options = recipe.link
    return TrainingPairs(
        links.graph,
        links.train,
        links.train_negative,
        options.negatives,
        options.num_negatives,
        options.epoch_share,
        recipe.seed,
    )


def link_problem(recipe: Recipe, graph: Graph) -> LinkProblem:
    """Return the splits and training pairs of a run with this recipe, for link baselines.

    >>> links = sg.Recipe(graph="ring", task=sg.TaskRecipe(kind="link"))
    >>> problem = sg.link_problem(links, graph)
    >>> type(problem).__name__
    'LinkProblem'
    """
    if recipe.task.kind != "link":
        raise ValueError(
            f"baselines: links must be those of a recipe with task.kind = 'link', got {recipe.task.kind!r}"
        )
    splits = make_splits(graph, split_options(recipe.link, recipe.seed))
    return LinkProblem(splits, training_pairs(recipe, splits))


def link_monitor(recipe: Recipe) -> LinkMetric:
    """Return the link metric that chooses the best epoch."""
    return next((name for name in LINK_METRICS if name == recipe.training.monitor), LINK_METRICS[0])


def split_options(link: LinkRecipe, seed: int) -> SplitOptions:
    """Return the split options of a [link] table; seed: the run's, used if the table has none."""
    return SplitOptions(
        link.split,
        link.valid_share,
        link.test_share,
        link.negatives,
        link.use_valid_edges,
        link.time,
        seed if link.split_seed is None else link.split_seed,
    )
