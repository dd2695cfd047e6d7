"""Tune: `shadow tune`, a recipe to the best one of its search space.

Not for: the work itself (tune/); heavy libraries load when the command runs.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shadow_gnn.studies.tune.report import Outcome
    from shadow_gnn.studies.tune.study import Trial
    from shadow_gnn.studies.tune.tuning import TuneOptions


class SamplerName(StrEnum):
    """How values are chosen."""

    tpe = "tpe"
    random = "random"


class PrunerName(StrEnum):
    """When a trial ends early."""

    median = "median"
    hyperband = "hyperband"
    none = "none"


def tune_command(
    recipe: Annotated[Path, typer.Argument(help="Recipe: a TOML file, or paper/NAME for one of the paper's.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the recipe for all trials."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Study folder.", show_default="tune/<recipe>")] = None,
    graph: Annotated[str | None, typer.Option(help="Graph folder or built-in graph, instead of the recipe's.")] = None,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Search space, a TOML file.", show_default="the paper's")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, max=100_000, help="Trials of the study, earlier ones included.")] = 50,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop after this time; the same command goes on.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Trials at the same time; they share the cores.")] = 1,
    sampler: Annotated[SamplerName, typer.Option(help="How values are chosen.")] = SamplerName.tpe,
    pruner: Annotated[PrunerName, typer.Option(help="When a trial ends early.")] = PrunerName.median,
    any_size: Annotated[
        bool, typer.Option("--any-size", help="Train even if it seems to need more memory than there is.")
    ] = False,
    print_space: Annotated[bool, typer.Option("--print-space", help="Print the search space and exit.")] = False,
) -> None:
    """Search for the settings of a recipe that are best on validation.

    Without --space, over the paper's search space: its grid and the values of its tables. A study folder holds a run
    folder for each trial, the best recipe (best.toml) and a report (report.md, report.png, trials.csv). A search that
    was stopped, even killed, goes on with the same command. Needs Optuna: pip install 'shadow-gnn[tune]'.

    \b
    Examples:
      shadow tune recipe.toml
      shadow tune recipe.toml --trials 100 --workers 2 --timeout 3600
      shadow tune recipe.toml --print-space > space.toml
      shadow tune recipe.toml --space space.toml --set training.num_epochs=20 --out studies/short
    """
    from shadow_gnn.recipe.named import find_recipe
    from shadow_gnn.recipe.record import toml_value
    from shadow_gnn.studies.tune.tuning import TuneOptions, search_space

    changes = [*(set_ or []), *([f"graph={toml_value(graph)}"] if graph is not None else [])]
    options = TuneOptions(
        overrides=tuple(changes),
        space=space,
        num_trials=trials,
        seconds=timeout,
        num_workers=workers,
        sampler=sampler.value,
        pruner=pruner.value,
        check_memory=not any_size,
    )
    found = find_recipe(recipe)
    if print_space:
        typer.echo(search_space(found, options).to_toml(), nl=False)
        return
    _tune(found, out or Path("tune") / recipe.stem, options)


def _tune(recipe: Path, folder: Path, options: TuneOptions) -> None:
    from dataclasses import replace

    from shadow_gnn.studies.tune.tuning import tune_recipe

    shown = _Shown(folder, options.num_trials)
    try:
        ending, outcome = tune_recipe(recipe, folder, replace(options, watcher=shown))
    except Exception:
        raise
    except BaseException:  # Ctrl-C or SIGTERM
        shown.stop()
        if folder.exists():
            typer.echo("stopped; what is done is kept, the same command goes on", err=True)
        raise
    finally:
        shown.stop()
    _show(folder, ending, outcome)


class _Shown:
    """A watcher that prints a line for each trial that ends, and shows a bar if somebody watches."""

    def __init__(self, folder: Path, num_trials: int) -> None:
        self._folder, self._num_trials = folder, num_trials
        self._running: dict[int, int] = {}
        self._done = 0
        self._rich: Any = None
        self._task: Any = None

    def on_start(self, num_ended: int) -> None:
        """Say what was there before, and show the bar if somebody watches."""
        self._done = num_ended
        if num_ended:
            typer.echo(f"{self._folder}: goes on after {num_ended} trials")
        if sys.stdout.isatty():
            self._start()

    def on_trial(self, trial: Trial) -> None:
        """Count a trial that begins or goes on."""
        if trial.scores:
            self._line(f"trial {trial.number}: goes on after epoch {trial.scores[-1][0]}")
        self._running[trial.number] = trial.scores[-1][0] if trial.scores else 0
        self._update()

    def on_epoch(self, trial: int, num_epochs: int) -> None:
        """Show how far a trial is."""
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
        self._line("  ".join([*parts, *([trial.fault] if trial.fault else [])]))
        self._update()

    def stop(self) -> None:
        """Remove the bar, if there is one."""
        if self._rich is not None:
            self._rich.stop()
            self._rich = None

    def _line(self, text: str) -> None:
        if self._rich is not None:
            self._rich.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            typer.echo(text)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._rich = Progress(*columns, console=Console(), transient=True)
        self._rich.start()
        self._task = self._rich.add_task(str(self._folder), total=self._num_trials, completed=self._done)

    def _update(self) -> None:
        if self._rich is not None:
            now = ", ".join(f"{number} at epoch {epoch}" for number, epoch in sorted(self._running.items()))
            self._rich.update(self._task, description=f"trial {now}" if now else "", completed=self._done)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _show(folder: Path, ending: str, outcome: Outcome) -> None:
    """Print what was found."""
    from shadow_gnn.studies.tune.report import BEST, PAGE

    counts = ", ".join(
        f"{count} {state}" for state in ("finished", "pruned", "failed") if (count := outcome.count(state))
    )
    left = outcome.count("running")
    typer.echo(f"{ending}: {counts or 'no trial is finished'}" + (f", {left} to go on with" if left else ""))
    if outcome.best is None:
        return
    monitor = outcome.monitor
    test = f", test {outcome.test[monitor]:.4f}" if outcome.test.get(monitor) is not None else ""
    typer.echo(
        f"best: trial {outcome.best.number}, valid {monitor} {outcome.valid[monitor]:.4f}{test}; {folder / BEST}"
    )
    typer.echo(f"report: {folder / PAGE}")
