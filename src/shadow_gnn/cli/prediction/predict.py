"""Predict: `shadow predict`, a table of what the model of a run says of targets.

Not for: the work itself (inference/node_predictions.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.inference.node_predictions import Predicted, PredictionOptions
    from shadow_gnn.training.model_file import TrainedModel


def predict_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(help="Table to write, .parquet or .csv.")],
    targets: Annotated[
        str,
        typer.Option(help="Which nodes: all, a split's name, a file (.npy, or one id per line), or ids such as 3,17."),
    ] = "all",
    pairs: Annotated[
        Path | None,
        typer.Option(help="For a model of links: the pairs, a file with two ids or names per line (.csv, .npy)."),
    ] = None,
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

    Many targets are worked on in an order in which neighbours share what is read. Killed or stopped, the same command
    goes on with what was done; the table is the same as if it had not been, to the last byte with the same number of
    threads, type of processor and versions.

    A model of links takes --pairs instead: columns first_id, second_id (and names), probability. A link between the two
    that the graph has is hidden.

    \b
    Examples:
      shadow predict runs/recipe-1 --targets test --out predictions.parquet
      shadow predict runs/recipe-1 --targets 3,17 --out two.csv --embedding
      shadow predict runs/recipe-1 --graph grown-graph --out all.parquet
      shadow predict runs/links-1 --pairs pairs.csv --out links.csv
    """
    import pyarrow as pa

    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.ranks import joined_ranks
    from shadow_gnn.cli.shared.trained import open_trained
    from shadow_gnn.inference.node_predictions import PredictionOptions

    # Arrow takes over Ctrl-C while it writes CSV; ours stay in charge.
    pa.enable_signal_handlers(False)
    with joined_ranks() as ranks:
        keep_freed_memory()
        trained, opened = open_trained(run, graph)
        if trained.config.target == "links" or pairs is not None:
            done = _predict_pairs(out, trained, opened, pairs, ranks)
        else:
            options = PredictionOptions(probabilities=not no_probabilities, embedding=embedding)
            done = _predict_nodes(out, trained, opened, targets, options, ranks)
        if ranks.is_main:
            typer.echo(f"{out}: {done.num_targets:,} predictions, {done.rate:,.0f} targets/s")


def _predict_nodes(
    out: Path, trained: TrainedModel, graph: Graph, targets: str, options: PredictionOptions, ranks: Ranks
) -> Predicted:
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.targets import choose_targets
    from shadow_gnn.inference.node_predictions import write_predictions

    chosen = choose_targets("predict", graph, targets)
    nodes = range(chosen) if isinstance(chosen, int) else chosen
    with progress_bar() as progress:
        return write_predictions(out, trained, graph, nodes, options, progress=progress, note=_note, ranks=ranks)


def _note(line: str) -> None:
    typer.echo(f"note: {line}", err=True)


def _predict_pairs(out: Path, trained: TrainedModel, graph: Graph, pairs: Path | None, ranks: Ranks) -> Predicted:
    import time

    from shadow_gnn.cli.shared.pairs import read_pairs
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.inference.node_predictions import Predicted
    from shadow_gnn.inference.pair_predictions import write_pair_predictions

    begin = time.monotonic()
    if trained.config.target != "links":
        raise ValueError(f"predict: --pairs must go with a model of links, this one predicts {trained.config.target}")
    if pairs is None:
        raise ValueError("predict: --pairs must name a file of pairs, as the model predicts links")
    given = read_pairs(pairs, graph)
    with progress_bar() as progress:
        count = write_pair_predictions(out, trained, graph, given, progress=progress, ranks=ranks)
    return Predicted(count, 0, time.monotonic() - begin)
