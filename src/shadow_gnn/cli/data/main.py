"""Data: `shadow data import` and `shadow data info`; the other subcommands have files of their own (get.py).

Not for: the work itself (ingest, store, analysis); heavy libraries load when a command runs.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.data import diffuse, generate, get
from shadow_gnn.cli.shared.sizes import memory_bytes, shares

if TYPE_CHECKING:
    from shadow_gnn.graph.importing.build import Summary
    from shadow_gnn.graph.importing.detect import ImportOptions
    from shadow_gnn.studies.analysis.describe import Description

app = typer.Typer(
    help="Import graphs into graph folders and look at them.", no_args_is_help=True, rich_markup_mode=None
)
app.command("get")(get.get_command)
app.command("list")(get.list_command)
app.command("diffuse")(diffuse.diffuse_command)
app.command("generate")(generate.generate_command)


class Merge(StrEnum):
    """Weight of a repeated edge."""

    first = "first"
    sum = "sum"


class Ids(StrEnum):
    """How node ids are read."""

    auto = "auto"
    integer = "integer"
    string = "string"


class FeatureDtype(StrEnum):
    """How dense features are stored."""

    auto = "auto"
    float32 = "float32"
    float16 = "float16"
    int8 = "int8"


class LabelKind(StrEnum):
    """What labels mean."""

    auto = "auto"
    single = "class"
    multi = "multi"
    value = "value"


_NODES = "Nodes: features, labels, splits"
_EDGES = "Edge lists"


@app.command("import")
def import_command(
    source: Annotated[
        Path, typer.Argument(help="Edge list (CSV, TSV, text, Parquet), .npz, GraphSAINT or OGB folder.")
    ],
    folder: Annotated[Path, typer.Argument(help="Graph folder to make.")],
    directed: Annotated[
        bool, typer.Option("--directed", help="Keep directions; otherwise edges go both ways.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a graph folder that is there.")] = False,
    merge: Annotated[Merge, typer.Option(help="Weight of a repeated edge.")] = Merge.first,
    keep_edge_id: Annotated[bool, typer.Option("--keep-edge-id", help="Keep each edge's row in the source.")] = False,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line holds names.", show_default="look"),
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="Character between columns.", show_default="look")] = None,
    src: Annotated[str | None, typer.Option(help="Column of the sending node (name or number).")] = None,
    dst: Annotated[str | None, typer.Option(help="Column of the receiving node.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of the edge weight; one called weight is found.")] = None,
    edge_features: Annotated[str | None, typer.Option(help="Columns of edge features, with commas.")] = None,
    ids: Annotated[Ids, typer.Option(help="Read node ids as integers or as any text.")] = Ids.auto,
    num_nodes: Annotated[
        int | None, typer.Option(min=0, help="Number of nodes; integer ids then stay as they are.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Features: .npy, SciPy .npz (kept sparse), CSV, Parquet.")
    ] = None,
    feature_columns: Annotated[str | None, typer.Option(help="Columns of that table, with commas.")] = None,
    feature_dtype: Annotated[FeatureDtype, typer.Option(help="How dense features are stored.")] = FeatureDtype.auto,
    labels: Annotated[Path | None, typer.Option(help="Labels: .npy, CSV, Parquet.")] = None,
    label_columns: Annotated[str | None, typer.Option(help="Columns of that table, with commas.")] = None,
    label_kind: Annotated[LabelKind, typer.Option(help="What labels mean.")] = LabelKind.auto,
    id_column: Annotated[str | None, typer.Option(help="Id column of tables; node, id, node_id are found.")] = None,
    splits: Annotated[Path | None, typer.Option(help="Table with columns node and split.")] = None,
    train: Annotated[Path | None, typer.Option(help="Training nodes: .npy of ids or mask, or text.")] = None,
    valid: Annotated[Path | None, typer.Option(help="Validation nodes, likewise.")] = None,
    test: Annotated[Path | None, typer.Option(help="Test nodes, likewise.")] = None,
    split: Annotated[str | None, typer.Option(help="Random split in percent, such as 60/20/20.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of that split.")] = 0,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Build on the disk with about this much memory, such as 2GB.",
            show_default="build in memory",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Import a graph from files into a graph folder.

    Duplicates and self-loops are removed and counted. The folder appears whole or not at all. With --memory the graph
    may be larger than memory, and a command that was killed goes on when it is given again.

    \b
    Examples:
      shadow data import edges.csv my-graph --split 60/20/20 --seed 1
      shadow data import edges.csv my-graph --features x.npy --labels y.csv
      shadow data import follows.parquet my-graph --src from --dst to --directed
      shadow data import dataset/ogbn_arxiv my-graph
      shadow data import billion.parquet my-graph --memory 2GB
    """
    from shadow_gnn.graph.importing.attach import NodeFiles
    from shadow_gnn.graph.importing.detect import ImportOptions
    from shadow_gnn.graph.importing.formats.edge_list import EdgeListOptions

    options = ImportOptions(
        directed=directed,
        merge=merge.value,
        keep_edge_id=keep_edge_id,
        edge_list=EdgeListOptions(header, delimiter, src, dst, weight, _names(edge_features), ids.value, num_nodes),
        nodes=NodeFiles(
            features=features,
            feature_columns=_names(feature_columns),
            feature_dtype=feature_dtype.value,
            labels=labels,
            label_columns=_names(label_columns),
            label_kind=label_kind.value,
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


@app.command("info")
def info_command(
    folder: Annotated[Path, typer.Argument(help="Graph folder.")],
    verify: Annotated[bool, typer.Option("--verify", help="First check every byte of the folder.")] = False,
    png: Annotated[Path | None, typer.Option(help="Also draw the degree distribution into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Show what a graph folder holds: counts, degrees, components, homophily, features, splits.

    \b
    Examples:
      shadow data info my-graph
      shadow data info my-graph --verify --png degrees.png
    """
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.store import open_graph
    from shadow_gnn.studies.analysis.describe import describe

    if verify:
        from shadow_gnn.graph.verify import verify_graph

        with progress_bar() as progress:
            verify_graph(folder, progress)
    description = describe(open_graph(folder))
    if png is not None:
        from shadow_gnn.studies.analysis.plots import plot_degrees

        plot_degrees(description.degrees, folder.resolve().name, png)
    if as_json:
        _print_json(description)
    else:
        _print_description(description, verified=verify)


def _import(source: Path, folder: Path, options: ImportOptions, overwrite: bool) -> Summary:
    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.importing.detect import read_source
    from shadow_gnn.graph.store import check_target, save_graph

    # Arrow takes over Ctrl-C while it parses, and loses one that comes just as it ends: ours stay in charge.
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
            f", {readable(needed.numbered)} if ids are so high that they must be numbered there"
            if needed.numbered > needed.plain
            else ""
        )
        typer.echo(f"building the lists takes about {readable(needed.plain)} on the disk{more}", err=True)
        check_space(folder, needed.plain)
    with progress_bar() as progress, open_work_folder(folder, import_job(source, options, budget)) as work:
        if work.resumed:
            typer.echo(f"going on with what an earlier command left in {work.folder}", err=True)
        streaming = StreamOptions(work, budget, progress)
        with stream_source(source, options, streaming) as (arrays, num_columns, summary):
            contents = Contents(arrays, options.directed, num_columns)
            save_contents(contents, folder, overwrite=overwrite, place=work.place, progress=progress)
    return summary


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _print_json(record: Any) -> None:
    import json
    from dataclasses import asdict

    typer.echo(json.dumps(asdict(record), indent=1))


def _print_summary(summary: Summary, folder: Path, as_json: bool) -> None:
    if as_json:
        _print_json(summary)
        return
    kept = summary.num_edges if summary.directed else summary.num_edges // 2
    typer.echo(
        f"{folder}: {summary.num_nodes:,} nodes, {kept:,} {'directed' if summary.directed else 'undirected'} edges"
    )
    typer.echo(
        f"read {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and "
        f"{summary.duplicates:,} duplicates"
        + (f", joined {summary.both_directions:,} given in both directions" if summary.both_directions else "")
    )
    for note in summary.notes:
        typer.echo(note)


def _print_description(found: Description, *, verified: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in _lines(found):
        table.add_row(name, value)
    if verified:
        table.add_row("verified", "every byte is as it was written")
    console.print(table)
    _print_degrees(console, found)


def _lines(found: Description) -> list[tuple[str, str]]:
    degrees = found.degrees
    kind = ("directed" if found.directed else "undirected") + (", weighted" if found.weighted else "")
    lines = [
        ("nodes", f"{found.num_nodes:,}" + (" with names" if found.named else "")),
        ("edges", f"{found.num_edges:,} {kind}"),
        ("edge features", f"{found.num_edge_features} columns" if found.num_edge_features else "none"),
        (
            "degree",
            f"mean {degrees.mean:.2f}, median {degrees.median:g}, largest {degrees.largest:,}, "
            f"{degrees.isolated:,} isolated",
        ),
    ]
    if found.components is None:
        lines.append(("components", "not counted on a graph of this size"))
    else:
        share = found.components.largest / max(found.num_nodes, 1)
        lines.append(("components", f"{found.components.count:,}, the largest has {share:.1%} of the nodes"))
    lines += [("features", _feature_line(found)), ("labels", _label_line(found))]
    lines.append(("splits", ", ".join(f"{name} {count:,}" for name, count in found.splits.items()) or "none"))
    if found.pairs:
        lines.append(("pairs", ", ".join(f"{name} {count:,}" for name, count in found.pairs.items())))
    return [*lines, ("fingerprint", found.fingerprint)]


def _feature_line(found: Description) -> str:
    features = found.features
    if features is None:
        return "none"
    sampled = "" if features.rows_sampled == found.num_nodes else f" (from {features.rows_sampled:,} rows)"
    return (
        f"{features.num_columns} columns, {features.storage}; {features.least:.4g} to {features.greatest:.4g}, "
        f"mean {features.mean:.4g}, deviation {features.deviation:.4g}, {features.zero_share:.1%} zero{sampled}"
    )


def _label_line(found: Description) -> str:
    labels = found.labels
    if labels is None:
        return "none"
    if labels.kind == "value":
        return "one value per node"
    if labels.kind == "multi":
        return f"{labels.num_classes} yes/no labels per node"
    unknown = f", {labels.unknown:,} unknown" if labels.unknown else ""
    homophily = "" if labels.homophily is None else f"; edge homophily {labels.homophily:.3f}"
    return f"{labels.num_classes} classes{unknown}{homophily}"


def _print_degrees(console: Any, found: Description) -> None:
    from rich.bar import Bar
    from rich.table import Table

    from shadow_gnn.studies.analysis.plots import bucket_label

    most = max((count for _, _, count in found.degrees.buckets), default=0)
    if not most:
        return
    table = Table(box=None, pad_edge=False, title="nodes by degree", title_justify="left")
    table.add_column("degree", justify="right")
    table.add_column("nodes", justify="right")
    table.add_column("", width=40)
    for low, high, count in found.degrees.buckets:
        table.add_row(bucket_label(low, high), f"{count:,}", Bar(most, 0, count, width=40))
    console.print(table)
