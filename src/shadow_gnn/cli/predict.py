"""Predict: `shadow predict`, a table of what the model of a run says of targets.

Not for: the work itself (predictions.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def predict_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(help="Table to write, .parquet or .csv.")],
    targets: Annotated[
        str,
        typer.Option(help="Which nodes: all, a split's name, a file (.npy, or one id per line), or ids such as 3,17."),
    ] = "all",
    graph: Annotated[
        str | None, typer.Option(help="Another graph with the same features.", show_default="the run's")
    ] = None,
    embedding: Annotated[bool, typer.Option("--embedding", help="Also write the embedding of each target.")] = False,
    no_probabilities: Annotated[
        bool, typer.Option("--no-probabilities", help="Leave out the probability of each class.")
    ] = False,
) -> None:
    """Write a table of predictions: row i is target i.

    Columns: node_id, node_name if the graph has names, class and class_name (label, value for other tasks),
    probability, embedding. Parquet holds the last two as lists, CSV as a column for each number. The file appears whole
    or not at all. The model also predicts on a graph that it has not seen, as long as the features are the same.

    \b
    Examples:
      shadow predict runs/recipe-1 --targets test --out predictions.parquet
      shadow predict runs/recipe-1 --targets 3,17 --out two.csv --embedding
      shadow predict runs/recipe-1 --graph grown-graph --out all.parquet
    """
    import pyarrow as pa

    from shadow_gnn.allocator import keep_freed_memory
    from shadow_gnn.cli.progress import progress_bar
    from shadow_gnn.cli.targets import choose_targets
    from shadow_gnn.cli.trained import open_trained
    from shadow_gnn.predictions import PredictionOptions, write_predictions

    # Arrow takes over Ctrl-C while it writes CSV; ours stay in charge.
    pa.enable_signal_handlers(False)
    keep_freed_memory()
    trained, opened = open_trained(run, graph)
    chosen = choose_targets("predict", opened, targets)
    options = PredictionOptions(probabilities=not no_probabilities, embedding=embedding)
    with progress_bar() as progress:
        nodes = range(chosen) if isinstance(chosen, int) else chosen
        count = write_predictions(out, trained, opened, nodes, options, progress=progress)
    typer.echo(f"{out}: {count:,} predictions")
