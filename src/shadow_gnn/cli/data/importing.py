"""Importing: `shadow data import`, files of other formats into a graph folder.

Not for: the work itself (graph/importing); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shadow_gnn.cli.data.tables import NodeTable, check_no_table, contents_lines, import_tables, print_edges
from shadow_gnn.cli.shared.options import JsonOption, OverwriteOption
from shadow_gnn.cli.shared.output import print_json
from shadow_gnn.cli.shared.sizes import memory_bytes, shares
from shadow_gnn.cli.shared.voice import say

if TYPE_CHECKING:
    from shadow_gnn.graph.importing.build import Summary
    from shadow_gnn.graph.importing.options import ImportOptions


_EDGES = "Edges"
_LISTS = "Edge lists (text and Parquet)"
_TABLE = "Node table"
_NODES = "Node features and labels in files of their own"
_SPLITS = "Splits"
_MEMORY = "Memory"


def _option(heading: str, *names: str, **settings: Any) -> Any:
    """Return an option that stands under a heading of the help page."""
    return typer.Option(*names, rich_help_panel=heading, **settings)


def import_command(
    source: Annotated[Path, typer.Argument(help="Edges (CSV, TSV, text, Parquet), .npz, GraphSAINT or OGB folder.")],
    folder: Annotated[Path, typer.Argument(help="Graph folder to create.")],
    directed: Annotated[
        bool, _option(_EDGES, "--directed", help="Keep directions; otherwise edges go both ways.")
    ] = False,
    merge: Annotated[Literal["first", "sum"], _option(_EDGES, help="Weight of a repeated edge.")] = "first",
    keep_edge_id: Annotated[
        bool, _option(_EDGES, "--keep-edge-id", help="Store each edge's row number in the source.")
    ] = False,
    header: Annotated[
        bool | None,
        _option(_LISTS, "--header/--no-header", help="Whether the first line holds names.", show_default="detected"),
    ] = None,
    delimiter: Annotated[
        str | None, _option(_LISTS, help="Character between columns.", show_default="detected")
    ] = None,
    src: Annotated[str | None, _option(_LISTS, help="Column of the sending node (name or number).")] = None,
    dst: Annotated[str | None, _option(_LISTS, help="Column of the receiving node.")] = None,
    weight: Annotated[
        str | None, _option(_LISTS, help="Column of the edge weight.", show_default="weight, if it exists")
    ] = None,
    edge_features: Annotated[str | None, _option(_LISTS, help="Columns of edge features, comma-separated.")] = None,
    ids: Annotated[
        Literal["auto", "integer", "string"], _option(_LISTS, help="Read node ids as integers or as text.")
    ] = "auto",
    num_nodes: Annotated[
        int | None, _option(_LISTS, min=0, help="Number of nodes; integer ids are then used unchanged.")
    ] = None,
    nodes: Annotated[
        Path | None,
        _option(_TABLE, help="Table with a row per node: CSV, TSV, Parquet, Feather, JSON lines, also .gz or .zst."),
    ] = None,
    label: Annotated[str | None, _option(_TABLE, help="Column of the labels; text becomes class names.")] = None,
    label_separator: Annotated[
        str | None, _option(_TABLE, help="Text between several labels of a node, for example ';'.")
    ] = None,
    ignore: Annotated[str | None, _option(_TABLE, help="Columns to leave out, comma-separated.")] = None,
    plan: Annotated[
        Path | None,
        _option(_TABLE, help="The import.toml of an earlier import: encode these rows in the same way."),
    ] = None,
    text_columns: Annotated[int, _option(_TABLE, min=1, max=1024, help="Columns that a free text becomes.")] = 32,
    one_hot_limit: Annotated[
        int, _option(_TABLE, min=1, help="Most values of a category with a column for each; more become an index.")
    ] = 64,
    date_parts: Annotated[
        str | None, _option(_TABLE, help="More columns for each date: day,month,weekday or some of them.")
    ] = None,
    unknown: Annotated[
        Literal["error", "drop", "add"],
        _option(_TABLE, help="Rows that name an unknown node: refuse, leave them out, or add the node."),
    ] = "error",
    features: Annotated[
        Path | None, _option(_NODES, help="Features: .npy, SciPy .npz (kept sparse), CSV, Parquet.")
    ] = None,
    feature_columns: Annotated[str | None, _option(_NODES, help="Columns of that table, comma-separated.")] = None,
    feature_dtype: Annotated[
        Literal["auto", "float32", "float16", "int8"], _option(_NODES, help="Storage of dense features.")
    ] = "auto",
    labels: Annotated[Path | None, _option(_NODES, help="Labels: .npy, CSV, Parquet.")] = None,
    label_columns: Annotated[str | None, _option(_NODES, help="Columns of that table, comma-separated.")] = None,
    label_kind: Annotated[
        Literal["auto", "class", "multi", "value"], _option(_NODES, help="Meaning of the labels.")
    ] = "auto",
    id_column: Annotated[
        str | None, _option(_NODES, help="Id column of node tables.", show_default="node, id, node_id or name")
    ] = None,
    splits: Annotated[Path | None, _option(_SPLITS, help="Table with columns node and split.")] = None,
    train: Annotated[Path | None, _option(_SPLITS, help="Training nodes: .npy of ids or a mask, or text.")] = None,
    valid: Annotated[Path | None, _option(_SPLITS, help="Validation nodes, in the same formats.")] = None,
    test: Annotated[Path | None, _option(_SPLITS, help="Test nodes, in the same formats.")] = None,
    split: Annotated[str | None, _option(_SPLITS, help="Shares, for example 60/20/20 or 0.6/0.2/0.2.")] = None,
    seed: Annotated[int, _option(_SPLITS, min=0, help="Random seed of that split.")] = 0,
    stratify: Annotated[bool, _option(_SPLITS, "--stratify", help="Use these shares in each class.")] = False,
    group: Annotated[str | None, _option(_SPLITS, help="Column of groups that stay together, not a feature.")] = None,
    time: Annotated[str | None, _option(_SPLITS, help="Column of dates or numbers; the oldest train.")] = None,
    split_column: Annotated[
        str | None, _option(_SPLITS, help="Column of the node table with train, valid, test or nothing.")
    ] = None,
    memory: Annotated[
        str | None,
        _option(
            _MEMORY,
            help="Build on disk within about this much memory, for example 2GB.",
            show_default="build in memory",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import a graph from files into a graph folder.

    Duplicates and self-loops are removed and counted. The folder appears complete or not at all. With --memory the
    graph may be larger than memory; after a kill, the same command resumes the import.

    With --nodes, the columns of both tables are recognized: numbers, booleans, categories, dates, texts, lists. The
    result is shown, and written as import.toml in the graph folder; change it and give it again with --plan.

    \b
    Examples:
      shadow data import edges.csv my-graph --nodes nodes.csv --label section --split 60/20/20
      shadow data import edges.csv my-graph --split 60/20/20 --seed 1
      shadow data import edges.csv my-graph --features x.npy --labels y.csv
      shadow data import follows.parquet my-graph --src from --dst to --directed
      shadow data import dataset/ogbn_arxiv my-graph
      shadow data import billion.parquet my-graph --memory 2GB
    """
    from shadow_gnn.graph.importing.options import EdgeListOptions, ImportOptions, NodeFiles

    options = ImportOptions(
        directed=directed,
        merge=merge,
        keep_edge_id=keep_edge_id,
        edge_list=EdgeListOptions(header, delimiter, src, dst, weight, _names(edge_features), ids, num_nodes),
        nodes=NodeFiles(
            features=features,
            feature_columns=_names(feature_columns),
            feature_dtype=feature_dtype,
            labels=labels,
            label_columns=_names(label_columns),
            label_kind=label_kind,
            splits=splits,
            train=train,
            valid=valid,
            test=test,
            id_column=id_column,
            split_shares=None if split is None else shares(split, "import: --split"),
            seed=seed,
            stratify=stratify,
            unknown=unknown,
        ),
    )
    table = NodeTable(
        path=nodes,
        label=label,
        label_separator=label_separator,
        ignore=_names(ignore),
        plan=plan,
        text_columns=text_columns,
        one_hot_limit=one_hot_limit,
        date_parts=_names(date_parts),
        split_column=split_column,
        group=group,
        time=time,
    )
    if nodes is not None:
        import_tables(source, folder, table, options, overwrite=overwrite, memory=memory, as_json=as_json)
        return
    check_no_table(table)
    if memory is None:
        summary = _import(source, folder, options, overwrite)
    else:
        summary = _import_streamed(source, folder, options, overwrite, memory_bytes(memory, "import: --memory"))
    _print_summary(summary, folder, as_json)


def _import(source: Path, folder: Path, options: ImportOptions, overwrite: bool) -> Summary:
    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.importing.detect import read_source
    from shadow_gnn.graph.store import check_target, save_graph

    # Arrow takes over Ctrl-C while it parses and can lose one at the end: keep our own handler.
    pa.enable_signal_handlers(False)
    check_target(folder, overwrite=overwrite)
    with progress_bar() as progress:
        graph, summary = read_source(source, options, progress)
        save_graph(graph, folder, overwrite=overwrite, progress=progress)
    return summary


def _import_streamed(source: Path, folder: Path, options: ImportOptions, overwrite: bool, budget: int) -> Summary:
    import pyarrow as pa

    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.memory_available import readable
    from shadow_gnn.base.work_folder import open_work_folder, work_folder_of
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.importing.bounded.stream import disk_estimate, import_job, stream_source
    from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
    from shadow_gnn.graph.store import Contents, check_space, check_target, save_contents

    pa.enable_signal_handlers(False)
    keep_freed_memory()
    check_target(folder, overwrite=overwrite)
    needed = disk_estimate(source, options)
    if needed is not None and not work_folder_of(folder).exists():
        more = (
            f", {readable(needed.numbered)} if large ids must be renumbered on disk"
            if needed.numbered > needed.plain
            else ""
        )
        say(f"building the neighbor lists takes about {readable(needed.plain)} on disk{more}")
        check_space(folder, needed.plain)
    with progress_bar() as progress, open_work_folder(folder, import_job(source, options, budget)) as work:
        if work.resumed:
            say(f"resuming the import that an earlier command left in {work.folder}")
        streaming = StreamOptions(work, budget, progress)
        with stream_source(source, options, streaming) as (arrays, num_columns, summary):
            contents = Contents(arrays, options.directed, num_columns, sort_bytes=budget)
            save_contents(contents, folder, overwrite=overwrite, place=work.place, progress=progress)
    return summary


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _print_summary(summary: Summary, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    print_edges(summary, folder)
    for line in contents_lines(folder):
        typer.echo(line)
