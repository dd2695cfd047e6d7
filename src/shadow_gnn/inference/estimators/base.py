"""Estimator: the base of all estimators: keywords, fit, save, load, and a predictor for each graph.

Not for: methods of nodes (nodes.py) or links (links.py). It is a base class, against the house rule, because three
equal signatures are worse.
"""

from __future__ import annotations

import copy
import inspect
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from shadow_gnn.base.errors import RunError, WriteError
from shadow_gnn.base.files import Progress
from shadow_gnn.base.progress_bar import progress_bar
from shadow_gnn.extract import BaseExtractor
from shadow_gnn.graph.importing.from_tables import from_tables
from shadow_gnn.graph.importing.in_memory import from_pyg
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.estimators.recipe_table import IN_MEMORY, make_recipe
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.other_scopes import ExtractorLike, as_extractor
from shadow_gnn.inference.predictor import Predictor, open_trained
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.normal import NormalMethod
from shadow_gnn.recipe.recipe import NORMAL_METHODS
from shadow_gnn.training.defaults import default_recipe, normal_recipe
from shadow_gnn.training.evaluate import Evaluation
from shadow_gnn.training.loop import Step, TrainingState
from shadow_gnn.training.model_file import TrainedModel
from shadow_gnn.training.run_setup import RunSetup, open_recipe_graph
from shadow_gnn.training.runs.folder import Run, open_run
from shadow_gnn.training.runs.run import RunOptions, SilentRun, train_recipe

Shown = bool | Progress | None
"""Progress of an estimator: None shows a bar on a terminal or in a notebook, True always, False never; a function is
called as (stage, done, total)."""


class Estimator:
    """Keywords that become a recipe, and the trained model.

    Keywords that are None take the value of `recipe`, a Recipe or a table such as {"model": {"skip": "max"}}, which has
    all other settings. Without a recipe, nodes have the defaults of `shadow train --graph`.
    """

    kind: ClassVar[str] = "node"
    targets: ClassVar[tuple[str, ...]] = ()
    """Quantities that models of this estimator can predict."""

    def __init__(
        self,
        *,
        layer: str | None = None,
        num_layers: int | None = None,
        hidden_dim: int | None = None,
        dropout: float | None = None,
        readout: str | None = None,
        extractor: Any = None,
        method: str | None = None,
        num_epochs: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        seed: int | None = None,
        recipe: Recipe | Mapping[str, Any] | None = None,
    ) -> None:
        """Store the keywords; fit checks them."""
        self.layer, self.num_layers, self.hidden_dim = layer, num_layers, hidden_dim
        self.dropout, self.readout, self.extractor, self.method = dropout, readout, extractor, method
        self.num_epochs, self.learning_rate, self.batch_size = num_epochs, learning_rate, batch_size
        self.seed, self.recipe = seed, recipe
        self._run: Run | None = None
        self._trained: TrainedModel | None = None
        self._predictor: tuple[Any, Predictor] | None = None
        self._other_scopes: BaseExtractor | None = None
        self._origin: Estimator | None = None  # Keeps the temporary folder of the run.

    def __repr__(self) -> str:
        """Show the keywords that are set."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({given})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all keywords with their values; deep: accepted as scikit-learn passes it."""
        return {
            name: getattr(self, name) for name in inspect.signature(Estimator.__init__).parameters if name != "self"
        }

    def set_params(self, **params: Any) -> Self:
        """Set keywords by name; raise for unknown names."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__}: parameter must be one of {', '.join(known)}, got {name!r}")
            setattr(self, name, value)
        return self

    def fit(self, graph: Any, y: None = None, *, folder: str | Path | None = None, progress: Shown = None) -> Self:
        """Train on a Graph, a graph folder's name, or a torch_geometric Data with masks, as `shadow train` does.

        folder: the run folder to make; a temporary one if None. progress: see Shown. y: unused, for scikit-learn.
        """
        opened = as_graph(graph)
        recipe = self._recipe(opened)
        place = self._temporary_folder() if folder is None else Path(folder)
        with shown_progress(progress) as report:
            watcher = _Watcher(report)
            run = train_recipe(recipe, place, options=RunOptions(graph=opened, watcher=watcher))
        return self._take(run, open_trained(run.folder))

    def from_pandas(
        self,
        nodes: Any,
        edges: Any,
        *,
        label: str | None = None,
        id_column: str | None = None,
        split: tuple[float, float, float] = (60, 20, 20),
        split_column: str | None = None,
        undirected: bool = True,
        seed: int = 0,
    ) -> Graph:
        """Make a graph of a pandas table of nodes and one of edges, for fit, predict and evaluate; see from_tables.

        A fitted estimator encodes the columns exactly as those of its training tables and takes their roles.
        split: percentages of train, valid and test, for tables with labels and without split_column.
        """
        plan = None if self._trained is None else self._trained.import_toml
        if self._trained is not None and plan is None:
            name = type(self).__name__
            raise ValueError(
                f"{name}: from_pandas must be of an estimator fitted on tables, this one was fitted on others"
            )
        drawn = split if plan is None and label is not None and split_column is None else None
        return from_tables(
            nodes,
            edges,
            label=label,
            id_column=id_column,
            split=drawn,
            split_column=split_column,
            plan=plan,
            undirected=undirected,
            seed=seed,
        )

    def on_scopes(self, extractor: ExtractorLike) -> Self:
        """Return an estimator with the same weights that predicts on other scopes than those of training.

        A normal GNN then reads the scope of a target instead of the whole graph.
        """
        other = copy.copy(self)._take(self.run_, cast(TrainedModel, self._trained))
        other._other_scopes = as_extractor(extractor)
        other._origin = self
        return other

    def score(self, graph: Any, *, split: str = "test", progress: Shown = None) -> float:
        """Return the first metric of the task on a split, for example accuracy."""
        return next(iter(self.evaluate(graph, split=split, progress=progress).metrics.values()))

    def evaluate(self, graph: Any, *, split: str = "test", progress: Shown = None) -> Evaluation:
        """Return all metrics on a split, as `shadow evaluate` does."""
        with shown_progress(progress) as report:
            return evaluate_split(self.predictor(graph), split, progress=report)

    def save(self, folder: str | Path) -> Path:
        """Write the run folder, which `shadow evaluate` and `shadow predict` read; it must not exist yet."""
        source, folder = self.run_.folder, Path(folder)
        if folder.exists():
            raise WriteError(f"{folder}: exists already; choose another folder")
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("cache", ".lock"))
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Open a finished run folder, made by save or by `shadow train`."""
        run, trained = open_run(folder), open_trained(folder)
        if trained.config.target not in cls.targets:
            raise RunError(
                f"{folder}: must hold a model that predicts {' or '.join(cls.targets)} for {cls.__name__}, "
                f"it predicts {trained.config.target}"
            )
        return cls(recipe=run.recipe)._take(run, trained)

    @property
    def run_(self) -> Run:
        """The run folder of the last fit."""
        self._check_fitted()
        assert self._run is not None
        return self._run

    def predictor(self, graph: Any) -> Predictor:
        """Return the model opened on a graph; the last graph stays open, which makes single targets cheap."""
        self._check_fitted()
        assert self._trained is not None
        if self._predictor is None or self._predictor[0] is not graph:
            self._predictor = (graph, Predictor(self._trained, as_graph(graph), extractor=self._other_scopes))
        return self._predictor[1]

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether fit or load was called, for scikit-learn."""
        return self._trained is not None

    def _recipe(self, graph: Graph) -> Recipe:
        changes = {name: value for name, value in self.get_params().items() if name != "recipe"}
        base = self.recipe if self.recipe is not None else self._default(graph)
        return make_recipe(base, changes, IN_MEMORY if graph.path is None else str(graph.path), self.kind)

    def _default(self, graph: Graph) -> Recipe | None:
        """Return the recipe of `shadow train --graph` for one model; None for links.

        Labels are not inputs, because later tables to predict may have none.
        """
        if self.kind != "node":
            return None
        found = default_recipe(graph, labels=False)
        if self.method in NORMAL_METHODS:
            return normal_recipe(found, cast(NormalMethod, self.method))
        if self.method == "joint":
            return found.model_copy(update={"model": found.model.model_copy(update={"encoding": "none"})})
        return found

    def _temporary_folder(self) -> Path:
        """Return a folder that lives as long as the estimator, so that save can copy the run."""
        temporary = tempfile.mkdtemp(prefix="shadow-")
        weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
        return Path(temporary) / "run"

    def _take(self, run: Run, trained: TrainedModel) -> Self:
        self._run, self._trained, self._predictor = run, trained, None
        return self

    def _check_fitted(self) -> None:
        if self._trained is None:
            name = type(self).__name__
            raise ValueError(f"{name}: must be fitted first; call fit(graph) or {name}.load(folder)")


class _Watcher(SilentRun):
    """Passes the steps of a run to a progress function."""

    def __init__(self, progress: Progress) -> None:
        self._num_epochs, self._progress, self._valid = 0, progress, ""

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        """Begin a run, or its warm start."""
        self._num_epochs, self._valid = run.recipe.training.num_epochs, ""

    def on_step(self, step: Step) -> None:
        """Show the epoch and the loss."""
        stage = f"epoch {step.epoch + 1}/{self._num_epochs}, loss {step.loss:.4f}{self._valid}"
        self._progress(stage, step.epoch * step.num_steps + step.number + 1, self._num_epochs * step.num_steps)

    def on_epoch(self, state: TrainingState) -> None:
        """Remember the best validation so far."""
        best = state.best
        if best is not None and best.valid:
            self._valid = f", best valid {state.monitor} {best.valid[state.monitor]:.4f}"


@contextmanager
def shown_progress(shown: Shown) -> Iterator[Progress]:
    """Give the progress function of an argument."""
    if callable(shown):
        yield shown
        return
    with progress_bar(shown) as report:
        yield report


def as_graph(graph: Any) -> Graph:
    """Return a Graph from a Graph, a graph folder's name or a torch_geometric Data."""
    if isinstance(graph, Graph):
        return graph
    return open_recipe_graph(str(graph)) if isinstance(graph, (str, Path)) else from_pyg(graph)
