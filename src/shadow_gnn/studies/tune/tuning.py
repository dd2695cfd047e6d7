"""Tuning: a whole study of a recipe, from the first trial to the report; the same call resumes a stopped study.

Not for: its parts (space.py, study.py, search.py, report.py), or the display (cli/training/tune.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shadow_gnn.base.temporary import remove_abandoned, remove_abandoned_below
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.recipe.record import toml_value
from shadow_gnn.studies.tune.report import Outcome, write_report
from shadow_gnn.studies.tune.search import Ending, Search, TuneWatcher
from shadow_gnn.studies.tune.space import Space, paper_space, read_space
from shadow_gnn.studies.tune.study import Plan, Pruner, Sampler, Study, import_optuna, one_line_faults, prepare_folder
from shadow_gnn.studies.tune.worker import Place, shares_of_cores
from shadow_gnn.training.runs.folder import content_hash, locked


class SilentTune(TuneWatcher):
    """A watcher that does nothing."""


@dataclass(frozen=True, eq=False)
class TuneOptions:
    """Optional settings of a search.

    >>> sg.TuneOptions(num_trials=10, sampler="random").pruner
    'median'
    """

    overrides: tuple[str, ...] = ()
    """Overrides of the recipe for all trials."""
    space: Path | None = None
    """File of the search space; None for the paper's."""
    num_trials: int = 50
    """Maximum number of trials of the study, including earlier sessions."""
    seconds: float | None = None
    """Time limit of this session; unfinished trials resume in the next."""
    num_workers: int = 1
    """Trials trained at the same time, each in a process with its share of the cores."""
    sampler: Sampler = "tpe"
    """Method of choosing values."""
    pruner: Pruner = "median"
    """Rule for ending trials early."""
    check_memory: bool = True
    """Refuse trials that need more than the available memory."""
    watcher: TuneWatcher | None = None
    """Receives the events of the search."""

    def __post_init__(self) -> None:
        """Check the options without checks elsewhere."""
        for name in ("num_trials", "num_workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"TuneOptions: {name} must be at least 1, got {getattr(self, name)}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"TuneOptions: seconds must be above 0, got {self.seconds}")


def search_space(recipe: Path, options: TuneOptions) -> Space:
    """Return the search space of a recipe: that of the options' file, or the paper's.

    >>> from pathlib import Path
    >>> _ = Path("recipe.toml").write_text('graph = "ring"')
    >>> space = sg.search_space(Path("recipe.toml"), sg.TuneOptions())
    >>> type(space).__name__
    'Space'
    """

    def read(extra: Sequence[str]) -> Recipe:
        return read_recipe(recipe, [*options.overrides, *extra])

    own = read(())
    return paper_space(own) if options.space is None else read_space(options.space, read)


def tune_recipe(recipe: str | Path, folder: str | Path, options: TuneOptions | None = None) -> tuple[Ending, Outcome]:
    """Search for the settings of a recipe with the best validation score; return the ending and the outcome.

    folder: the study; an existing one is resumed. The report is always written, even after an error.
    """
    recipe, folder, options = Path(recipe), Path(folder), options or TuneOptions()
    import_optuna()
    space = search_space(recipe, options)
    own = read_recipe(recipe, options.overrides)
    plan, graph = _plan(recipe, own, space, options)
    prepare_folder(folder, plan)
    places = tuple(
        Place(graph, cores, folder / "cache", options.check_memory) for cores in shares_of_cores(options.num_workers)
    )
    with locked(folder), one_line_faults(folder):
        remove_abandoned(folder)
        study = Study(folder, plan, options.num_trials, num_epochs=own.training.num_epochs, seed=own.seed)
        try:
            ending = Search(study, places, options.watcher or SilentTune()).run(options.seconds)
        finally:
            remove_abandoned_below(folder)  # Workers are killed, whatever they write.
            outcome = write_report(study)
            study.close()
    return ending, outcome


def _plan(recipe: Path, own: Recipe, space: Space, options: TuneOptions) -> tuple[Plan, str]:
    """Return the plan of the study, and the absolute name of the graph."""
    from shadow_gnn.training.run_setup import open_recipe_graph
    from shadow_gnn.training.runs.run import with_graph_path

    graph = open_recipe_graph(own.graph)
    name = with_graph_path(own, graph).graph
    overrides, content = (*options.overrides, f"graph={toml_value(name)}"), content_hash(graph)
    return Plan(recipe, overrides, space, graph.fingerprint, content, options.sampler, options.pruner), name
