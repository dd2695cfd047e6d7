"""Get: `shadow data get` and `shadow data list`, for datasets that have a name.

Not for: the work itself (graph/datasets); heavy libraries load when a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shadow_gnn.cli.shared.options import JsonOption
from shadow_gnn.cli.shared.output import print_json, print_table

DataOption = Annotated[
    Path | None, typer.Option(help="Folder of datasets.", show_default="SHADOW_DATA or the cache folder")
]


def get_command(
    name: Annotated[str, typer.Argument(help="Name of a dataset; `shadow data list` shows all.")],
    data: DataOption = None,
    source: Annotated[Path | None, typer.Option(help="Folder with the raw files, instead of a download.")] = None,
    feature_dtype: Annotated[
        Literal["auto", "float32", "float16"], typer.Option(help="Storage of dense features.")
    ] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Download a dataset, convert it to a graph folder once, and check it against the published statistics.

    Raw files that are already in the folder raw/NAME are used without a download.

    \b
    Examples:
      shadow data get flickr
      shadow data get ogbn-arxiv --data my-data
      shadow data get ogbn-products --source dataset/ogbn_products
    """
    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.datasets.named import Getting, get_dataset

    # Arrow takes over Ctrl-C while it parses and can lose one at the end: keep our own handler.
    pa.enable_signal_handlers(False)
    with progress_bar() as progress:
        folder, summary = get_dataset(name, Getting(data, source, feature_dtype), progress=progress)
    if as_json:
        print_json({"name": name, "folder": folder, "new": summary is not None, "summary": summary})
        return
    if summary is None:
        typer.echo(f"{folder}: exists already")
        return
    typer.echo(f"{folder}: {summary.num_nodes:,} nodes, {summary.num_edges:,} undirected edges, as published")
    typer.echo(
        f"read {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and "
        f"{summary.duplicates:,} duplicates, merged {summary.both_directions:,} given in both directions"
    )
    if source is None:
        typer.echo(f"the raw files in {folder.parent / 'raw' / name} are no longer needed")


def list_command(
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the available datasets, and which are downloaded.

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
        print_json(rows)
        return
    _print_rows(rows)
    typer.echo(f"folder: {place}")


def _row(name: str, is_downloaded: bool) -> dict[str, Any]:
    from shadow_gnn.graph.datasets.statistics import dataset_statistics

    known = dataset_statistics(name)
    return {
        "name": name,
        "nodes": known.num_nodes,
        "edges": known.edges,
        "counting": known.counting,
        "columns": known.num_columns,
        "classes": known.num_classes,
        "downloaded": is_downloaded,
    }


def _print_rows(rows: list[dict[str, Any]]) -> None:
    lines = []
    for row in rows:
        classes = "" if row["classes"] is None else f"{row['classes']}"
        cells = (f"{row['nodes']:,}", f"{row['edges']:,}", row["counting"], f"{row['columns']:,}", classes)
        lines.append((row["name"], *cells, "yes" if row["downloaded"] else "no"))
    heads = ("name", "nodes", "edges", "counting", "columns", "classes", "downloaded")
    print_table(heads, lines, text_columns=("counting", "downloaded"))
