"""Runs: `shadow runs`, a table of the runs in a folder.

Not for: the numbers themselves (training/runs/table.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption
from shadow_gnn.cli.shared.output import print_json, print_table


def runs_command(
    folder: Annotated[Path, typer.Argument(help="Folder with run folders.")] = Path("runs"),
    as_json: JsonOption = False,
) -> None:
    """Show the runs in a folder: model, extractor, metrics and state.

    \b
    Examples:
      shadow runs
      shadow runs experiments --json
    """
    from shadow_gnn.base.errors import RunError
    from shadow_gnn.training.runs.table import list_runs

    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "no such folder"
        raise RunError(f"{folder}: {fault}; shadow train creates run folders in the folder runs")
    lines = list_runs(folder)
    if as_json:
        print_json(lines)
        return
    heads = ("run", "layer", "layers", "extractor", "metric", "best valid", "test", "s/epoch", "epochs", "state")
    rows = []
    for line in lines:
        numbers = (_number(line.valid, 4), _number(line.test, 4), _number(line.seconds_per_epoch, 2))
        layers = "" if line.num_layers is None else str(line.num_layers)
        model = (line.name, line.layer, layers, line.extractor, line.monitor)
        rows.append((*model, *numbers, str(line.num_epochs), line.state))
    print_table(heads, rows, text_columns=(*heads[:5], "state"))


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
