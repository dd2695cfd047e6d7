"""Share: `shadow share`, a finished run pushed to the Hugging Face Hub.

Not for: the work itself (training/hub.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.existing import existing_run
from shadow_gnn.cli.shared.options import JsonOption
from shadow_gnn.cli.shared.output import print_json


def share_command(
    run: Annotated[Path, typer.Argument(callback=existing_run, help="Run folder of a finished run.")],
    repository: Annotated[str, typer.Argument(help="Repository on the Hub, OWNER/NAME; it is made if needed.")],
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Push a model to the Hugging Face Hub: its card, its config and its weights.

    Log in first with `hf auth login`. Needs pip install 'shadow-gnn[hub]'. Checkpoints and the graph stay here.

    \b
    Examples:
      shadow share runs/first my-name/debian-packages
      shadow share runs/first my-name/debian-packages --private
    """
    from shadow_gnn.training.hub import SHARED, share_run

    address = share_run(run, repository, private=private)
    files = [name for name in SHARED if (run / name).is_file()]
    if as_json:
        print_json({"address": address, "files": files})
    else:
        typer.echo(f"{address}: {', '.join(files)}")
