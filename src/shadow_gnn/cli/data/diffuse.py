"""Diffuse: `shadow data diffuse`, a graph folder of the nodes that a diffusion or the features join.

Not for: the work itself (diffuse); heavy libraries load when the command runs.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shadow_gnn.extract.diffused import FeatureNeighbours, HeatDiffusion, PprDiffusion
    from shadow_gnn.graph.record import Graph


class Kind(StrEnum):
    """What joins two nodes."""

    ppr = "ppr"
    heat = "heat"
    features = "features"


class Transition(StrEnum):
    """The matrix of a step."""

    auto = "auto"
    symmetric = "symmetric"
    walk = "walk"


class Search(StrEnum):
    """How neighbours in features are found."""

    exact = "exact"
    hnsw = "hnsw"


class Normalise(StrEnum):
    """What is done to the weights in the end."""

    none = "none"
    rows = "rows"
    symmetric = "symmetric"


_OPTIONS = {
    Kind.ppr: ("teleport", "tolerance", "self_loop", "transition"),
    Kind.heat: ("time", "tolerance", "self_loop", "transition"),
    Kind.features: ("search",),
}
_WALKS = "ppr and heat"


def diffuse_command(
    source: Annotated[Path, typer.Argument(help="Graph folder.")],
    folder: Annotated[Path, typer.Argument(help="Graph folder to make.")],
    kind: Annotated[
        Kind, typer.Option(help="What joins two nodes: walks from one to the other, or features.")
    ] = Kind.ppr,
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
        typer.Option(help=f"{_WALKS}: what is too small to be followed.", show_default="1e-5"),
    ] = None,
    self_loop: Annotated[
        float | None, typer.Option(help=f"{_WALKS}: weight of a loop added to every node.", show_default="1")
    ] = None,
    transition: Annotated[
        Transition | None,
        typer.Option(help=f"{_WALKS}: D^-1/2 A D^-1/2 or D^-1 A.", show_default="symmetric where it can be"),
    ] = None,
    search: Annotated[
        Search | None, typer.Option(help="features: all pairs, or an index of faiss.", show_default="exact")
    ] = None,
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected",
            help="Keep rows as they are, or the mean of both directions.",
            show_default="as the source",
        ),
    ] = None,
    normalise: Annotated[
        Normalise, typer.Option(help="Weights as they are, of sum 1 in each row, or D^-1/2 S D^-1/2.")
    ] = Normalise.none,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a graph folder that is there.")] = False,
    threads: Annotated[int, typer.Option(min=0, max=1024, help="Threads to use.", show_default="0, every core")] = 0,
) -> None:
    """Make a graph on the same nodes whose edges are the best scores of a diffusion, or the nearest features.

    Scores become edge weights; a node's own is left out. Features, labels, splits, pairs and names are copied. With
    kind ppr or heat this is graph diffusion convolution (GDC) as preprocessing. Train on the folder as on any other, or
    choose scopes in it: extractor.scope_graph in a recipe.

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
        "transition": None if transition is None else transition.value,
        "search": None if search is None else search.value,
    }
    scores = _source(kind, {name: value for name, value in given.items() if value is not None})
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.extract.diffused import Kept, diffuse_graph
    from shadow_gnn.graph.store import check_target, open_graph, save_graph

    most = 64 if topk is None and threshold is None else topk
    kept = Kept(most, threshold or 0.0, directed, normalise.value)
    check_target(folder, overwrite=overwrite)
    graph = open_graph(source)
    with progress_bar() as progress:
        made = diffuse_graph(graph, scores, kept, num_threads=threads, progress=progress)
        save_graph(made, folder, overwrite=overwrite, progress=progress)
    _print_result(made, graph, folder)


def _source(kind: Kind, options: dict[str, Any]) -> PprDiffusion | HeatDiffusion | FeatureNeighbours:
    """Make what gives the scores; an option that it does not have is a fault, never ignored."""
    from shadow_gnn.extract import diffused as diffuse

    for name in options:
        if name not in _OPTIONS[kind]:
            owners = " or ".join(other for other, names in _OPTIONS.items() if name in names)
            raise ValueError(f"diffuse: --{name.replace('_', '-')} must be used with {owners}, got --kind {kind}")
    if kind == Kind.ppr:
        return diffuse.PprDiffusion(**options)
    return diffuse.HeatDiffusion(**options) if kind == Kind.heat else diffuse.FeatureNeighbours(**options)


def _print_result(made: Graph, graph: Graph, folder: Path) -> None:
    kept = made.num_edges if made.directed else made.num_edges // 2
    degree, before = (one.num_edges / max(one.num_nodes, 1) for one in (made, graph))
    typer.echo(
        f"{folder}: {made.num_nodes:,} nodes, {kept:,} {'directed' if made.directed else 'undirected'} weighted edges, "
        f"{degree:.1f} for each node ({before:.1f} before)"
    )
