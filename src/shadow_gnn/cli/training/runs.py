"""Runs: `shadow runs`, a table of the runs in a folder.

Not for: the numbers themselves (training/runs/table.py).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.output import JsonOption, print_json

if TYPE_CHECKING:
    from shadow_gnn.training.runs.table import RunLine

_PIPED_WIDTH = 160


def runs_command(
    folder: Annotated[Path, typer.Argument(help="Folder that holds run folders.")] = Path("runs"),
    as_json: JsonOption = False,
) -> None:
    """Show the runs in a folder: what was trained, how good it is, and whether it is finished.

    \b
    Examples:
      shadow runs
      shadow runs experiments --json
    """
    from shadow_gnn.base.errors import RunError
    from shadow_gnn.training.runs.table import list_runs

    if not folder.is_dir():
        raise RunError(f"{folder}: is not a folder; shadow train makes runs below runs")
    lines = list_runs(folder)
    if as_json:
        from dataclasses import asdict

        print_json([asdict(line) for line in lines])
        return
    _print_table(lines)


def _print_table(lines: list[RunLine]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("run", "layer", "layers", "extractor", "metric"):
        table.add_column(name, overflow="fold")
    for name in ("best valid", "test", "s/epoch", "epochs"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", overflow="fold")
    for line in lines:
        numbers = (_number(line.valid, 4), _number(line.test, 4), _number(line.seconds_per_epoch, 2))
        what = (line.name, line.layer, line.num_layers, line.extractor, line.monitor)
        table.add_row(*what, *numbers, str(line.num_epochs), line.state)
    # Piped somewhere, lines need not fit a screen.
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH).print(table)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
