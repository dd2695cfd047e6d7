"""Importing: `shadow data import`, files of other formats into a graph folder.

Not for: the work itself (graph/importing); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shadow_gnn.cli.shared.options import JsonOption, OverwriteOption
from shadow_gnn.cli.shared.output import print_json
from shadow_gnn.cli.shared.sizes import memory_bytes, shares
from shadow_gnn.cli.shared.voice import say

if TYPE_CHECKING:
    from shadow_gnn.graph.importing.build import Summary
    from shadow_gnn.graph.importing.options import ImportOptions


_EDGES = "Edges"
_LISTS = "Edge lists (text and Parquet)"
_NODES = "Node features and labels"
_SPLITS = "Splits"
_MEMORY = "Memory"


def _option(heading: str, *names: str, **settings: Any) -> Any:
    """Return an option that stands under a heading of the help page."""
    return typer.Option(*names, rich_help_panel=heading, **settings)


def import_command(
    source: Annotated[
        Path, typer.Argument(help="Edge list (CSV, TSV, text, Parquet), .npz, GraphSAINT or OGB folder.")
    ],
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
        str | None, _option(_NODES, help="Id column of these tables.", show_default="node, id or node_id")
    ] = None,
    splits: Annotated[Path | None, _option(_SPLITS, help="Table with columns node and split.")] = None,
    train: Annotated[Path | None, _option(_SPLITS, help="Training nodes: .npy of ids or a mask, or text.")] = None,
    valid: Annotated[Path | None, _option(_SPLITS, help="Validation nodes, in the same formats.")] = None,
    test: Annotated[Path | None, _option(_SPLITS, help="Test nodes, in the same formats.")] = None,
    split: Annotated[str | None, _option(_SPLITS, help="Random split in percent, for example 60/20/20.")] = None,
    seed: Annotated[int, _option(_SPLITS, min=0, help="Random seed of that split.")] = 0,
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

    \b
    Examples:
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
        ),
    )
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
            contents = Contents(arrays, options.directed, num_columns)
            save_contents(contents, folder, overwrite=overwrite, place=work.place, progress=progress)
    return summary


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _print_summary(summary: Summary, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    kind = "directed" if summary.directed else "undirected"
    typer.echo(f"{folder}: {summary.num_nodes:,} nodes, {summary.num_edges:,} {kind} edges")
    typer.echo(
        f"read {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and "
        f"{summary.duplicates:,} duplicates"
        + (f", merged {summary.both_directions:,} given in both directions" if summary.both_directions else "")
    )
    for note in summary.notes:
        typer.echo(note)
