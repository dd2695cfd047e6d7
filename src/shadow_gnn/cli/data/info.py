"""Info: `shadow data info`, the contents of a graph folder.

Not for: the numbers themselves (studies/analysis/describe.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.shared.options import GraphArgument, JsonOption, PlotOption
from shadow_gnn.cli.shared.output import new_console, print_json

if TYPE_CHECKING:
    from shadow_gnn.studies.analysis.describe import Description


def info_command(
    graph: GraphArgument,
    verify: Annotated[bool, typer.Option("--verify", help="First check every byte of the folder.")] = False,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the contents of a graph: counts, degrees, components, homophily, features, splits.

    \b
    Examples:
      shadow data info my-graph
      shadow data info debian --json
      shadow data info my-graph --verify --plot degrees.png
    """
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.graph.datasets.resolve import graph_folder, open_any_graph
    from shadow_gnn.studies.analysis.describe import describe

    if verify:
        from shadow_gnn.graph.verify import verify_graph

        with progress_bar() as progress:
            verify_graph(graph_folder(graph), progress)
    description = describe(open_any_graph(graph))
    if plot is not None:
        from shadow_gnn.studies.analysis.plots import plot_degrees

        plot_degrees(description.degrees, Path(graph).resolve().name, plot)
    if as_json:
        print_json(description)
    else:
        _print_description(description, verified=verify)


def _print_description(found: Description, *, verified: bool) -> None:
    from rich.table import Table

    console = new_console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in _lines(found):
        table.add_row(name, value)
    if verified:
        table.add_row("verified", "every byte is as written")
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
        f"mean {features.mean:.4g}, standard deviation {features.deviation:.4g}, "
        f"{features.zero_share:.1%} zero{sampled}"
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
