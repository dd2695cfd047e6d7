"""Study: the trials of a search in their folder, the choice of the next values, and pruning.

Not for: training the trials (worker.py, search.py), or the report (report.py).
"""

from __future__ import annotations

import json
import math
import random
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shadow_gnn.base.errors import RunError, ShadowError, WriteError
from shadow_gnn.base.files import new_folder, write_file
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.studies.tune.space import MAX_ENUMERATED, Choices, Label, Range, Space, Values
from shadow_gnn.training.runs.folder import read_json, write_json

if TYPE_CHECKING:
    import optuna

Sampler = Literal["tpe", "random"]
Pruner = Literal["median", "hyperband", "none"]
TrialState = Literal["finished", "pruned", "failed", "running"]

VERSION = 1
RECORD, BASE, DATABASE = "study.json", "recipe.toml", "study.sqlite"
_NAME = "shadow"
_FAULT = "fault"
_STARTUP_TRIALS = 5


@dataclass(frozen=True)
class Plan:
    """Everything that decides a study: the same plan resumes the same study."""

    recipe: Path
    """Recipe file."""
    overrides: tuple[str, ...]
    """Overrides of the recipe for all trials."""
    space: Space
    """The search space."""
    fingerprint: str
    """Of the graph's topology."""
    content: str | None
    """Of the graph's features, labels and splits."""
    sampler: Sampler = "tpe"
    """Method of choosing values: Optuna's tree of Parzen estimators, or random."""
    pruner: Pruner = "median"
    """Rule for ending a trial early: worse than the median of earlier ones, Hyperband, or none."""

    def read(self, extra: Sequence[str] = ()) -> Recipe:
        """Read the recipe with the study's overrides and extra ones."""
        return read_recipe(self.recipe, [*self.overrides, *extra])

    def to_json(self) -> dict[str, Any]:
        """Return the content of study.json."""
        return {
            "format": "shadow-study",
            "version": VERSION,
            "overrides": list(self.overrides),
            "space": self.space.to_json(),
            "fingerprint": self.fingerprint,
            "content": self.content,
            "sampler": self.sampler,
            "pruner": self.pruner,
        }


@dataclass(frozen=True)
class Trial:
    """One set of values and its results so far."""

    number: int
    """From 0; with gaps for repeated values."""
    values: Values
    """By key of the space."""
    state: TrialState
    """State of the trial."""
    scores: tuple[tuple[int, float], ...] = ()
    """(Epoch from 1, validation score) of each evaluated epoch; larger is better."""
    score: float | None = None
    """Score of the best epoch of a finished trial."""
    fault: str = ""
    """Reason of a failure."""

    @property
    def best_so_far(self) -> float | None:
        """The score, or the best one before a trial was pruned or stopped."""
        if self.score is not None:
            return self.score
        return max((score for _, score in self.scores if not math.isnan(score)), default=None)


def prepare_folder(folder: Path, plan: Plan) -> None:
    """Create a study's folder in one step, or check that an existing one has the same plan."""
    base = plan.recipe.read_bytes()
    if not folder.exists():
        with new_folder(folder) as temporary:
            write_json(temporary / RECORD, plan.to_json())
            write_file(temporary / BASE, base)
        return
    if not (folder / RECORD).is_file():
        raise RunError(f"{folder}: is not a study: it has no {RECORD}; choose another folder with --out")
    there, wanted = read_json(folder / RECORD), json.loads(json.dumps(plan.to_json()))
    different = [name for name, value in wanted.items() if there.get(name) != value]
    if (folder / BASE).read_bytes() != base:
        different.append("recipe")
    if different:
        raise RunError(
            f"{folder}: is a study with another {', '.join(different)}; resume it with its first settings, or "
            "choose another folder with --out"
        )


def import_optuna() -> Any:
    """Return the package with its logging off; the error for a missing one says how to install it."""
    try:
        import optuna
    except ImportError as error:
        raise ShadowError("tune: needs the package optuna; install it with pip install 'shadow-gnn[tune]'") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


@contextmanager
def one_line_faults(folder: Path) -> Iterator[None]:
    """Turn a fault of the database, as on a full disk, into one line; the last commit stays."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, import_optuna().exceptions.StorageInternalError) as error:
        first: BaseException = error
        while (cause := getattr(first, "orig", None) or first.__cause__) is not None:
            first = cause
        line = f"{folder / DATABASE}: cannot be read or written: {first}; the same command resumes"
        raise WriteError(line) from error


class Study:
    """The trials of a plan; every change is on disk before the next, and one process uses it."""

    def __init__(self, folder: Path, plan: Plan, num_trials: int, *, num_epochs: int, seed: int) -> None:
        """Open or create the study in a prepared folder.

        num_trials: maximum number of trials, including earlier sessions. num_epochs: of the recipe, for the pruner.
        seed: random seed of the values.
        """
        self._optuna = import_optuna()
        self.folder, self.plan, self.num_trials = folder, plan, num_trials
        self._num_epochs, self._seed = num_epochs, seed
        with _quiet():
            self._storage = _open_database(self._optuna, folder / DATABASE)
            self._study: optuna.Study = self._optuna.create_study(
                study_name=_NAME,
                storage=self._storage,
                direction="maximize",
                sampler=self._optuna.samplers.RandomSampler(),  # All values are given to it.
                pruner=self._make_pruner(),
                load_if_exists=True,
            )
            self._distributions = {key: self._distribution(key) for key in plan.space.keys}
            self._open: dict[int, optuna.Trial] = {}
            self._left = self._interrupted()
            self._enqueue_own_values()

    def close(self) -> None:
        """Close the database."""
        self._storage.remove_session()
        self._storage.engine.dispose()

    def trials(self) -> list[Trial]:
        """Return every started trial, by number; one whose values are not all written has not started."""
        found = self._study.get_trials(deepcopy=False)
        return [_trial(trial) for trial in found if trial.params.keys() == self._distributions.keys()]

    def folder_of(self, number: int) -> Path:
        """Return the run folder of a trial."""
        return self.folder / f"trial-{number:04}"

    def recipe_of(self, values: Values) -> Recipe:
        """Return the recipe of a trial."""
        return self.plan.read(self.plan.space.overrides(values))

    def next(self) -> Trial | None:
        """Start the next trial, or resume an interrupted one; None if there are no more."""
        with _quiet():
            if self._left:
                trial = self._left.pop(0)
            else:
                size, begun = self.plan.space.size, len(self.trials())
                if begun >= self.num_trials or (size is not None and begun >= size):
                    return None
                trial = self._ask()
            self._open[trial.number] = trial
            return _trial(self._frozen(trial.number))

    def report(self, number: int, scores: Sequence[tuple[int, float]]) -> bool:
        """Store the scores of a trial's epochs so far; return whether to prune it."""
        trial = self._open[number]
        known = self._frozen(number).intermediate_values
        for epoch, score in scores:
            if epoch not in known:
                trial.report(score, epoch)
        with _quiet():
            return bool(trial.should_prune())

    def finish(self, number: int, score: float) -> None:
        """Store that a trial is finished, with the score of its best epoch."""
        if math.isnan(score):
            self.fail(number, "its validation metric is not defined")
            return
        self._tell(number, "COMPLETE", score)

    def prune(self, number: int) -> None:
        """Store that a trial was pruned."""
        self._tell(number, "PRUNED")

    def fail(self, number: int, fault: str) -> None:
        """Store that a trial failed, with the reason."""
        self._open[number].set_user_attr(_FAULT, fault)
        self._tell(number, "FAIL")

    def _tell(self, number: int, state: str, score: float | None = None) -> None:
        with _quiet():
            self._study.tell(self._open.pop(number), score, state=self._optuna.trial.TrialState[state])

    def _frozen(self, number: int) -> optuna.trial.FrozenTrial:
        return self._study.get_trials(deepcopy=False)[number]

    def _interrupted(self) -> list[optuna.Trial]:
        """Return the trials that an earlier session left running; values that it did not write are written now."""
        found = []
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state.name == "RUNNING":
                resumed = self._optuna.trial.Trial(self._study, trial._trial_id)
                for name, distribution in self._distributions.items():
                    resumed._suggest(name, distribution)
                found.append(resumed)
        return found

    def _enqueue_own_values(self) -> None:
        """Put the recipe's own values first, if the space contains them."""
        if self._study.get_trials(deepcopy=False):
            return
        values = {key: self._own_label(key, found) for key, found in self.plan.space.keys.items()}
        if None not in values.values():
            self._study.enqueue_trial(values)

    def _own_label(self, key: str, found: Choices | Range) -> Label | None:
        """Return the value of a key that leaves the recipe unchanged; None if the space does not contain it."""
        own = self.plan.read()
        if found.size is not None:
            return next((label for label in found.labels if self.recipe_of({key: label}) == own), None)
        value: Any = own.model_dump()
        for part in key.split("."):
            value = value[int(part) if part.isdecimal() else part]
        return value if isinstance(value, (int, float)) and found.extremes[0] <= value <= found.extremes[1] else None

    def _ask(self) -> optuna.Trial:
        """Start a trial. Its values are written in one step before it starts: a kill cannot change them."""
        if not any(trial.state.name == "WAITING" for trial in self._study.get_trials(deepcopy=False)):
            self._study.enqueue_trial(self._new_values())
        return self._study.ask(self._distributions)

    def _new_values(self) -> dict[str, Label]:
        """Choose values that no earlier trial has, in memory, and from the earlier trials alone."""
        earlier = self._study.get_trials(deepcopy=False)
        memory = self._optuna.create_study(direction="maximize", sampler=self._make_sampler(len(earlier)))
        memory.add_trials(earlier)
        values: dict[str, Label] = memory.ask(self._distributions).params
        # The same values would give the same result: new ones replace them.
        known = any(self._key(trial.params) == self._key(values) for trial in earlier)
        return self._untried(len(earlier)) if known else values

    def _key(self, values: Values) -> tuple[Any, ...]:
        return tuple(repr(found.value(values[key])) for key, found in self.plan.space.keys.items())

    def _untried(self, number: int) -> dict[str, Label]:
        """Draw values of no earlier trial."""
        tried = {self._key(trial.values) for trial in self.trials()}
        space, rng = self.plan.space, random.Random(f"{self._seed} {number}")
        assert space.size is not None  # Continuous values do not repeat.
        if space.size <= MAX_ENUMERATED:
            return rng.choice([values for values in space.combinations() if self._key(values) not in tried])
        while True:
            values = {key: rng.choice(found.labels) for key, found in space.keys.items()}
            if self._key(values) not in tried:
                return values

    def _make_sampler(self, number: int) -> Any:
        seed = random.Random(f"sampler {self._seed} {number}").getrandbits(31)
        samplers = self._optuna.samplers
        if self.plan.sampler == "random":
            return samplers.RandomSampler(seed=seed)
        return samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)

    def _make_pruner(self) -> Any:
        pruners = self._optuna.pruners
        if self.plan.pruner == "none":
            return pruners.NopPruner()
        if self.plan.pruner == "hyperband":
            return pruners.HyperbandPruner(min_resource=1, max_resource=self._num_epochs, reduction_factor=3)
        # The first fifth of the epochs is not a reliable signal.
        return pruners.MedianPruner(n_startup_trials=_STARTUP_TRIALS, n_warmup_steps=1 + self._num_epochs // 5)

    def _distribution(self, key: str) -> Any:
        found, kinds = self.plan.space.keys[key], self._optuna.distributions
        if isinstance(found, Choices):
            return kinds.CategoricalDistribution(found.labels)
        if found.integer:
            return kinds.IntDistribution(found.low, found.high, log=found.log, step=found.step or 1)
        return kinds.FloatDistribution(found.low, found.high, log=found.log, step=found.step)


def _open_database(optuna: Any, path: Path) -> Any:
    """Open Optuna's storage in an SQLite file that survives a kill at any moment without waiting for the disk.

    With a write-ahead log, only a power failure can undo the last commits.
    """
    from sqlalchemy import event

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")  # Stored in the file.
    quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    storage = optuna.storages.RDBStorage(f"sqlite:///{quoted}")

    def relax(connection: Any, record: object) -> None:
        connection.execute("PRAGMA synchronous=NORMAL").close()

    event.listen(storage.engine, "connect", relax)
    storage.remove_session()
    storage.engine.dispose()  # New connections are relaxed.
    return storage


def _trial(found: optuna.trial.FrozenTrial) -> Trial:
    states: dict[str, TrialState] = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running"}
    state, scores = states[found.state.name], tuple(sorted(found.intermediate_values.items()))
    score, fault = found.value if state == "finished" else None, str(found.user_attrs.get(_FAULT, ""))
    return Trial(found.number, dict(found.params), state, scores, score, fault)


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide Optuna's warnings about experimental features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
