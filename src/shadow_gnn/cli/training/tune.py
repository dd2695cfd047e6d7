"""Tune: `shadow tune`, a search for the best settings of a recipe.

Not for: the work itself (studies/tune); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shadow_gnn.cli.shared.options import (
    AnySizeOption,
    JsonOption,
    RecipeArgument,
    RecipeGraphOption,
    SetOption,
    recipe_changes,
)
from shadow_gnn.cli.shared.output import print_json
from shadow_gnn.cli.shared.screen import Screen, stoppable

if TYPE_CHECKING:
    from shadow_gnn.studies.tune.report import Outcome
    from shadow_gnn.studies.tune.study import Trial
    from shadow_gnn.studies.tune.tuning import TuneOptions


def tune_command(
    recipe: RecipeArgument,
    set_: SetOption = None,
    out: Annotated[Path | None, typer.Option(help="Study folder.", show_default="tune/<recipe>")] = None,
    graph: RecipeGraphOption = None,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Search space, a TOML file.", show_default="the paper's")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, max=100_000, help="Trials of the study, earlier ones included.")] = 50,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop after this time; the same command resumes.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Parallel trials; they share the cores.")] = 1,
    sampler: Annotated[Literal["tpe", "random"], typer.Option(help="Choice of the next values.")] = "tpe",
    pruner: Annotated[
        Literal["median", "hyperband", "none"], typer.Option(help="Rule that ends bad trials early.")
    ] = "median",
    any_size: AnySizeOption = False,
    print_space: Annotated[bool, typer.Option("--print-space", help="Print the search space and exit.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the settings of a recipe that are best on validation.

    The default search space is the paper's: its grid and the values of its tables. A study folder holds a run folder
    for each trial, the best recipe (best.toml) and a report (report.md, report.png, trials.csv). After a stop or a
    kill, the same command resumes. Needs Optuna: pip install 'shadow-gnn[tune]'.

    \b
    Examples:
      shadow tune recipe.toml
      shadow tune recipe.toml --trials 100 --workers 2 --timeout 3600
      shadow tune recipe.toml --print-space > space.toml
      shadow tune recipe.toml --space space.toml --set training.num_epochs=20 --out studies/short
    """
    from shadow_gnn.recipe.named import find_recipe
    from shadow_gnn.studies.tune.tuning import TuneOptions, search_space

    options = TuneOptions(
        overrides=tuple(recipe_changes(set_, graph)),
        space=space,
        num_trials=trials,
        seconds=timeout,
        num_workers=workers,
        sampler=sampler,
        pruner=pruner,
        check_memory=not any_size,
    )
    found = find_recipe(recipe)
    if print_space:
        typer.echo(search_space(found, options).to_toml(), nl=False)
        return
    _tune(found, out or Path("tune") / recipe.stem, options, as_json=as_json)


def _tune(recipe: Path, folder: Path, options: TuneOptions, *, as_json: bool) -> None:
    from dataclasses import replace

    from shadow_gnn.studies.tune.tuning import tune_recipe

    screen = Screen(to_stderr=as_json)
    watcher = _Watcher(screen, folder, options.num_trials)
    with stoppable(screen, "finished work is saved, the same command resumes", folder):
        ending, outcome = tune_recipe(recipe, folder, replace(options, watcher=watcher))
    if as_json:
        print_json({"folder": folder, "ending": ending, **_content(outcome)})
    else:
        _show(folder, ending, outcome)


class _Watcher:
    """Prints a line for each finished trial, and shows a bar on a terminal."""

    def __init__(self, screen: Screen, folder: Path, num_trials: int) -> None:
        self._screen, self._folder, self._num_trials = screen, folder, num_trials
        self._running: dict[int, int] = {}
        self._done = 0
        self._bar: Any = None

    def on_start(self, num_ended: int) -> None:
        """Print the number of earlier trials, and show the bar."""
        self._done = num_ended
        if num_ended:
            self._screen.line(f"{self._folder}: resumed after {num_ended} trials")
        self._bar = self._screen.add_bar(str(self._folder), total=self._num_trials, completed=num_ended)

    def on_trial(self, trial: Trial) -> None:
        """Count a trial that begins or resumes."""
        if trial.scores:
            self._screen.line(f"trial {trial.number}: resumed after epoch {trial.scores[-1][0]}")
        self._running[trial.number] = trial.scores[-1][0] if trial.scores else 0
        self._update()

    def on_epoch(self, trial: int, num_epochs: int) -> None:
        """Show the epoch of a trial."""
        self._running[trial] = num_epochs
        self._update()

    def on_end(self, trial: Trial, monitor: str) -> None:
        """Print the line of a trial."""
        from shadow_gnn.base.metric_order import metric_from_score

        self._running.pop(trial.number, None)
        self._done += 1
        score = trial.best_so_far
        parts = [f"trial {trial.number}", trial.state]
        if score is not None and monitor:
            parts.append(f"valid {monitor} {metric_from_score(monitor, score):.4f}")
        parts += [f"{key.split('.')[-1]} {_short(value)}" for key, value in trial.values.items()]
        self._screen.line("  ".join([*parts, *([trial.fault] if trial.fault else [])]))
        self._update()

    def _update(self) -> None:
        now = ", ".join(f"{number} at epoch {epoch}" for number, epoch in sorted(self._running.items()))
        self._screen.update(self._bar, description=f"trial {now}" if now else "", completed=self._done)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _content(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome for JSON; the score of a trial becomes the metric that it stands for."""
    trials = [
        {
            "number": trial.number,
            "state": trial.state,
            "valid": outcome.metric(trial.best_so_far),
            "values": trial.values,
            "fault": trial.fault,
        }
        for trial in outcome.trials
    ]
    best = None if outcome.best is None else outcome.best.number
    scores = {"monitor": outcome.monitor, "best": best, "valid": outcome.valid, "test": outcome.test}
    return {**scores, "importance": outcome.shares, "trials": trials}


def _show(folder: Path, ending: str, outcome: Outcome) -> None:
    """Print the number of trials, the best one and the report."""
    from shadow_gnn.studies.tune.report import BEST, PAGE

    counts = ", ".join(
        f"{count} {state}" for state in ("finished", "pruned", "failed") if (count := outcome.count(state))
    )
    left = outcome.count("running")
    typer.echo(f"{ending}: {counts or 'no trial is finished'}" + (f", {left} to resume" if left else ""))
    if outcome.best is None:
        return
    monitor = outcome.monitor
    test = f", test {outcome.test[monitor]:.4f}" if outcome.test.get(monitor) is not None else ""
    typer.echo(
        f"best: trial {outcome.best.number}, valid {monitor} {outcome.valid[monitor]:.4f}{test}; {folder / BEST}"
    )
    typer.echo(f"report: {folder / PAGE}")
