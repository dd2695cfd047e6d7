"""Live: a training run on the screen: a bar with loss and time left, and a line for each epoch.

Not for: training itself (training/runs/run.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shadow_gnn.cli.shared.output import number, plain, print_json, print_table
from shadow_gnn.cli.shared.screen import Screen, stoppable
from shadow_gnn.cli.shared.voice import say, voice

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks
    from shadow_gnn.training.loop import Epoch, Step, TrainingState
    from shadow_gnn.training.run_setup import RunSetup
    from shadow_gnn.training.runs.folder import Run
    from shadow_gnn.training.runs.run import RunWatcher

_REFRESH_SECONDS = 0.1


class Live:
    """A watcher that shows runs, one after another."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._bar: Any = None
        self._num_epochs = 0
        self._shown = 0.0
        self._best = ""

    def on_phase(self, text: str) -> None:
        """Print the line of a new phase."""
        self._screen.stop()
        self._screen.line(text)

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        """Print a line about the model, and show the bar on a terminal."""
        self._screen.stop()
        self._num_epochs, self._best = run.recipe.training.num_epochs, ""
        self._screen.line(_headline(run, setup, num_done), "start", **_start_fields(run, setup, num_done))
        if setup.pack_bytes:
            need = setup.pack_bytes * setup.part.num_ranks
            self._screen.line(f"{setup.pack_folder}: packed batches will take about {need / 1e9:,.2f} GB")
        if num_done:
            self._note_threads(run)
        self._bar = self._screen.add_bar(f"epoch {num_done + 1}/{self._num_epochs}")

    def on_step(self, step: Step) -> None:
        """Move the bar, ten times a second at most."""
        now = time.monotonic()
        if now - self._shown < _REFRESH_SECONDS:
            return
        self._shown = now
        self._screen.update(
            self._bar,
            description=f"epoch {step.epoch + 1}/{self._num_epochs}",
            completed=step.epoch * step.num_steps + step.number + 1,
            total=self._num_epochs * step.num_steps,
            note=f"loss {step.loss:.4f}{self._best}",
        )

    def on_epoch(self, state: TrainingState) -> None:
        """Add the line of an epoch."""
        best = state.best
        if best is not None and best.valid:
            self._best = f", best valid {state.monitor} {best.valid[state.monitor]:.4f}"
        self._screen.line(_epoch_line(state, self._num_epochs), "epoch", **_epoch_fields(state, self._num_epochs))

    def _note_threads(self, run: Run) -> None:
        from torch import get_num_threads

        if get_num_threads() != run.record.num_threads:
            self._screen.line(
                f"note: started with {run.record.num_threads} threads, now {get_num_threads()}: last digits may differ"
            )


@contextmanager
def shown_run(folder: Path, ranks: Ranks, *, to_stderr: bool = False) -> Iterator[RunWatcher | None]:
    """Give the main rank a watcher that shows a run; a stop prints how to resume it."""
    if not ranks.is_main:
        yield None
        return
    screen = Screen(to_stderr=to_stderr)
    with stoppable(screen, f"finished epochs are saved, resume with: shadow resume {folder}", folder):
        yield Live(screen)


def show_result(folder: Path, result: dict[str, Any], *, as_json: bool = False) -> None:
    """Print the result of a run or of repeats."""
    if as_json:
        print_json({"folder": folder, **result})
        return
    if voice().log == "json":
        say("", "result", to_stderr=False, **plain({"folder": folder, **result}))
        return
    splits = [split for split in ("valid", "test") if result[split]]
    print_table(("", *result["valid"]), [(split, *map(_metric, result[split].values())) for split in splits])
    if "num_repeats" in result:
        what = f"{result['num_repeats']} repeats, mean ± sample standard deviation"
    else:
        early = ", stopped early" if result["stopped_early"] else ""
        what = f"best epoch {result['best_epoch']} of {result['num_epochs']}{early}"
    typer.echo(f"{what}; {result['seconds_per_epoch']:.2f} s per epoch; {folder}")


def _metric(value: Any) -> str:
    if isinstance(value, dict):
        return "-" if value["mean"] is None else f"{value['mean']:.4f} ± {value['deviation']:.4f}"
    return number(value)


def _headline(run: Run, setup: RunSetup, num_done: int) -> str:
    model = run.recipe.model
    weights = sum(weight.numel() for weight in setup.model.parameters())
    targets = setup.num_training_targets
    again = f", resumed after epoch {num_done}" if num_done else ""
    return (
        f"{run.folder}: {model.layer}, {model.num_layers} layers of {model.hidden_dim}, {weights:,} weights, "
        f"{targets:,} training targets, seed {run.recipe.seed}{again}"
    )


def _start_fields(run: Run, setup: RunSetup, num_done: int) -> dict[str, Any]:
    """Return the facts of the headline for --log json."""
    return {
        "folder": str(run.folder),
        "num_epochs": run.recipe.training.num_epochs,
        "num_done": num_done,
        "num_training_targets": setup.num_training_targets,
        "seed": run.recipe.seed,
    }


def _epoch_fields(state: TrainingState, num_epochs: int) -> dict[str, Any]:
    """Return the facts of an epoch for --log json."""
    epoch: Epoch = state.history[-1]
    numbers = {"loss": epoch.loss, "train": epoch.train, "valid": epoch.valid, "seconds": epoch.seconds}
    best = bool(epoch.valid) and state.best is epoch
    fields: dict[str, Any] = plain({"epoch": epoch.number + 1, "num_epochs": num_epochs, **numbers, "best": best})
    return fields


def _epoch_line(state: TrainingState, num_epochs: int) -> str:
    epoch: Epoch = state.history[-1]
    width = len(str(num_epochs))
    parts = [f"epoch {epoch.number + 1:{width}}/{num_epochs}", f"loss {epoch.loss:.4f}"]
    parts += [f"train {name} {value:.4f}" for name, value in epoch.train.items()]
    if epoch.valid:
        parts.append(f"valid {state.monitor} {epoch.valid[state.monitor]:.4f}")
    parts.append(f"{epoch.seconds:.1f} s")
    return "  ".join(parts) + ("  best" if epoch.valid and state.best is epoch else "")
