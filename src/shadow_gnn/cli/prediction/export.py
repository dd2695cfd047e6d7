"""Export: `shadow export`, a trained model as a program for torch.export or ONNX.

Not for: the work itself (studies/export); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption, RunArgument
from shadow_gnn.cli.shared.output import print_json


def export_command(
    run: RunArgument,
    path: Annotated[Path, typer.Argument(help="File to write: .pt2 for torch.export, .onnx for ONNX.")],
    as_json: JsonOption = False,
) -> None:
    """Write a model as a program that runs without this package, from the arrays of scopes to logits.

    The numbers of nodes, edges and targets may vary. A part that cannot be exported is named.

    \b
    Examples:
      shadow export runs/first model.pt2
      shadow export runs/first model.onnx
    """
    from shadow_gnn.studies.export import export_model
    from shadow_gnn.training.model_file import read_model

    inputs = export_model(read_model(run), path)
    if as_json:
        print_json({"path": str(path), "inputs": list(inputs), "outputs": ["logits"]})
    else:
        typer.echo(f"{path}: {', '.join(inputs)} -> logits")
