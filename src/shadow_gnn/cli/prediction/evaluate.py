"""Evaluate: `shadow evaluate`, how good the model of a run is.

Not for: the work itself (inference/evaluation.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.output import JsonOption, print_json
from shadow_gnn.cli.shared.trained import GraphOption, RunArgument

if TYPE_CHECKING:
    from shadow_gnn.training.evaluate import Evaluation


def evaluate_command(
    run: RunArgument,
    split: Annotated[str, typer.Option(help="Split whose targets are predicted.")] = "test",
    graph: GraphOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how good a trained model is on a split, also by the degree of the target.

    \b
    Examples:
      shadow evaluate runs/recipe-1
      shadow evaluate runs/recipe-1 --split valid --json
      shadow evaluate runs/recipe-1 --graph grown-graph
    """
    from dataclasses import asdict

    from shadow_gnn.base.progress_bar import progress_bar
    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.inference.evaluation import evaluate_split

    predictor = open_run_predictor(run, graph)
    with progress_bar() as progress:
        found = evaluate_split(predictor, split, progress=progress)
    if as_json:
        print_json(asdict(found))
    else:
        _print_tables(found, split)


def _print_tables(found: Evaluation, split: str) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    metrics = Table(box=None, pad_edge=False, title=f"{split}, {found.num_targets:,} targets", title_justify="left")
    degrees = Table(box=None, pad_edge=False, title="by degree of the target", title_justify="left")
    for name in found.metrics:
        metrics.add_column(name, justify="right")
    metrics.add_row(*(f"{value:.4f}" for value in found.metrics.values()))
    for name in ("degree", "targets", next(iter(found.metrics))):
        degrees.add_column(name, justify="right")
    for bucket in found.by_degree:
        label = str(bucket.low) if bucket.low == bucket.high else f"{bucket.low:,} to {bucket.high:,}"
        degrees.add_row(label, f"{bucket.count:,}", f"{bucket.value:.4f}")
    console.print(metrics)
    if found.by_degree:
        console.print(degrees)
