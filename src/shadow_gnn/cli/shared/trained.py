"""Trained: the model of a run, opened on a graph.

Not for: opening it (inference/predictor.py).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shadow_gnn.cli.shared.options import extractor_option
from shadow_gnn.cli.shared.voice import say

if TYPE_CHECKING:
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.inference.predictor import Predictor


def open_run_predictor(
    folder: Path,
    graph_name: str | None,
    extractor: str | None = None,
    *,
    command: str = "predict",
    warnings: list[str] | None = None,
    grow: Callable[[Graph], Graph] | None = None,
) -> Predictor:
    """Open the model of a run on its graph or another one; a changed graph or other scopes are noted on stderr.

    extractor: the text of --extractor, with the name of its command. warnings: gets the lines of warnings, which are
    also printed on stderr. grow: returns the graph with more nodes and edges.
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.inference.predictor import open_predictor

    def warn(line: str) -> None:
        typer.echo(f"warning: {line}", err=True)
        if warnings is not None:
            warnings.append(line)

    chosen = None if extractor is None else extractor_option(extractor, command)
    keep_freed_memory()
    return open_predictor(folder, graph_name, extractor=chosen, grow=grow, note=show_note, warn=warn)


def show_note(line: str) -> None:
    """Print a note to the user on stderr."""
    say(f"note: {line}")
