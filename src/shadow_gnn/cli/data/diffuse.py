"""Diffuse: `shadow data diffuse`, a graph folder whose edges come from a diffusion or from similar features.

Not for: the work itself (extract/diffused); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shadow_gnn.cli.shared.options import GraphArgument, JsonOption, OverwriteOption, ThreadsOption
from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    from shadow_gnn.extract.diffused import FeatureNeighbors, HeatDiffusion, PprDiffusion
    from shadow_gnn.graph.record import Graph


Kind = Literal["ppr", "heat", "features"]
_OPTIONS: dict[Kind, tuple[str, ...]] = {
    "ppr": ("teleport", "tolerance", "self_loop", "transition"),
    "heat": ("time", "tolerance", "self_loop", "transition"),
    "features": ("search",),
}
_WALKS = "ppr and heat"


def diffuse_command(
    source: GraphArgument,
    folder: Annotated[Path, typer.Argument(help="Graph folder to create.")],
    kind: Annotated[Kind, typer.Option(help="Source of the new edges: walks (ppr, heat) or similar features.")] = "ppr",
    topk: Annotated[
        int | None,
        typer.Option(
            min=1, help="Most entries of a row, the node's own included.", show_default="64, or any with --threshold"
        ),
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="Smallest score kept.", show_default="0, keeps all")] = None,
    teleport: Annotated[
        float | None, typer.Option(help="ppr: restart probability of the walk.", show_default="0.15")
    ] = None,
    time: Annotated[float | None, typer.Option(help="heat: mean number of steps.", show_default="3")] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help=f"{_WALKS}: residuals below it are dropped.", show_default="1e-5"),
    ] = None,
    self_loop: Annotated[
        float | None, typer.Option(help=f"{_WALKS}: weight of a loop added to every node.", show_default="1")
    ] = None,
    transition: Annotated[
        Literal["auto", "symmetric", "walk"] | None,
        typer.Option(help=f"{_WALKS}: D^-1/2 A D^-1/2 or D^-1 A.", show_default="symmetric where possible"),
    ] = None,
    search: Annotated[
        Literal["exact", "hnsw"] | None,
        typer.Option(help="features: all pairs, or a faiss index.", show_default="exact"),
    ] = None,
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected",
            help="Keep both directions apart, or average them.",
            show_default="as the source",
        ),
    ] = None,
    normalize: Annotated[
        Literal["none", "rows", "symmetric"],
        typer.Option(help="Weights unchanged, rows that sum to 1, or D^-1/2 S D^-1/2."),
    ] = "none",
    overwrite: OverwriteOption = False,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Build a graph on the same nodes from the best scores of a diffusion or from the nearest features.

    Scores become edge weights; a node's own score is left out. Features, labels, splits, pairs and names are copied.
    Kinds ppr and heat are graph diffusion convolution (GDC) as preprocessing. Train on the new folder, or choose
    scopes in it: extractor.scope_graph in a recipe.

    \b
    Examples:
      shadow data diffuse my-graph my-graph-ppr --topk 64
      shadow data diffuse my-graph my-graph-heat --kind heat --time 5 --threshold 1e-4
      shadow data diffuse my-graph my-graph-near --kind features --topk 11 --search hnsw
    """
    given = {
        "teleport": teleport,
        "time": time,
        "tolerance": tolerance,
        "self_loop": self_loop,
        "transition": transition,
        "search": search,
    }
    scores = _source(kind, {name: value for name, value in given.items() if value is not None})
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.extract.diffused import Kept, diffuse_graph
    from shadow_gnn.graph.datasets.resolve import open_any_graph
    from shadow_gnn.graph.store import check_target, save_graph

    most = 64 if topk is None and threshold is None else topk
    kept = Kept(most, threshold or 0.0, directed, normalize)
    check_target(folder, overwrite=overwrite)
    graph = open_any_graph(source)
    with progress_bar() as progress:
        made = diffuse_graph(graph, scores, kept, num_threads=threads, progress=progress)
        save_graph(made, folder, overwrite=overwrite, progress=progress)
    _print_result(made, graph, folder, as_json=as_json)


def _source(kind: Kind, options: dict[str, Any]) -> PprDiffusion | HeatDiffusion | FeatureNeighbors:
    """Make the source of the scores; an option that it does not have is a fault."""
    from shadow_gnn.extract import diffused as diffuse

    for name in options:
        if name not in _OPTIONS[kind]:
            owners = " or ".join(other for other, names in _OPTIONS.items() if name in names)
            raise ValueError(f"diffuse: --{name.replace('_', '-')} must be used with {owners}, got --kind {kind}")
    if kind == "ppr":
        return diffuse.PprDiffusion(**options)
    return diffuse.HeatDiffusion(**options) if kind == "heat" else diffuse.FeatureNeighbors(**options)


def _print_result(made: Graph, graph: Graph, folder: Path, *, as_json: bool) -> None:
    kept = made.num_edges if made.directed else made.num_edges // 2
    degree, before = (one.num_edges / max(one.num_nodes, 1) for one in (made, graph))
    if as_json:
        counts = {"num_nodes": made.num_nodes, "num_edges": kept, "directed": made.directed}
        print_json({"folder": folder, **counts, "mean_degree": degree, "mean_degree_before": before})
        return
    typer.echo(
        f"{folder}: {made.num_nodes:,} nodes, {kept:,} {'directed' if made.directed else 'undirected'} weighted edges, "
        f"{degree:.1f} per node ({before:.1f} before)"
    )
