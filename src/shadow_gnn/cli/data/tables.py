"""Tables: the part of `shadow data import` for a node table, and the summary of any import.

Not for: the work itself (graph/importing/tables); heavy libraries load when the command runs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.graph.importing.build import Summary
    from shadow_gnn.graph.importing.columns.recognize import Recognized
    from shadow_gnn.graph.importing.options import ImportOptions
    from shadow_gnn.graph.importing.tables.graph import TableImport, TableOptions

_PARTS = ("day", "month", "weekday")
_SHOWN_CLASSES = 10
_ELSEWHERE = ("features", "feature_columns", "labels", "label_columns")


@dataclass(frozen=True)
class NodeTable:
    """Options of an import that are for a node table."""

    path: Path | None = None
    label: str | None = None
    label_separator: str | None = None
    ignore: tuple[str, ...] = ()
    plan: Path | None = None
    text_columns: int = 32
    one_hot_limit: int = 64
    date_parts: tuple[str, ...] = ()
    split_column: str | None = None
    group: str | None = None
    time: str | None = None


def check_no_table(table: NodeTable) -> None:
    """Raise if options of a node table are given without one."""
    for field in fields(table):
        if getattr(table, field.name) != field.default:
            raise ValueError(f"import: --{field.name.replace('_', '-')} must be used with --nodes, which is not given")


def import_tables(
    source: Path,
    folder: Path,
    table: NodeTable,
    options: ImportOptions,
    *,
    overwrite: bool,
    memory: str | None,
    as_json: bool,
) -> None:
    """Import an edge table with a node table into a graph folder, and show what was recognized."""
    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.store import check_target, save_graph

    pa.enable_signal_handlers(False)
    _check_options(options, memory)
    check_target(folder, overwrite=overwrite)
    with progress_bar() as progress:
        found = _read(source, table, options, progress)
        save_graph(found.graph, folder, overwrite=overwrite, progress=progress)
    if as_json:
        columns = {name: _rows(getattr(found, name)) for name in ("columns", "edge_columns")}
        print_json({**summary_content(found.summary, folder), **columns})
        return
    print_columns(found)
    print_edges(found.summary, folder)
    for line in contents_lines(folder):
        typer.echo(line)
    typer.echo(f"how columns are encoded: {folder / 'import.toml'}")


def _check_options(options: ImportOptions, memory: str | None) -> None:
    if memory is not None:
        raise ValueError("import: --memory must not be used with --nodes: columns are recognized in memory")
    for name in _ELSEWHERE:
        if getattr(options.nodes, name):
            raise ValueError(f"import: --{name.replace('_', '-')} must not be used with --nodes, which has them all")
    if options.edge_list.edge_features or options.edge_list.num_nodes is not None or options.edge_list.ids == "integer":
        raise ValueError("import: --edge-features, --num-nodes and --ids integer must not be used with --nodes")


def _read(source: Path, table: NodeTable, options: ImportOptions, progress: Any) -> TableImport:
    from dataclasses import replace

    from shadow_gnn.graph.importing.attach import attach
    from shadow_gnn.graph.importing.options import NodeFiles
    from shadow_gnn.graph.importing.tables.files import read_edge_table, read_table
    from shadow_gnn.graph.importing.tables.graph import graph_of_tables

    assert table.path is not None
    progress(f"reading {table.path.name}", 0, 1)
    nodes = read_table(table.path, header=True)
    progress(f"reading {source.name}", 0, 1)
    edges = read_edge_table(
        source, nodes.columns, delimiter=options.edge_list.delimiter, header=options.edge_list.header
    )
    progress("recognizing columns", 0, 1)
    found = graph_of_tables(nodes, edges, _options(source, table, options))
    files = options.nodes
    named = NodeFiles(
        splits=files.splits,
        train=files.train,
        valid=files.valid,
        test=files.test,
        id_column=None if files.splits is None else files.id_column,
        unknown=files.unknown,
    )
    if found.graph.splits and named != NodeFiles(id_column=named.id_column, unknown=named.unknown):
        raise ValueError("import: splits must come from one place: a column, a table, id files, or shares")
    notes = list(found.summary.notes)
    graph = attach(found.graph, named, note=notes.append)
    return replace(found, graph=graph, summary=replace(found.summary, notes=tuple(notes)))


def _options(source: Path, table: NodeTable, options: ImportOptions) -> TableOptions:
    from shadow_gnn.base.errors import SourceError
    from shadow_gnn.base.files import read_text
    from shadow_gnn.graph.importing.columns.plan import Roles
    from shadow_gnn.graph.importing.columns.recognize import Limits
    from shadow_gnn.graph.importing.tables.graph import SplitOptions, TableOptions
    from shadow_gnn.graph.manifest import MAX_IMPORT_RECORD_BYTES

    for part in table.date_parts:
        if part not in _PARTS:
            raise ValueError(f"import: --date-parts must be of {', '.join(_PARTS)}, got {part!r}")
    nodes, edges = options.nodes, options.edge_list
    if nodes.split_shares is None and (nodes.stratify or table.group or table.time):
        raise ValueError("import: --stratify, --group and --time must be used with --split, which is not given")
    return TableOptions(
        roles=Roles(
            id=nodes.id_column,
            label=table.label,
            label_separator=table.label_separator,
            label_kind=nodes.label_kind,
            split=table.split_column,
            group=table.group,
            src=edges.src,
            dst=edges.dst,
            weight=edges.weight,
        ),
        plan=None if table.plan is None else read_text(table.plan, MAX_IMPORT_RECORD_BYTES, SourceError),
        plan_owner=str(table.plan),
        ignore=table.ignore,
        limits=Limits(table.one_hot_limit, table.text_columns, table.date_parts),  # type: ignore[arg-type]
        unknown=nodes.unknown,
        feature_dtype=nodes.feature_dtype,
        splits=SplitOptions(nodes.split_shares, nodes.seed, nodes.stratify, table.time),
        edges=options,
        owners=(str(table.path), str(source)),
    )


def print_columns(found: TableImport) -> None:
    """Print the recognized columns of both tables."""
    for title, columns in (("columns of nodes", found.columns), ("columns of edges", found.edge_columns)):
        if columns:
            rows = [tuple("-" if cell is None else str(cell) for cell in row.values()) for row in _rows(columns)]
            print_table(tuple(_rows(columns)[0]), rows, text_columns=("kind", "encoding"), title=title)


def _rows(columns: tuple[Recognized, ...]) -> list[dict[str, Any]]:
    return [
        {
            "column": one.name,
            "kind": one.plan.kind,
            "missing": one.missing,
            "distinct": one.distinct,
            "encoding": one.encoding,
        }
        for one in columns
    ]


def summary_content(summary: Summary, folder: Path) -> dict[str, Any]:
    """Return the summary of an import for JSON."""
    content = {field.name: getattr(summary, field.name) for field in fields(summary)}
    return {**content, "contents": contents_lines(folder)}


def contents_lines(folder: Path) -> list[str]:
    """Return lines about the features, labels, classes and splits of a graph folder."""
    import numpy as np

    from shadow_gnn.graph.importing.splits import class_counts, split_remarks
    from shadow_gnn.graph.store import open_graph

    graph = open_graph(folder, check=False)
    lines = []
    if graph.x is not None:
        lines.append(f"features: {graph.x.shape[1]:,} columns")
    if graph.edge_attr is not None:
        lines.append(f"edge features: {graph.edge_attr.shape[1]:,} columns")
    y = graph.y
    if y is not None and y.ndim == 1 and y.dtype.kind == "i":
        counts = class_counts(y)
        names = graph.class_name
        shown = [
            f"{number if names is None else names[number]} {counts[number]:,}"
            for number in np.argsort(-counts, kind="stable")[:_SHOWN_CLASSES].tolist()
        ]
        more = f", and {len(counts) - len(shown):,} more" if len(counts) > len(shown) else ""
        lines.append(f"labels: {len(counts):,} classes of {int(counts.sum()):,} nodes: {', '.join(shown)}{more}")
        if counts.sum() < len(y):
            lines.append(f"unlabeled: {len(y) - int(counts.sum()):,} nodes")
    elif y is not None and y.ndim == 2:
        lines.append(f"labels: {y.shape[1]:,} yes/no labels, {y.sum(dtype=np.int64) / max(1, len(y)):.2f} per node")
    elif y is not None:
        lines.append(f"labels: values of {int(np.isfinite(y).sum()):,} nodes")
    if graph.splits:
        lines.append("splits: " + ", ".join(f"{name} {len(nodes):,}" for name, nodes in graph.splits.items()))
        lines += split_remarks(graph.splits, y)
    return lines


def print_edges(summary: Summary, folder: Path) -> None:
    """Print the counts of an import and the remarks of its reader."""
    kind = "directed" if summary.directed else "undirected"
    typer.echo(f"{folder}: {summary.num_nodes:,} nodes, {summary.num_edges:,} {kind} edges")
    typer.echo(
        f"read {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and "
        f"{summary.duplicates:,} duplicates"
        + (f", merged {summary.both_directions:,} given in both directions" if summary.both_directions else "")
    )
    for note in summary.notes:
        typer.echo(note)
