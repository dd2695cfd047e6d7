"""Loggers: metrics of each epoch as CSV, to TensorBoard and to Weights & Biases.

Not for: printing (cli), nor for the measurements (training/loop.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from shadow_gnn.base.errors import ShadowError, WriteError
from shadow_gnn.base.files import checksum_of, write_file
from shadow_gnn.recipe import LoggingRecipe

Row = Mapping[str, float]


class MetricLogger(Protocol):
    """Receives the numbers of each epoch."""

    def log(self, epoch: int, values: Row) -> None:
        """Add the numbers of one epoch, counted from 1."""
        ...

    def close(self) -> None:
        """Write buffered numbers."""
        ...


@dataclass(frozen=True)
class LogPlace:
    """Facts about a run for an external logger."""

    folder: Path
    """The run folder; logs go into it."""
    run_id: str
    """Unchanged when a run is resumed."""
    first_epoch: int
    """The next epoch, from 1; logs from there on belong to epochs that are trained again."""
    config: Mapping[str, Any]
    """The recipe, for display."""


class CsvLogger:
    """One line for each epoch, added at its end; a torn last line is repaired when the run resumes."""

    def __init__(self, path: Path, columns: Sequence[str], past: Sequence[tuple[int, Row]] = ()) -> None:
        """Write the file again with the epochs of the checkpoint."""
        self._path = path
        self._columns = tuple(columns)
        write_csv(path, self._columns, past)

    def log(self, epoch: int, values: Row) -> None:
        """Add a line."""
        try:
            with open(self._path, "a", encoding="utf-8") as handle:
                handle.write(_csv_line(epoch, self._columns, values))
        except OSError as error:
            raise WriteError(f"{self._path}: cannot be written: {error.strerror or error}") from error

    def close(self) -> None:
        """Do nothing: every line is written when it is logged."""


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[tuple[int, Row]]) -> str:
    """Write all epochs at once, in a single step; return the checksum of the file."""
    lines = [_csv_line(epoch, columns, values) for epoch, values in rows]
    data = (",".join(("epoch", *columns)) + "\n" + "".join(lines)).encode()
    write_file(path, data)
    return checksum_of(data)


def read_csv(path: Path) -> list[dict[str, float]]:
    """Read the epochs of a metrics.csv by column; an incomplete last line is left out."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text[: text.rfind("\n") + 1].splitlines()
    names = lines[0].split(",") if lines else []
    rows = []
    for line in lines[1:]:
        cells = line.split(",")
        if len(cells) == len(names):
            rows.append({name: float(cell) for name, cell in zip(names, cells, strict=True) if _is_number(cell)})
    return rows


class TensorBoardLogger:
    """Event files for TensorBoard."""

    def __init__(self, place: LogPlace) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise _missing("tensorboard", "logging.tensorboard") from error
        purge = place.first_epoch if place.first_epoch > 1 else None
        self._writer: Any = SummaryWriter(str(place.folder / "tensorboard"), purge_step=purge)

    def log(self, epoch: int, values: Row) -> None:
        """Add a point to each curve."""
        for name, value in _finite(values).items():
            self._writer.add_scalar(name, value, epoch)
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()


class WandbLogger:
    """A run of Weights & Biases; offline it stays in the run folder."""

    def __init__(self, place: LogPlace, mode: str, project: str) -> None:
        try:
            import wandb
        except ImportError as error:
            raise _missing("wandb", "logging.wandb") from error
        quiet = wandb.Settings(silent=True, console="off", disable_git=True, save_code=False, x_disable_stats=True)
        self._run: Any = wandb.init(
            mode=mode,  # type: ignore[arg-type]
            project=project,
            name=place.folder.name,
            id=place.run_id,
            dir=str(place.folder),
            config=dict(place.config),
            resume="allow" if mode == "online" else None,
            settings=quiet,
        )

    def log(self, epoch: int, values: Row) -> None:
        """Add a point to each curve."""
        self._run.log(_finite(values), step=epoch)

    def close(self) -> None:
        """Finish the run, which writes everything to disk."""
        self._run.finish()


def open_loggers(recipe: LoggingRecipe, place: LogPlace) -> list[MetricLogger]:
    """Return the loggers of a recipe, besides CSV."""
    loggers: list[MetricLogger] = []
    if recipe.tensorboard:
        loggers.append(TensorBoardLogger(place))
    if recipe.wandb != "off":
        loggers.append(WandbLogger(place, recipe.wandb, recipe.wandb_project))
    return loggers


def _missing(package: str, key: str) -> ShadowError:
    return ShadowError(f"{key}: needs the package {package}; install it with pip install 'shadow-gnn[{package}]'")


def _finite(values: Row) -> dict[str, float]:
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _csv_line(epoch: int, columns: Sequence[str], values: Row) -> str:
    """Write numbers with all digits; a missing number leaves its cell empty."""
    cells = (repr(values[name]) if name in values else "" for name in columns)
    return ",".join((str(epoch), *cells)) + "\n"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
