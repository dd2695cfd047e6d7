"""Append: `shadow data append`, a graph folder with more nodes and edges.

Not for: the work itself (graph/importing/tables/append.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shadow_gnn.cli.shared.options import JsonOption, OverwriteOption
from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    from shadow_gnn.graph.importing.options import Unknown
    from shadow_gnn.graph.importing.tables.append import Appended
    from shadow_gnn.graph.record import Graph


def append_command(
    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help="Graph folder that was imported with --nodes.")],
    folder: Annotated[Path, typer.Argument(help="Graph folder to create; GRAPH stays as it is.")],
    nodes: Annotated[Path | None, typer.Option(help="Table of the new nodes, with the columns of the import.")] = None,
    edges: Annotated[Path | None, typer.Option(help="Table of new edges, among new and old nodes.")] = None,
    unknown: Annotated[
        Literal["error", "drop", "add"],
        typer.Option(help="Edges of an unknown node: refuse, leave them out, or add the node."),
    ] = "error",
    merge: Annotated[Literal["first", "sum"], typer.Option(help="Weight of a repeated edge.")] = "first",
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a graph folder with more nodes and edges.

    Old nodes keep their ids, and new ones follow. Columns are encoded as in the import, by the import.toml of the
    graph: a trained model predicts the new nodes at once. New nodes are in no split, unless the table has the split
    column of the import.

    \b
    Examples:
      shadow data append my-graph grown --nodes more.csv --edges more-edges.csv
      shadow predict runs/recipe-1 --graph grown --out all.csv
    """
    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.datasets.resolve import open_any_graph
    from shadow_gnn.graph.store import check_target, save_graph

    pa.enable_signal_handlers(False)
    check_target(folder, overwrite=overwrite)
    with progress_bar() as progress:
        progress("reading tables", 0, 1)
        found = append_files(open_any_graph(graph), nodes, edges, unknown=unknown, merge=merge, command="append")
        save_graph(found.graph, folder, overwrite=overwrite, progress=progress)
    more = {"num_nodes": found.graph.num_nodes, "new_nodes": found.graph.num_nodes - found.first}
    if as_json:
        print_json({"folder": folder, **more, "new_edges": found.num_edges, "notes": found.notes})
        return
    typer.echo(f"{folder}: {found.graph.num_nodes:,} nodes, {more['new_nodes']:,} new; {found.num_edges:,} new edges")
    for note in found.notes:
        typer.echo(note)


def append_files(
    graph: Graph,
    nodes: Path | None,
    edges: Path | None,
    *,
    unknown: Unknown = "error",
    merge: Literal["first", "sum"] = "first",
    command: str,
) -> Appended:
    """Return a graph with the rows of two files."""
    from shadow_gnn.graph.importing.ids import texts_of
    from shadow_gnn.graph.importing.tables.append import append_tables
    from shadow_gnn.graph.importing.tables.files import read_edge_table, read_table

    if nodes is None and edges is None:
        raise ValueError(f"{command}: new nodes or new edges must be given, got neither")
    table = None if nodes is None else read_table(nodes, header=True)
    names = [] if graph.node_name is None else [texts_of(graph.node_name)]
    links = None if edges is None else read_edge_table(edges, [*names, *([] if table is None else table.columns)])
    return append_tables(
        graph, table, links, unknown=unknown, merge=merge, owners=(str(nodes or graph.path), str(edges))
    )
