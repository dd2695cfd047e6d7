"""Compare: `shadow compare-extractors`, several extractors on one graph in one table.

Not for: the comparison itself (studies/compare_extractors); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import GraphArgument, JsonOption, PlotOption, RepeatOption
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.studies.compare_extractors import Comparison


def compare_command(
    graph: GraphArgument,
    extractors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS",
            help="Kinds, comma-separated, or one TOML table: '{kind = \"ppr\", teleport = 0.1}'; can be repeated.",
            show_default="every kind that needs only a size",
        ),
    ] = None,
    size: Annotated[int, typer.Option(min=1, max=100_000, help="Most nodes of a scope, for every extractor.")] = 100,
    num_targets: Annotated[int, typer.Option(min=1, max=100_000, help="Targets sampled from each split.")] = 1000,
    repeat: RepeatOption = 1,
    seed: Annotated[int, typer.Option(min=0, help="First random seed.")] = 0,
    plot: PlotOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write everything into this file, .md or .json.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare extractors on a graph and recommend one.

    \b
    CPU µs      time to extract one scope, one thread
    nodes       nodes of a scope: the same size for all, fewer where the neighborhood ends
    hop 1, ...  distances of a scope's nodes from the target, without the target itself
    homophily   share of a scope's known classes that equal the target's
    entropy     entropy of these classes in bits: 0 if all are equal
    valid       score of a probe (shaDow-SGC): features are propagated once inside each scope, and logistic regression
                reads the target's row; steps and weight decay are chosen on validation
    overlap     nodes that two extractors' scopes share, divided by the nodes of either, a mean over targets

    Homophily and entropy use the classes of training nodes only. The recommendation is the fastest extractor within
    one standard error of the best on validation; test targets are not used for it. A graph without labels, features or
    splits lacks the columns that need them, and a note says so.

    \b
    Examples:
      shadow compare-extractors my-graph
      shadow compare-extractors my-graph --extractors ppr,khop,node --size 50 --repeat 5
      shadow compare-extractors my-graph --extractors ppr --extractors '{kind = "ppr", teleport = 0.1}'
      shadow compare-extractors my-graph --num-targets 300 --plot extractors.png --out extractors.md
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
    options = CompareOptions(size, num_targets, tuple(range(seed, seed + repeat)))
    opened = open_recipe_graph(graph)
    keep_freed_memory()
    with progress_bar() as progress:
        found = compare_extractors(opened, candidates, options, progress)
    title = Path(graph).resolve().name
    _write(found, title, plot, out)
    if as_json:
        print_json(found)
    else:
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
    from shadow_gnn.studies.compare_extractors import cells, columns, overlap_rows
    from shadow_gnn.studies.compare_extractors.table import headline

    typer.echo(headline(found))
    print_table(columns(found), cells(found))
    typer.echo()
    print_table(["overlap", *(row.name for row in found.rows)], overlap_rows(found))
    for note in found.notes:
        typer.echo(note)
    typer.echo(f"begin with {found.recommended}: {found.reason}")
