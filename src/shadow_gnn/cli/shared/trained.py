"""Trained: the model of a run, opened on a graph.

Not for: opening it (inference/predictor.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from shadow_gnn.inference.predictor import Predictor


def open_run_predictor(folder: Path, graph_name: str | None) -> Predictor:
    """Open the model of a run on its graph or another one; a changed graph is noted on stderr."""
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.inference.predictor import open_predictor

    keep_freed_memory()
    return open_predictor(folder, graph_name, note=show_note)


def show_note(line: str) -> None:
    """Print a note to the user on stderr."""
    typer.echo(f"note: {line}", err=True)
