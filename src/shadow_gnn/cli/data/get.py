"""Data get: `shadow data get` and `shadow data list`, for data sets that have a name.

Not for: the work itself (datasets); heavy libraries load when a command runs.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class StoredAs(StrEnum):
    """How dense features are stored."""

    auto = "auto"
    float32 = "float32"
    float16 = "float16"


def get_command(
    name: Annotated[str, typer.Argument(help="Name of a data set; `shadow data list` shows all.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder of data sets.", show_default="SHADOW_DATA or the cache folder")
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Folder with the raw files; nothing is downloaded then.")] = None,
    feature_dtype: Annotated[StoredAs, typer.Option(help="How dense features are stored.")] = StoredAs.auto,
) -> None:
    """Download a data set, convert it to a graph folder once, and compare it with what is published.

    Raw files that are in the folder raw/NAME already are used without the internet.

    \b
    Examples:
      shadow data get flickr
      shadow data get ogbn-arxiv --data my-data
      shadow data get ogbn-products --source dataset/ogbn_products
    """
    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.datasets.named import Getting, get_dataset

    # Arrow takes over Ctrl-C while it parses, and loses one that comes just as it ends: ours stay in charge.
    pa.enable_signal_handlers(False)
    with progress_bar() as progress:
        folder, summary = get_dataset(name, Getting(data, source, feature_dtype.value), progress=progress)
    if summary is None:
        typer.echo(f"{folder}: is there already")
        return
    typer.echo(f"{folder}: {summary.num_nodes:,} nodes, {summary.num_edges // 2:,} undirected edges, as published")
    typer.echo(
        f"read {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and "
        f"{summary.duplicates:,} duplicates, joined {summary.both_directions:,} given in both directions"
    )
    if source is None:
        typer.echo(f"the raw files in {folder.parent / 'raw' / name} are not needed any more")


def list_command(
    data: Annotated[
        Path | None, typer.Option(help="Folder of data sets.", show_default="SHADOW_DATA or the cache folder")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """Show the data sets that can be had by name, and which are there.

    \b
    Examples:
      shadow data list
      shadow data list --data my-data --json
    """
    from shadow_gnn.graph.datasets.named import NAMES, data_folder
    from shadow_gnn.graph.store import MANIFEST

    place = data or data_folder()
    rows = [_row(name, (place / name / MANIFEST).exists()) for name in NAMES]
    if as_json:
        import json

        typer.echo(json.dumps(rows, indent=1))
        return
    _print_rows(rows)
    typer.echo(f"folder: {place}")


def _row(name: str, is_there: bool) -> dict[str, Any]:
    from shadow_gnn.graph.datasets.statistics import statistics

    known = statistics(name)
    return {
        "name": name,
        "nodes": known.num_nodes,
        "edges": known.edges,
        "counting": known.counting,
        "columns": known.num_columns,
        "classes": known.num_classes,
        "there": is_there,
    }


def _print_rows(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title, justify in (("name", "left"), ("nodes", "right"), ("edges", "right"), ("counting", "left")):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for title in ("columns", "classes"):
        table.add_column(title, justify="right")
    table.add_column("here")
    for row in rows:
        classes = "" if row["classes"] is None else f"{row['classes']}"
        cells = (f"{row['nodes']:,}", f"{row['edges']:,}", row["counting"], f"{row['columns']:,}", classes)
        table.add_row(row["name"], *cells, "yes" if row["there"] else "no")
    Console(highlight=False).print(table)
