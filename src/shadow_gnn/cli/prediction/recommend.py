"""Recommend: `shadow recommend`, the most likely new neighbors of a node.

Not for: the work itself (inference/recommendations.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.existing import existing_run
from shadow_gnn.cli.shared.options import JsonOption, RunGraphOption
from shadow_gnn.cli.shared.output import print_json, print_table


def recommend_command(
    run: Annotated[Path, typer.Argument(callback=existing_run, help="Run folder of a link prediction model.")],
    node: Annotated[str, typer.Option(help="Name or id of a node.")],
    top: Annotated[int, typer.Option(help="Most nodes to recommend.")] = 20,
    candidates: Annotated[
        int, typer.Option(help="Nodes to score, those with the highest personalized PageRank.")
    ] = 500,
    graph: RunGraphOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the most likely new neighbors of a node, the best first.

    Nodes with a known link to the node are left out.

    \b
    Examples:
      shadow recommend runs/links-1 --node 17
      shadow recommend runs/links-1 --node YDR382W --top 5 --json
    """
    from shadow_gnn.cli.shared.pairs import find_nodes
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.inference.recommendations import recommend

    predictor = open_run_predictor(run, graph)
    if not predictor.is_links:
        kind = predictor.trained.config.target
        raise ValueError(f"recommend: run must be of a link prediction model, this one predicts {kind}")
    (chosen,) = find_nodes(predictor.graph, [node], "recommend")
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
        typer.echo(f"node {node}: nothing to recommend: every node that a path leads to has a known link")
    else:
        cells = [[f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
        print_table(list(rows[0]), cells, text_columns=("node_name",))
        typer.echo(f"{len(rows):,} of {found.num_candidates:,} candidates")
