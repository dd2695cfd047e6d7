"""Draw: `shadow draw`, the picture of one scope.

Not for: the drawing itself (studies/analysis/scope_drawing.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.existing import picture_file
from shadow_gnn.cli.shared.options import GraphArgument, JsonOption, extractor_option
from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    from shadow_gnn.extract import Subgraphs
    from shadow_gnn.graph.record import Graph

_DEFAULT = '{kind = "ppr", topk = 60}'


def draw_command(
    graph: GraphArgument,
    node: Annotated[str, typer.Argument(metavar="NODE", help="Node id, or name if the graph has names.")],
    extractor: Annotated[
        str,
        typer.Option(
            metavar="KIND or TABLE",
            help="Choice of the nodes of a scope: a kind, or a TOML table such as '{kind = \"khop\", num_hops = 2}'.",
        ),
    ] = _DEFAULT,
    plot: Annotated[
        Path,
        typer.Option(metavar="FILE", callback=picture_file, help="Picture to write, .png, .svg or .pdf."),
    ] = Path("scope.png"),
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the scope.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Draw the scope of a node: a ring for each hop, size for the score, color and shape for the class.

    Nodes never touch, and the names of the 25 best ones are written where they overlap nothing. Colors show hops in a
    graph without classes.

    \b
    Examples:
      shadow draw debian gimp
      shadow draw my-graph 17 --extractor '{kind = "khop", num_hops = 2, fanout = 10}' --plot scope.pdf
    """
    from shadow_gnn.cli.shared.pairs import find_nodes
    from shadow_gnn.studies.analysis.scope_drawing import draw_scope
    from shadow_gnn.training.build import build_extractor
    from shadow_gnn.training.run_setup import open_recipe_graph

    made = build_extractor(extractor_option(extractor, "draw"), training=False)
    opened = open_recipe_graph(graph)
    (target,) = find_nodes(opened, [node], "draw")
    scope = made(opened, [target], seed=seed)[0]
    name = str(target) if opened.node_name is None else opened.node_name[target]
    count = len(scope.node_id)
    title = f"Scope of {name}: {count:,} node{'' if count == 1 else 's'} within {int(scope.hop.max())} hops"
    draw_scope(scope, plot, title=title, labels=_names(opened, scope), classes=_classes(opened, scope))
    if as_json:
        hops = [int((scope.hop == hop).sum()) for hop in range(int(scope.hop.max()) + 1)]
        print_json({"plot": plot, "node_id": target, "num_nodes": count, "nodes_by_hop": hops})
    else:
        typer.echo(f"{plot}: {title[0].lower()}{title[1:]}")


def _names(graph: Graph, scope: Subgraphs) -> list[str]:
    nodes = scope.node_id.tolist()
    return [str(node) for node in nodes] if graph.node_name is None else [graph.node_name[node] for node in nodes]


def _classes(graph: Graph, scope: Subgraphs) -> list[str] | None:
    """Return the class of each node of a scope by name; None if the graph has no classes."""
    if graph.y is None or graph.y.ndim != 1 or graph.y.dtype.kind not in "iu":
        return None
    names = graph.class_name
    return [
        "unknown" if label < 0 else f"class {label}" if names is None else names[label]
        for label in graph.y[scope.node_id].tolist()
    ]
