"""The project's error classes.

Not for: a caller's wrong argument, which is a plain ValueError or TypeError where the value is used.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

_OF_THE_MACHINE = {
    getattr(errno, name)
    for name in ("ENOSPC", "EIO", "EROFS", "EDQUOT", "EFBIG", "EMFILE", "ENFILE", "EACCES", "EPERM", "ESTALE", "ENODEV")
    if hasattr(errno, name)
}


class ShadowError(Exception):
    """A fault that the user can fix; the command line shows one line and exits with 2."""


class FitWarning(UserWarning):
    """A graph differs from the graph of training so that predictions or metrics may mislead."""


class SourceError(ShadowError):
    """An input file is not valid; the text names the file and the fault."""


class FolderError(ShadowError):
    """A graph folder is damaged, incomplete, changed while open, or of an unknown version."""


class WriteError(ShadowError):
    """A result could not be written; the previous one is untouched."""


class RecipeError(ShadowError):
    """A recipe has faults; the command line shows one line for each."""

    def __init__(self, faults: Sequence[str]) -> None:
        """Hold the faults, one line each."""
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


class RunError(ShadowError):
    """A run folder, its checkpoint or its model file is damaged, of another version, or does not fit the graph."""


class RankError(ShadowError):
    """Another process of the same run has ended; the text names it and the remedy."""


class TrainingError(ShadowError):
    """Training cannot continue: the loss or a gradient is not finite."""


def is_of_machine(error: BaseException | None) -> bool:
    """Tell whether a fault comes from a full, failing or locked disk, not from the settings of the work."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            return True
        error = error.__cause__
    return False
