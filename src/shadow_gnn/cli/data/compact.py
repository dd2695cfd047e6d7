"""Compact: `shadow graph compact`, a graph folder with the updates of its log in it.

Not for: making updates (cli/prediction/serve.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption
from shadow_gnn.cli.shared.output import print_json


def compact_command(
    folder: Annotated[Path, typer.Argument(help="Graph folder.")],
    updates: Annotated[
        Path | None, typer.Option(help="Folder of the log of updates.", show_default="FOLDER.updates")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write a new folder, and leave the graph and its log as they are.", show_default="in place"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fold the updates that `shadow serve` has logged into the graph folder.

    In place, the new folder takes the name of the old one in a single step, and the log begins again. A service that
    is running compacts by itself; it holds the log, so that this command refuses.

    \b
    Examples:
      shadow graph compact my-graph
      shadow graph compact my-graph --out my-graph-today
    """
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.changes.compact import compact
    from shadow_gnn.graph.changes.live_graph import log_folder
    from shadow_gnn.graph.changes.log import LOG

    place = log_folder(folder) if updates is None else updates
    if not (place / LOG).exists():
        raise ValueError(f"compact: --updates must be a folder with a log of updates, got {place}")
    with progress_bar() as progress:
        found = compact(folder, place, out, progress=progress)
    if as_json:
        print_json(found)
    else:
        typer.echo(
            f"{found.folder}: {found.num_updates:,} updates folded in, {found.num_nodes:,} nodes, "
            f"{found.num_edges:,} entries in all lists"
        )
