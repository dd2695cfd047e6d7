"""Recommend: `shadow recommend`, the nodes that a node is most likely to be linked with.

Not for: the work itself (inference/recommendations.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.output import JsonOption, print_json
from shadow_gnn.cli.shared.trained import GraphOption


def recommend_command(
    run: Annotated[Path, typer.Argument(help="Run folder of a model of links.")],
    node: Annotated[str, typer.Option(help="The node: its id, or its name if the graph has names.")],
    top: Annotated[int, typer.Option(help="Most nodes to recommend.")] = 20,
    candidates: Annotated[int, typer.Option(help="Nodes of highest personalised PageRank that are scored.")] = 500,
    graph: GraphOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the nodes that a node is most likely linked with, the best first.

    Nodes with a known link to it are left out.

    \b
    Examples:
      shadow recommend runs/links-1 --node 17
      shadow recommend runs/links-1 --node YDR382W --top 5 --json
    """
    from shadow_gnn.base.progress_bar import progress_bar
    from shadow_gnn.cli.shared.pairs import find_node
    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.inference.recommendations import recommend

    predictor = open_run_predictor(run, graph)
    if not predictor.is_links:
        kind = predictor.trained.config.target
        raise ValueError(f"recommend: run must be of a model of links, this one predicts {kind}")
    chosen = find_node(predictor.graph, node)
    with progress_bar() as progress:
        found = recommend(predictor, chosen, top=top, num_candidates=candidates, progress=progress)
    names = predictor.graph.node_name
    rows = [
        {"node_id": node_id, **({} if names is None else {"node_name": names[node_id]}), "probability": probability}
        for node_id, probability in zip(found.node_id.tolist(), found.probability.tolist(), strict=True)
    ]
    if as_json:
        print_json(rows)
    elif not rows:
        typer.echo(f"node {node}: nothing to recommend, no path leads to a node without a known link to it")
    else:
        _print_table(rows, found.num_candidates)


def _print_table(rows: list[dict[str, object]], num_candidates: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "node_name" else "right")
    for row in rows:
        table.add_row(*(f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()))
    console = Console(highlight=False)
    console.print(table)
    console.print(f"{len(rows):,} of {num_candidates:,} candidates")
