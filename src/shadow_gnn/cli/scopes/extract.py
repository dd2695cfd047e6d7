"""Extract: `shadow extract`, statistics of the scopes that an extractor gives.

Not for: the numbers themselves (studies/analysis/scopes.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.shared.help_pages import Command
from shadow_gnn.cli.shared.options import (
    TARGETS_HELP,
    GraphArgument,
    JsonOption,
    PlotOption,
    ThreadsOption,
    extractor_option,
    named_recipe,
)
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.extract import BaseExtractor, Extractor
    from shadow_gnn.studies.analysis.scopes import ScopeReport, Spread


class ExtractCommand(Command):
    """The command, with a help page that lists all kinds of extractors and their options."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with the kinds of extractors at its end."""
        self.help = f"{self.help}\n\n{_kinds_text()}"
        super().format_help(ctx, formatter)


def extract_command(
    graph: GraphArgument,
    extractor: Annotated[
        str | None,
        typer.Option(
            metavar="KIND or TABLE",
            help="Choice of the nodes of a scope: a kind, or a TOML table such as '{kind = \"ppr\", topk = 50}'.",
            show_default="ppr",
        ),
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="Take the extractor of this recipe: a TOML file, or paper/NAME.")
    ] = None,
    targets: Annotated[
        str,
        typer.Option(help=f"Source of targets: {TARGETS_HELP}"),
    ] = "all",
    num_targets: Annotated[int, typer.Option(min=1, help="Targets sampled from these.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of all sampling.")] = 0,
    threads: ThreadsOption = 0,
    recall_sample: Annotated[
        int, typer.Option(min=0, help="ppr: targets to compare with exact PPR; 0 for none.")
    ] = 100,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="NODES",
            help="Show the one scope of weighted seeds instead: ids or names such as 3,17=2.5, or a JSON object of "
            "weights. The extractor must be ppr.",
        ),
    ] = None,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Show the contents and the cost of an extractor's scopes.

    Extracts scopes for a sample of targets and prints their sizes, edges, hop composition and depth, the work and time
    per target and, for ppr, the recall of the exact topk. Nothing is stored; try settings before training.

    \b
    Examples:
      shadow extract my-graph
      shadow extract my-graph --extractor '{kind = "ppr", topk = 50, threshold = 0.01}' --targets train
      shadow extract my-graph --extractor '{kind = "khop", num_hops = 2, fanout = 10}' --plot scopes.png
      shadow extract my-graph --extractor full --targets 3,17 --json
      shadow extract my-graph --recipe recipe.toml
      shadow extract my-graph --seeds 3,17=2.5 --extractor '{kind = "ppr", topk = 50}' --json
    """
    from shadow_gnn.recipe.extractor_table import extractor_words
    from shadow_gnn.training.build import build_extractor

    if seeds is not None:
        _show_retrieval(graph, _chosen(extractor, recipe), seeds, threads, as_json)
        return
    # As in training, where some extractors draw their scopes at random.
    made = build_extractor(_chosen(extractor, recipe), training=True).with_common(num_threads=threads)
    report = _describe(graph, made, targets, num_targets, seed, recall_sample)
    _show(report, f"{Path(graph).resolve().name}, {extractor_words(made)}", as_json, plot)


def _show_retrieval(name: str, extractor: BaseExtractor, seeds: str, threads: int, as_json: bool) -> None:
    """Print the nodes around seeds, the best first; as JSON also the edges between them."""
    from shadow_gnn.cli.shared.seeds import read_seeds
    from shadow_gnn.extract import PprExtractor
    from shadow_gnn.extract.retrieval import retrieve
    from shadow_gnn.graph.datasets.resolve import open_any_graph

    if not isinstance(extractor, PprExtractor):
        raise ValueError(f"extract: --extractor must be ppr with --seeds, got {extractor.kind}")
    graph = open_any_graph(name)
    found = retrieve(graph, read_seeds(graph, seeds), extractor.with_common(num_threads=threads))
    rows = found.rows(graph.node_name)
    if as_json:
        print_json({"nodes": rows, "edges": found.edges.tolist()})
        return
    heads = ("id", *(["name"] if graph.node_name is not None else []), "score", "hop")
    lines = [[f"{row[head]:.6f}" if head == "score" else str(row[head]) for head in heads] for row in rows]
    print_table(heads, lines, text_columns=("name",))
    typer.echo(f"{len(rows):,} nodes, {len(found.edges):,} edges between them")


def _chosen(text: str | None, recipe: Path | None) -> BaseExtractor:
    """Read the extractor from the text of --extractor, or take that of a recipe."""
    from shadow_gnn.recipe.extractor_table import DEFAULT_KIND

    if recipe is None:
        return extractor_option(DEFAULT_KIND if text is None else text, "extract")
    if text is not None:
        raise ValueError("extract: --extractor must be used without --recipe, got both")
    found = named_recipe(recipe).extractor
    if found is None:
        raise ValueError(f"extract: {recipe} must have one extractor, got branches or none; give --extractor")
    return found


def _kinds_text() -> str:
    """Write every kind of extractor and its options, from their definitions."""
    from shadow_gnn.extract import KINDS
    from shadow_gnn.recipe.keys import kind_keys, shared_keys

    lines = ["\b", "Kinds of extractors, and the keys of their tables:"]
    for kind, owner in KINDS.items():
        lines.append(f"  {kind}: {(owner.__doc__ or '').partition(chr(10))[0]}")
        lines += [f"    {key.name}{f' = {key.default}' if key.default else ''}: {key.text}" for key in kind_keys(kind)]
    lines.append("  all kinds:")
    lines += [f"    {key.name}: {key.text}" for key in shared_keys()]
    return "\n".join(lines)


def _describe(
    name: str, extractor: Extractor, targets: str, num_targets: int, seed: int, recall_sample: int
) -> ScopeReport:
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.targets import choose_targets
    from shadow_gnn.graph.datasets.resolve import open_any_graph
    from shadow_gnn.studies.analysis.scopes import describe_scopes

    graph = open_any_graph(name)
    chosen = _draw(choose_targets("extract", graph, targets), num_targets, seed)
    with progress_bar() as progress:
        return describe_scopes(graph, extractor, chosen, seed=seed, recall_sample=recall_sample, progress=progress)


def _draw(pool: NDArray[np.int64] | int, count: int, seed: int) -> NDArray[np.int64]:
    import numpy as np

    size = pool if isinstance(pool, int) else len(pool)
    if size == 0:
        raise ValueError("extract: --targets must name at least one node, got none")
    if count >= size:
        return np.arange(size) if isinstance(pool, int) else pool
    drawn = np.random.default_rng(seed).choice(size, count, replace=False, shuffle=False)
    return drawn if isinstance(pool, int) else pool[drawn]


def _show(report: ScopeReport, title: str, as_json: bool, plot: Path | None) -> None:
    if plot is not None:
        from shadow_gnn.studies.analysis.scope_plots import plot_scopes

        plot_scopes(report, title, plot)
    if as_json:
        print_json(report)
    else:
        _print_table(report)


def _print_table(report: ScopeReport) -> None:
    typer.echo(f"{report.num_targets:,} targets, {report.extractor}, seed {report.seed}")
    rows = []
    for label, values, digits in _rows(report):
        numbers = (values.mean, values.p5, values.p50, values.p99, values.max)
        rows.append((label, *(f"{number:,.{digits}f}" for number in numbers)))
    print_table(("per target", "mean", "p5", "median", "p99", "max"), rows)
    shares = "  ".join(f"{hop}: {share:.1%}" for hop, share in enumerate(report.hop_share))
    typer.echo(f"nodes by hop      {shares}")
    typer.echo(f"in large calls    {report.cpu_us:,.1f} µs CPU, {report.wall_us:,.1f} µs wall per target")
    if report.recall is None:
        typer.echo(f"recall            none: {report.recall_note}")
    else:
        typer.echo(f"recall against exact PPR on {report.recall.num_targets:,} targets")


def _rows(report: ScopeReport) -> list[tuple[str, Spread, int]]:
    rows = [
        ("nodes", report.num_nodes, 1),
        ("messages of a layer", report.num_messages, 1),
        ("depth (hops)", report.depth, 1),
        ("nodes touched", report.nodes_touched, 0),
        ("edges touched", report.edges_touched, 0),
        ("µs, one by one", report.latency_us, 0),
    ]
    if report.recall is not None:
        rows += [("recall", report.recall.recall, 3), ("PPR mass share", report.recall.mass_share, 4)]
    return rows
