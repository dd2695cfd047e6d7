"""Trained: the model of a run on a graph, as the prediction commands name them.

Not for: opening it (inference/predictor.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shadow_gnn.inference.predictor import Predictor

RunArgument = Annotated[Path, typer.Argument(help="Run folder.")]
GraphOption = Annotated[
    str | None, typer.Option(help="Another graph with the same features.", show_default="the run's")
]


def open_run_predictor(folder: Path, graph_name: str | None) -> Predictor:
    """Open the model of a run on its graph or another one; a changed graph is noted on stderr."""
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.inference.predictor import open_predictor

    keep_freed_memory()
    return open_predictor(folder, graph_name, note=show_note)


def show_note(line: str) -> None:
    """Print a line that the user should know on stderr."""
    typer.echo(f"note: {line}", err=True)
