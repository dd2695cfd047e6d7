"""Notebook bar: a progress bar as one line of text in the output of a notebook cell, updated in place.

Not for: terminals (progress_bar.py). rich needs the package ipywidgets for a bar in a notebook; this one needs nothing.
"""

from __future__ import annotations

import sys
import time
from typing import Any

_REFRESH_SECONDS = 0.25
_WIDTH = 30


def in_notebook() -> bool:
    """Tell whether the code runs in a notebook, or in another program that displays updates of IPython."""
    # Only a kernel can show a bar; without IPython nothing needs to be imported.
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """One line that shows stage, progress and time; the last state stays in the notebook."""

    def __init__(self) -> None:
        """Start the clock; the line appears with the first report."""
        self._begin = time.monotonic()
        self._shown = 0.0
        self._line = ""
        self._handle: Any = None

    def update(self, stage: str, done: int, total: int) -> None:
        """Show a stage, at most four times a second; a total of 0 means that the end is not known."""
        now = time.monotonic()
        self._line = bar_line(stage, done, total, now - self._begin)
        if now - self._shown >= _REFRESH_SECONDS:
            self._shown = now
            self._display()

    def stop(self) -> None:
        """Show the last state."""
        self._display()

    def _display(self) -> None:
        from IPython.display import display

        content = {"text/plain": self._line}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def bar_line(stage: str, done: int, total: int, seconds: float) -> str:
    """Write a bar as text, for example: epoch 1/2 ━━━━────  50/100  3 s, 3 s left."""
    if not total:
        return f"{stage}  {done:,}  {seconds:.0f} s"
    done = min(done, total)
    full = _WIDTH * done // total
    left = f", {seconds * (total - done) / done:.0f} s left" if 0 < done < total else ""
    return f"{stage}  {'━' * full}{'─' * (_WIDTH - full)}  {done:,}/{total:,}  {seconds:.0f} s{left}"
