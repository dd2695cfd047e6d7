"""Evaluate: `shadow evaluate`, how good the model of a run is.

Not for: the work itself (inference/loaders.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shadow_gnn.training.evaluate import Evaluation


def evaluate_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    split: Annotated[str, typer.Option(help="Split whose targets are predicted.")] = "test",
    graph: Annotated[
        str | None, typer.Option(help="Another graph with the same features.", show_default="the run's")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Show how good a trained model is on a split, also by the degree of the target.

    \b
    Examples:
      shadow evaluate runs/recipe-1
      shadow evaluate runs/recipe-1 --split valid --json
      shadow evaluate runs/recipe-1 --graph grown-graph
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.trained import open_trained
    from shadow_gnn.inference.loaders import evaluate_split

    keep_freed_memory()
    trained, opened = open_trained(run, graph)
    with progress_bar() as progress:
        found = evaluate_split(trained, opened, split, on_batch=lambda done, total: progress("evaluating", done, total))
    if as_json:
        _print_json(found)
    else:
        _print_tables(found, split)


def _print_json(found: Evaluation) -> None:
    import json
    import math
    from dataclasses import asdict

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, list):
            return [plain(part) for part in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    typer.echo(json.dumps(plain(asdict(found)), indent=1))


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
