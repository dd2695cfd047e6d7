"""Extract: `shadow extract`, statistics of the scopes that an extractor gives.

Not for: the numbers themselves (studies/analysis/scopes.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.extract import Extractor
    from shadow_gnn.studies.analysis.scopes import ScopeReport, Spread


class Kind(StrEnum):
    """Extractors by name."""

    ppr = "ppr"
    khop = "khop"
    stochastic_ppr = "stochastic-ppr"
    node = "node"
    full = "full"
    katz = "katz"
    heat = "heat"
    combined = "combined"
    rwr = "rwr"
    simrank = "simrank"
    fire = "fire"
    similar = "similar"
    file = "file"


class ScopeEdges(StrEnum):
    """Whose edges a scope has."""

    graph = "graph"
    scope_graph = "scope_graph"


class Missing(StrEnum):
    """What becomes of a target that is not in a scope file."""

    error = "error"
    node = "node"
    ppr = "ppr"


class ThresholdKind(StrEnum):
    """What a threshold is measured against."""

    relative = "relative"
    absolute = "absolute"


_PPR_OPTIONS = ("topk", "threshold", "threshold_kind", "teleport", "tolerance", "precision", "max_nodes")
_OPTIONS = {
    Kind.ppr: _PPR_OPTIONS,
    Kind.stochastic_ppr: _PPR_OPTIONS,
    Kind.khop: ("num_hops", "fanout", "replace", "max_nodes"),
    Kind.full: ("num_hops", "max_nodes"),
    Kind.node: (),
    Kind.katz: ("topk", "attenuation", "tolerance", "precision"),
    Kind.heat: ("topk", "t", "tolerance", "precision"),
    Kind.combined: ("topk", "part"),
    Kind.rwr: ("topk", "teleport", "num_walks"),
    Kind.simrank: ("topk", "decay", "num_walks", "walk_length", "candidates"),
    Kind.fire: ("forward", "backward", "max_nodes"),
    Kind.similar: ("topk", "candidates", "teleport", "index"),
    Kind.file: ("path", "topk", "missing", "other_graph"),
}
_PPR, _HOPS = "ppr and stochastic-ppr", "khop and full"
_PUSH, _TELEPORT = "ppr, stochastic-ppr, katz and heat", "ppr, stochastic-ppr and rwr"


def extract_command(
    folder: Annotated[Path, typer.Argument(help="Graph folder.")],
    extractor: Annotated[Kind, typer.Option(help="How scopes are chosen.")] = Kind.ppr,
    topk: Annotated[
        int | None, typer.Option(help="all that rank by score: most nodes of a scope.", show_default="200")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help=f"{_PPR}: smallest score kept.", show_default="0, keeps all")
    ] = None,
    threshold_kind: Annotated[
        ThresholdKind | None,
        typer.Option(help=f"{_PPR}: threshold as a share of the best neighbour's score, or as it is."),
    ] = None,
    teleport: Annotated[
        float | None, typer.Option(help=f"{_TELEPORT}: restart probability.", show_default="0.2609")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help=f"{_PUSH}: fixed residual bound.", show_default="refined for each target")
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help=f"{_PUSH}: how far to refine; smaller is nearer to exact.", show_default="0.15, for katz 0.01"
        ),
    ] = None,
    attenuation: Annotated[
        float | None,
        typer.Option(help="katz: factor of each step of a walk.", show_default="half of 1 / spectral radius"),
    ] = None,
    t: Annotated[float | None, typer.Option("--t", help="heat: mean steps of the walk.", show_default="3")] = None,
    part: Annotated[
        list[Kind] | None,
        typer.Option(
            help="combined: an extractor whose scores are added, with the same topk; repeat it for each.",
            show_default="ppr, katz",
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            help="similar: nodes of highest PPR that are compared; simrank: nodes that are.",
            show_default="1000, twice topk for simrank",
        ),
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="similar: graph folder of neighbours in features.", show_default="none")
    ] = None,
    num_hops: Annotated[int | None, typer.Option(help=f"{_HOPS}: radius of the scope.", show_default="2")] = None,
    fanout: Annotated[int | None, typer.Option(help="khop: neighbours kept per node.", show_default="20")] = None,
    replace: Annotated[
        bool | None, typer.Option("--replace/--no-replace", help="khop: draw with replacement.", show_default="no")
    ] = None,
    max_nodes: Annotated[
        int | None,
        typer.Option(
            help="ppr, stochastic-ppr, khop, full, fire: hard cap on nodes.", show_default="none, 200 for fire"
        ),
    ] = None,
    num_walks: Annotated[
        int | None,
        typer.Option(help="rwr: walks from a target; simrank: of each node.", show_default="3000, 128 for simrank"),
    ] = None,
    decay: Annotated[
        float | None, typer.Option(help="simrank: factor for each step before walks meet.", show_default="0.6")
    ] = None,
    walk_length: Annotated[int | None, typer.Option(help="simrank: steps of a walk.", show_default="5")] = None,
    forward: Annotated[
        float | None, typer.Option(help="fire: burning probability along messages.", show_default="0.7")
    ] = None,
    backward: Annotated[
        float | None, typer.Option(help="fire: burning probability against messages.", show_default="0")
    ] = None,
    scope_graph: Annotated[
        Path | None, typer.Option(help="Graph folder on the same nodes to choose in.", show_default="the graph itself")
    ] = None,
    scope_edges: Annotated[
        ScopeEdges | None, typer.Option(help="with --scope-graph: whose edges a scope has.", show_default="graph")
    ] = None,
    path: Annotated[Path | None, typer.Option(help="file: the scope file.", show_default="must be given")] = None,
    missing: Annotated[
        Missing | None,
        typer.Option(help="file: a target that is not in it is a fault, stands alone, or gets its PPR scope."),
    ] = None,
    other_graph: Annotated[
        bool | None,
        typer.Option("--other-graph", help="file: take it for a graph of other edges.", show_default="no"),
    ] = None,
    targets: Annotated[
        str,
        typer.Option(
            help="Where targets come from: all nodes, a split's name, a file (.npy, or one id per line), "
            "or ids such as 3,17."
        ),
    ] = "all",
    num_targets: Annotated[int, typer.Option(min=1, help="Targets to draw from these at random.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of all draws.")] = 0,
    threads: Annotated[int, typer.Option(min=0, help="Threads to use.", show_default="0, every core")] = 0,
    recall_sample: Annotated[
        int, typer.Option(min=0, help="ppr: targets to compare with exact PPR; 0 for none.")
    ] = 100,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the numbers as JSON; - for JSON alone.")
    ] = None,
    png: Annotated[Path | None, typer.Option(help="Also draw sizes, hops and times into this file.")] = None,
) -> None:
    """Show what the scopes of an extractor hold and cost.

    Extracts scopes for a sample of targets and prints their sizes, edges, hop composition and depth, the work and time
    per target and, for ppr, how much of the exact topk they catch. Nothing is stored; try settings before training.

    \b
    Examples:
      shadow extract my-graph
      shadow extract my-graph --extractor ppr --topk 50 --threshold 0.01 --targets train
      shadow extract my-graph --extractor khop --num-hops 2 --fanout 10 --png scopes.png
      shadow extract my-graph --extractor full --targets 3,17 --json -
    """
    given = {
        "topk": topk,
        "threshold": threshold,
        "threshold_kind": threshold_kind,
        "teleport": teleport,
        "tolerance": tolerance,
        "precision": precision,
        "attenuation": attenuation,
        "t": t,
        "part": part,
        "candidates": candidates,
        "index": index,
        "num_hops": num_hops,
        "fanout": fanout,
        "replace": replace,
        "max_nodes": max_nodes,
        "num_walks": num_walks,
        "decay": decay,
        "walk_length": walk_length,
        "forward": forward,
        "backward": backward,
        "path": path,
        "missing": None if missing is None else missing.value,
        "other_graph": other_graph,
    }
    made = _build(extractor, {name: value for name, value in given.items() if value is not None}, threads)
    chosen = _on_scope_graph(made, scope_graph, scope_edges)
    report = _describe(folder, chosen, targets, num_targets, seed, recall_sample)
    _show(report, folder, json_file, png)


def _build(kind: Kind, options: dict[str, Any], threads: int) -> Extractor:
    """Make the extractor; an option that it does not have is a fault, never ignored."""
    from shadow_gnn import extract

    for name in options:
        if name not in _OPTIONS[kind]:
            owners = " or ".join(other for other, names in _OPTIONS.items() if name in names)
            flag = name.replace("_", "-")
            raise ValueError(f"extract: --{flag} must be used with {owners}, got --extractor {kind}")
    if "tolerance" in options and "precision" in options:
        raise ValueError("extract: --tolerance must be used without --precision, which refines it; got both")
    if kind is Kind.file and "path" not in options:
        raise ValueError("extract: --path must name a scope file for --extractor file, got none")
    if "threshold_kind" in options:
        options = {**options, "threshold_kind": options["threshold_kind"].value}
    if kind is Kind.combined:
        options = _combined(options, threads)
    if "index" in options:
        from shadow_gnn.graph.store import open_graph

        options = {**options, "index": open_graph(options["index"])}
    classes: dict[Kind, Any] = {
        Kind.ppr: extract.PprExtractor,
        Kind.stochastic_ppr: extract.StochasticPprExtractor,
        Kind.khop: extract.KhopExtractor,
        Kind.full: extract.FullExtractor,
        Kind.node: extract.NodeExtractor,
        Kind.katz: extract.KatzExtractor,
        Kind.heat: extract.HeatExtractor,
        Kind.combined: extract.CombinedExtractor,
        Kind.rwr: extract.RwrExtractor,
        Kind.simrank: extract.SimrankExtractor,
        Kind.fire: extract.FireExtractor,
        Kind.similar: extract.SimilarExtractor,
        Kind.file: extract.FileExtractor,
    }
    made: Extractor = classes[kind](num_threads=threads, **options)
    return made


def _combined(options: dict[str, Any], threads: int) -> dict[str, Any]:
    """Return the options of a combined extractor: parts of equal weight, each with its topk."""
    kinds = options.get("part", [Kind.ppr, Kind.katz])
    if Kind.combined in kinds:
        raise ValueError("extract: --part must name another extractor than combined")
    topk = options.get("topk", 200)
    parts = [_build(kind, {"topk": topk} if "topk" in _OPTIONS[kind] else {}, threads) for kind in kinds]
    return {"topk": topk, "parts": tuple((1.0, part) for part in parts)}


def _on_scope_graph(extractor: Extractor, folder: Path | None, edges: ScopeEdges | None) -> Extractor:
    """Let the extractor choose in another graph, if there is one."""
    if folder is None:
        if edges is not None:
            raise ValueError("extract: --scope-edges must be used with --scope-graph, got none")
        return extractor
    from shadow_gnn.extract import ScopeGraphExtractor
    from shadow_gnn.graph.store import open_graph

    return ScopeGraphExtractor(extractor, open_graph(folder), "graph" if edges is None else edges.value)


def _describe(
    folder: Path, extractor: Extractor, targets: str, num_targets: int, seed: int, recall_sample: int
) -> ScopeReport:
    from shadow_gnn.base.progress_bar import progress_bar
    from shadow_gnn.cli.shared.targets import choose_targets
    from shadow_gnn.graph.store import open_graph
    from shadow_gnn.studies.analysis.scopes import describe_scopes

    graph = open_graph(folder)
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


def _show(report: ScopeReport, folder: Path, json_file: Path | None, png: Path | None) -> None:
    import json
    from dataclasses import asdict

    from shadow_gnn.base.files import write_file

    text = json.dumps(asdict(report), indent=1)
    if png is not None:
        from shadow_gnn.studies.analysis.scope_plots import plot_scopes

        plot_scopes(report, folder.resolve().name, png)
    if json_file is not None and str(json_file) != "-":
        write_file(json_file, text.encode() + b"\n")
    if str(json_file) == "-":
        typer.echo(text)
    else:
        _print_table(report)


def _print_table(report: ScopeReport) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"{report.num_targets:,} targets, {report.extractor}, seed {report.seed}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("per target")
    for name in ("mean", "p5", "median", "p99", "max"):
        table.add_column(name, justify="right")
    for label, values, digits in _rows(report):
        numbers = (values.mean, values.p5, values.p50, values.p99, values.max)
        table.add_row(label, *(f"{number:,.{digits}f}" for number in numbers))
    console.print(table)
    shares = "  ".join(f"{hop}: {share:.1%}" for hop, share in enumerate(report.hop_share))
    console.print(f"nodes by hop      {shares}", soft_wrap=True)
    console.print(f"in large calls    {report.cpu_us:,.1f} µs CPU, {report.wall_us:,.1f} µs wall per target")
    if report.recall is None:
        console.print(f"recall            none: {report.recall_note}")
    else:
        console.print(f"recall against exact PPR on {report.recall.num_targets:,} targets")


def _rows(report: ScopeReport) -> list[tuple[str, Spread, int]]:
    rows = [
        ("nodes", report.num_nodes, 1),
        ("edges", report.num_edges, 1),
        ("depth (hops)", report.depth, 1),
        ("nodes touched", report.nodes_touched, 0),
        ("edges touched", report.edges_touched, 0),
        ("µs, one by one", report.latency_us, 0),
    ]
    if report.recall is not None:
        rows += [("recall", report.recall.recall, 3), ("PPR mass share", report.recall.mass_share, 4)]
    return rows
