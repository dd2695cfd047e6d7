"""Compare: `shadow compare-extractors`, several ways to choose scopes on one graph, in one table.

Not for: the comparison itself (compare/); heavy libraries load when the command runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shadow_gnn.studies.compare_extractors import Comparison

_PIPED_WIDTH = 180


def compare_command(
    graph: Annotated[str, typer.Argument(metavar="FOLDER", help="Graph folder, or the name of a built-in graph.")],
    extractors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS",
            help="Kinds with commas, or one TOML table such as '{kind = \"ppr\", teleport = 0.1}'; may be repeated.",
            show_default="every kind that needs no more than a size",
        ),
    ] = None,
    size: Annotated[int, typer.Option(min=1, max=100_000, help="Most nodes of a scope, for all alike.")] = 100,
    targets: Annotated[int, typer.Option(min=1, max=100_000, help="Targets to draw from each split.")] = 1000,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Draws of targets and scopes; gives deviations.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the first draw.")] = 0,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw everything into this PNG.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write everything into this file, .md or .json.")
    ] = None,
) -> None:
    """Compare ways to choose scopes on a graph, and recommend one.

    \b
    CPU µs      time to extract one scope, one thread
    nodes       of a scope: equal sizes are asked for; less where the neighbourhood ends
    hop 1, ...  where the nodes of scopes are, the targets left out
    homophily   share of the known classes in a scope that are the target's own
    entropy     of these classes in bits: 0 where all are alike
    valid       of a probe: features are propagated inside each scope once, and logistic regression reads the
                target's row (shaDow-SGC); steps and weight decay are chosen on validation
    overlap     share of the nodes of either scope that both have, a mean over targets

    Homophily and entropy see the classes of training nodes alone. The recommendation is the fastest extractor within
    one standard error of the best on validation; test targets have no say in it. What a graph does not have (labels,
    features, splits) leaves its columns out, and a line says so.

    \b
    Examples:
      shadow compare-extractors my-graph
      shadow compare-extractors my-graph --extractors ppr,khop,node --size 50 --seeds 5
      shadow compare-extractors my-graph --extractors ppr --extractors '{kind = "ppr", teleport = 0.1}'
      shadow compare-extractors my-graph --targets 300 --plot extractors.png --out extractors.md
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.compare_extractors import (
        CompareOptions,
        compare_extractors,
        default_candidates,
        read_candidates,
    )
    from shadow_gnn.training.run_setup import open_recipe_graph

    if out is not None and out.suffix not in (".md", ".json"):
        raise ValueError(f"compare-extractors: --out must end in .md or .json, got {out.name}")
    candidates = read_candidates(extractors, size) if extractors else default_candidates(size)
    options = CompareOptions(size, targets, tuple(range(seed, seed + seeds)))
    opened = open_recipe_graph(graph)
    keep_freed_memory()
    with progress_bar() as progress:
        found = compare_extractors(opened, candidates, options, progress)
    title = Path(graph).resolve().name
    _write(found, title, plot, out)
    _print(found)


def _write(found: Comparison, title: str, plot: Path | None, out: Path | None) -> None:
    import json
    from dataclasses import asdict

    from shadow_gnn.base.files import write_file
    from shadow_gnn.studies.compare_extractors import markdown

    if plot is not None:
        from shadow_gnn.studies.compare_extractors.plot import plot_comparison

        plot_comparison(found, title, plot)
    if out is not None:
        text = markdown(found, title) if out.suffix == ".md" else json.dumps(asdict(found), indent=1) + "\n"
        write_file(out, text.encode())


def _print(found: Comparison) -> None:
    from rich.console import Console

    from shadow_gnn.studies.compare_extractors import cells, columns, overlap_rows
    from shadow_gnn.studies.compare_extractors.table import headline

    # Piped somewhere, lines need not fit a screen.
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
    console.print(headline(found), soft_wrap=True)
    console.print(_table(columns(found), cells(found)))
    console.print()
    console.print(_table(["overlap", *(row.name for row in found.rows)], overlap_rows(found)))
    for note in found.notes:
        console.print(note, soft_wrap=True)
    console.print(f"begin with {found.recommended}: {found.reason}", soft_wrap=True)


def _table(heads: list[str], rows: list[list[str]]) -> object:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place == 0 else "right", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    return table
