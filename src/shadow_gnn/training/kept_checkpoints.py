"""Kept checkpoints: the checkpoints that a run keeps, and the one that it resumes from.

Not for: the content of a checkpoint (checkpoint.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shadow_gnn.base.errors import RunError
from shadow_gnn.training.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

Source = Literal["last", "previous", "best"]

_NAME = re.compile(r"epoch-(\d{6,})\.safetensors")
_KEPT = 2


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one run: the last two epochs that were due, and the best epoch."""

    folder: Path
    """Folder of the files."""
    run_id: str
    """The run they belong to."""

    @property
    def best_path(self) -> Path:
        """The file of the best epoch."""
        return self.folder / "best.safetensors"

    def epochs(self) -> list[int]:
        """Return the epochs with a checkpoint, counted from 1, the last one first."""
        found = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def path(self, epoch: int) -> Path:
        """Return the file of an epoch."""
        return self.folder / f"epoch-{epoch:06d}.safetensors"

    def write(self, epoch: int, checkpoint: Checkpoint) -> None:
        """Write the checkpoint of an epoch, then remove all but the last ones."""
        write_checkpoint(self.path(epoch), checkpoint)
        self._remove_old()

    def write_best(self, checkpoint: Checkpoint) -> None:
        """Write the checkpoint of the best epoch so far."""
        write_checkpoint(self.best_path, checkpoint)

    def remove(self) -> None:
        """Remove all of them."""
        for path in (*map(self.path, self.epochs()), self.best_path):
            path.unlink(missing_ok=True)

    def read(self, source: Source) -> Checkpoint | None:
        """Read the checkpoint to resume from; None if the run has none yet.

        With another source than the last, newer checkpoints are removed, since the run resumes from before them.
        """
        if source == "best":
            checkpoint = self._checked(self.best_path)
        else:
            epochs = self.epochs()
            if source == "last" and not epochs:
                return None
            place = 0 if source == "last" else 1
            if len(epochs) <= place:
                raise RunError(
                    f"{self.folder}: must hold two checkpoints to resume from the previous one, got {len(epochs)}"
                )
            checkpoint = self._read_last(epochs) if source == "last" else self._checked(self.path(epochs[1]))
        for epoch in self.epochs():
            if epoch > len(checkpoint.content["history"]):
                self.path(epoch).unlink(missing_ok=True)
        self._remove_old()  # Which a process that was killed after its last epoch may have left.
        return checkpoint

    def read_best(self, epoch: int) -> Checkpoint:
        """Read the best epoch's checkpoint, which must be that of the given epoch, counted from 1."""
        checkpoint = self._checked(self.best_path)
        if len(checkpoint.content["history"]) != epoch:
            found = len(checkpoint.content["history"])
            raise RunError(f"{self.best_path}: must be of epoch {epoch}, got one of epoch {found}")
        return checkpoint

    def _remove_old(self) -> None:
        for old in self.epochs()[_KEPT:]:
            self.path(old).unlink(missing_ok=True)

    def _read_last(self, epochs: list[int]) -> Checkpoint:
        try:
            return self._checked(self.path(epochs[0]))
        except RunError as error:
            others = [f"previous (epoch {epoch})" for epoch in epochs[1:2]]
            others += ["best"] if self.best_path.exists() else []
            hint = f"; resume from another one with --from {' or '.join(others)}" if others else ""
            raise RunError(f"{error}{hint}") from error

    def _checked(self, path: Path) -> Checkpoint:
        checkpoint = read_checkpoint(path)
        if checkpoint.content.get("run_id") != self.run_id or not isinstance(checkpoint.content.get("history"), list):
            raise RunError(f"{path}: must be a checkpoint of this run, got one of another")
        return checkpoint
