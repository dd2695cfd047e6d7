"""Live: how training looks on the screen: a bar with loss and time left, and a line for each epoch.

Not for: training itself (training/runs/run.py); where nobody watches, there are plain lines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    from shadow_gnn.training.loop import Epoch, Step, TrainingState
    from shadow_gnn.training.run_setup import RunSetup
    from shadow_gnn.training.runs.folder import Run

_REFRESH_SECONDS = 0.1


class Live:
    """A watcher that shows a run."""

    def __init__(self, *, to_stderr: bool = False) -> None:
        """Show it on stdout, or on stderr where stdout is for JSON alone."""
        self._to_stderr = to_stderr
        self._rich: Any = None
        self._task: Any = None
        self._num_epochs = 0
        self._shown = 0.0
        self._best = ""

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        """Say what is trained, and show the bar if somebody watches."""
        self._num_epochs, self._best = run.recipe.training.num_epochs, ""
        self._line(_headline(run, setup, num_done))
        if setup.pack_bytes:
            need = setup.pack_bytes * setup.part.num_ranks
            self._line(f"{setup.pack_folder}: packed batches will take about {need / 1e9:,.2f} GB")
        if num_done:
            self._note_threads(run)
        if (sys.stderr if self._to_stderr else sys.stdout).isatty():
            self._start_bar(num_done)

    def on_step(self, step: Step) -> None:
        """Move the bar, ten times a second at most."""
        now = time.monotonic()
        if self._rich is None or now - self._shown < _REFRESH_SECONDS:
            return
        self._shown = now
        self._rich.update(
            self._task,
            description=f"epoch {step.epoch + 1}/{self._num_epochs}",
            completed=step.epoch * step.num_steps + step.number + 1,
            total=self._num_epochs * step.num_steps,
            loss=f"loss {step.loss:.4f}{self._best}",
        )

    def on_epoch(self, state: TrainingState) -> None:
        """Add the line of an epoch."""
        best = state.best
        if best is not None and best.valid:
            self._best = f", best valid {state.monitor} {best.valid[state.monitor]:.4f}"
        self._line(_epoch_line(state, self._num_epochs))

    def stop(self) -> None:
        """Remove the bar, if there is one."""
        if self._rich is not None:
            self._rich.stop()
            self._rich = None

    def _line(self, text: str) -> None:
        if self._rich is not None:
            self._rich.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            typer.echo(text, err=self._to_stderr)

    def _note_threads(self, run: Run) -> None:
        from torch import get_num_threads

        if get_num_threads() != run.record.num_threads:
            self._line(
                f"note: started with {run.record.num_threads} threads, now {get_num_threads()}: last digits may differ"
            )

    def _start_bar(self, num_done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self.stop()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[loss]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._rich = Progress(*columns, console=Console(stderr=self._to_stderr), transient=True)
        self._rich.start()
        self._task = self._rich.add_task(f"epoch {num_done + 1}/{self._num_epochs}", total=None, loss="")


@contextmanager
def live_run(folder: Path, *, to_stderr: bool = False) -> Iterator[Live]:
    """Give a watcher for the run in a folder; whoever stops it learns how to resume."""
    live = Live(to_stderr=to_stderr)
    try:
        yield live
    except Exception:
        live.stop()
        raise
    except BaseException:  # Ctrl-C or SIGTERM
        live.stop()
        if folder.exists():
            typer.echo(f"stopped; finished epochs are kept, resume with: shadow resume {folder}", err=True)
        raise
    finally:
        live.stop()


def show_result(folder: Path, result: dict[str, Any], *, as_json: bool = False) -> None:
    """Print the result of a run or of repeats."""
    if as_json:
        print_json({"folder": str(folder), **result})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in result["valid"]:
        table.add_column(name, justify="right")
    for split in ("valid", "test"):
        if result[split]:
            table.add_row(split, *(_number(value) for value in result[split].values()))
    console = Console(highlight=False)
    console.print(table)
    if "num_repeats" in result:
        what = f"{result['num_repeats']} repeats, mean ± sample standard deviation"
    else:
        early = ", stopped early" if result["stopped_early"] else ""
        what = f"best epoch {result['best_epoch']} of {result['num_epochs']}{early}"
    console.print(f"{what}; {result['seconds_per_epoch']:.2f} s per epoch; {folder}", soft_wrap=True)


def _number(value: Any) -> str:
    if isinstance(value, dict):
        return "-" if value["mean"] is None else f"{value['mean']:.4f} ± {value['deviation']:.4f}"
    return "-" if value is None else f"{value:.4f}"


def _headline(run: Run, setup: RunSetup, num_done: int) -> str:
    model = run.recipe.model
    weights = sum(weight.numel() for weight in setup.model.parameters())
    targets = setup.num_training_targets
    again = f", resumed after epoch {num_done}" if num_done else ""
    return (
        f"{run.folder}: {model.layer}, {model.num_layers} layers of {model.hidden_dim}, {weights:,} weights, "
        f"{targets:,} training targets, seed {run.recipe.seed}{again}"
    )


def _epoch_line(state: TrainingState, num_epochs: int) -> str:
    epoch: Epoch = state.history[-1]
    width = len(str(num_epochs))
    parts = [f"epoch {epoch.number + 1:{width}}/{num_epochs}", f"loss {epoch.loss:.4f}"]
    parts += [f"train {name} {value:.4f}" for name, value in epoch.train.items()]
    if epoch.valid:
        parts.append(f"valid {state.monitor} {epoch.valid[state.monitor]:.4f}")
    parts.append(f"{epoch.seconds:.1f} s")
    return "  ".join(parts) + ("  best" if epoch.valid and state.best is epoch else "")
