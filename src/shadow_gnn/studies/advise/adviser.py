"""Adviser: try several kinds of models on a sample of a graph's targets, and recommend one.

Not for: final results, or test targets, which are never read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shadow_gnn.base.cpu_time import cpu_seconds
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.evaluation import labels_of
from shadow_gnn.recipe import Recipe, TrainingRecipe
from shadow_gnn.studies.advise.candidates import SHARES, Bench, all_candidates
from shadow_gnn.studies.advise.choice import choose, choose_network, unfinished_note
from shadow_gnn.studies.advise.clock import Clock
from shadow_gnn.studies.advise.judge import gains, judged
from shadow_gnn.studies.advise.recipe_files import recipe_files
from shadow_gnn.studies.advise.record import Advice, Candidate
from shadow_gnn.studies.cost import sample_targets
from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import label_kind, split_targets
from shadow_gnn.training.defaults import choose_recipe, graph_facts
from shadow_gnn.training.loop import make_fabric

MOST_VALID = 4000
"""Validation targets of the comparison."""


@dataclass(frozen=True)
class AdviseOptions:
    """Extent of an advice.

    >>> sg.AdviseOptions(minutes=1, num_layers=2).num_targets
    4000
    """

    minutes: float = 5.0
    """Wall time for all candidates."""
    num_targets: int = 4000
    """Training targets to sample."""
    layer: str = "sage"
    """Layer of the networks."""
    num_layers: int = 3
    """Layers of the networks."""
    num_seeds: int = 1
    """Trainings of each candidate."""
    seed: int = 0
    """First random seed, and seed of the sample."""

    def __post_init__(self) -> None:
        if not 0 < self.minutes <= 10_000:
            raise ValueError(f"advise: minutes must be above 0 and at most 10,000, got {self.minutes}")
        for name in ("num_targets", "num_layers", "num_seeds"):
            if getattr(self, name) < 1:
                raise ValueError(f"advise: {name} must be at least 1, got {getattr(self, name)}")


def advise(graph: Graph, options: AdviseOptions | None = None, progress: Progress = silent) -> Advice:
    """Train every candidate for its share of the time and judge all on the same validation targets.

    >>> advice = sg.advise(graph, sg.AdviseOptions(minutes=0.01, num_layers=1, num_targets=20))
    >>> advice.recommended in [row.name for row in advice.rows]
    True
    """
    options = options or AdviseOptions()
    name = "memory" if graph.path is None else str(graph.path)
    if graph.y is None and graph.pairs:
        raise ValueError(f"advise: graph must have labels of nodes, {name} has pairs alone; links have no adviser")
    kind = label_kind(graph)
    make_fabric(TrainingRecipe())  # Loads its libraries before the clock starts.
    clock, spent = Clock(60 * options.minutes, SHARES), cpu_seconds()
    train, valid = (
        sample_targets(split_targets(graph, split), most, seed=options.seed)
        for split, most in (("train", options.num_targets), ("valid", MOST_VALID))
    )
    chosen_recipe = choose_recipe(graph_facts(graph), name).recipe
    changes = {"layer": options.layer, "num_layers": options.num_layers}
    recipe = Recipe.model_validate(
        {**chosen_recipe.model_dump(exclude_none=True), "model": {**chosen_recipe.model.model_dump(), **changes}}
    )
    seeds = tuple(range(options.seed, options.seed + options.num_seeds))
    sampled = replace(graph, splits={"train": train, "valid": valid})
    candidates: list[Candidate] = []
    notes: list[str] = []
    for one in all_candidates(Bench(sampled, valid, recipe, seeds, clock, progress)):
        if isinstance(one, str):
            notes.append(one)
        else:
            candidates.append(one)
    if (line := unfinished_note(candidates)) is not None:
        notes.append(line)
    labels = labels_of(graph, valid)
    each = [gains(kind, one.scores, labels) for one in candidates]
    rows = judged(kind, candidates, each)
    (best, reason), network = choose(candidates, each), choose_network(candidates, each)
    network_recipe = candidates[network].recipe
    assert network_recipe is not None
    return Advice(
        name,
        METRICS[kind][0],
        len(train),
        len(valid),
        seeds,
        rows,
        candidates[best].name,
        reason,
        tuple(notes),
        candidates[network].name,
        network_recipe,
        recipe_files(candidates, rows, best, network, reason, name),
        clock.elapsed,
        cpu_seconds() - spent,
    )
