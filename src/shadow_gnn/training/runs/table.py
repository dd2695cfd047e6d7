"""Runs table: one line for each run in a folder, finished or not.

Not for: resuming a run (run.py); nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.base.metric_order import is_better
from shadow_gnn.extract import BaseExtractor
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.training.runs.folder import (
    METRICS,
    RECORD,
    REPEATS,
    RESULT,
    RunState,
    open_run,
    read_json,
    repeated_recipe,
    run_state,
)
from shadow_gnn.training.runs.loggers import read_csv


@dataclass(frozen=True)
class RunLine:
    """One run in the table."""

    name: str
    """Its folder, relative to the listed one."""
    layer: str
    """Layers of all branches."""
    num_layers: int | None
    """Layers of the deepest branch; None for an unreadable folder."""
    extractor: str
    """Extractors of all branches, with the size of a scope."""
    monitor: str
    """The metric of the next two columns."""
    valid: float | None
    """Of the best epoch; the mean over repeats."""
    test: float | None
    """Of the best epoch; the mean over repeats."""
    seconds_per_epoch: float | None
    """Time of training steps."""
    num_epochs: int
    """Epochs done; of repeats: repeats finished."""
    state: RunState | str
    """finished, running, stopped, or a fault of the folder."""


def list_runs(folder: str | Path) -> list[RunLine]:
    """Return a line for each run and each set of repeats in a folder, by name."""
    folder = Path(folder)
    found = [path for path in sorted(folder.iterdir()) if (path / RECORD).exists() or (path / REPEATS).exists()]
    return [_line(path, path.name) for path in found]


def _line(folder: Path, name: str) -> RunLine:
    try:
        state = run_state(folder)
        if (folder / REPEATS).exists():
            return _repeats_line(folder, name, repeated_recipe(folder), state)
        recipe = open_run(folder).recipe
        if state == "finished":
            return _finished_line(name, recipe, read_json(folder / RESULT))
        return _unfinished_line(folder, name, recipe, state)
    except (ShadowError, OSError, KeyError, TypeError, AttributeError) as error:
        # One broken folder must not hide all the others.
        return RunLine(name, "", None, "", "", None, None, None, 0, f"unreadable: {' '.join(str(error).split())}")


def _finished_line(name: str, recipe: Recipe, result: dict[str, Any]) -> RunLine:
    monitor = result["monitor"]
    return RunLine(
        name,
        *_what(recipe),
        monitor,
        result["valid"].get(monitor),
        result["test"].get(monitor),
        result["seconds_per_epoch"],
        result["num_epochs"],
        "finished",
    )


def _unfinished_line(folder: Path, name: str, recipe: Recipe, state: RunState) -> RunLine:
    rows = read_csv(folder / METRICS) if (folder / METRICS).exists() else []
    measured = [column for row in rows for column in row if column.startswith("valid_")]
    monitor = recipe.training.monitor
    if monitor == "auto":
        monitor = measured[0].removeprefix("valid_") if measured else ""  # type: ignore[assignment]
    best: float | None = None
    for row in rows:
        value = row.get(f"valid_{monitor}")
        if value is not None and is_better(monitor, value, best):
            best = value
    seconds = sum(row.get("seconds", 0.0) for row in rows) / len(rows) if rows else None
    return RunLine(name, *_what(recipe), monitor, best, None, seconds, len(rows), state)


def _repeats_line(folder: Path, name: str, recipe: Recipe, state: RunState) -> RunLine:
    done = len(list(folder.glob(f"repeat-*/{RESULT}")))
    if state != "finished":
        return RunLine(name, *_what(recipe), "", None, None, None, done, state)
    result = read_json(folder / RESULT)
    monitor = result["monitor"]
    valid, test = (result[split].get(monitor, {}).get("mean") for split in ("valid", "test"))
    return RunLine(name, *_what(recipe), monitor, valid, test, result["seconds_per_epoch"], done, "finished")


def _what(recipe: Recipe) -> tuple[str, int, str]:
    """Return layer, number of layers and extractor of a recipe; equal branches are shown once.

    A normal GNN has its method instead of an extractor.
    """
    method = recipe.training.method
    models = [part.model or recipe.model for part in recipe.all_branches]
    scopes = [_extractor(part.extractor) if part.extractor is not None else method for part in recipe.all_branches]
    layer, extractor = (" + ".join(dict.fromkeys(column)) for column in ([model.layer for model in models], scopes))
    return layer, max(model.num_layers for model in models), extractor


def _extractor(extractor: BaseExtractor) -> str:
    table = extractor_table(extractor)
    size = table.get("topk", table.get("num_hops"))
    return extractor.kind if size is None else f"{extractor.kind} {size}"
