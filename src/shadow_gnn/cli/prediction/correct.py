"""Correct: `shadow correct`, Correct & Smooth on the predictions of a run.

Not for: the work itself (inference/correct_and_smooth.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.graph.record import Graph
    from shadow_gnn.inference.correct_and_smooth import Chosen, Grid
    from shadow_gnn.training.model_file import TrainedModel


def correct_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path | None, typer.Option(help="Table of all nodes to write, .parquet or .csv.")] = None,
    num_correction_layers: Annotated[
        int | None, typer.Option(help="Steps that spread the errors of training nodes; 0 leaves correction out.")
    ] = None,
    correction_alpha: Annotated[float | None, typer.Option(help="Share of each step from the neighbours.")] = None,
    num_smoothing_layers: Annotated[
        int | None, typer.Option(help="Steps that smooth the corrected predictions; 0 leaves smoothing out.")
    ] = None,
    smoothing_alpha: Annotated[float | None, typer.Option(help="Share of each step from the neighbours.")] = None,
    autoscale: Annotated[
        bool | None, typer.Option("--autoscale/--no-autoscale", help="Scale corrections to the mean training error.")
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Factor of the corrections, without autoscale.")] = None,
) -> None:
    """Correct and smooth the predictions of a run with the labels of its training nodes.

    The model predicts all nodes; its errors on training nodes are spread along the edges and taken off (correct), then
    predictions and training labels are spread together (smooth). What is not given on the line is chosen on validation
    from a small grid, in which leaving things as they are comes first; labels of validation and test nodes are never
    spread. The run itself stays as it is. For classes alone.

    \b
    Examples:
      shadow correct runs/recipe-1
      shadow correct runs/recipe-1 --out corrected.parquet
      shadow correct runs/recipe-1 --correction-alpha 0.95 --num-smoothing-layers 0 --scale 1.5
    """
    import pyarrow as pa

    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.trained import open_trained
    from shadow_gnn.inference.correct_and_smooth import Given, make_grid
    from shadow_gnn.inference.node_predictions import Answer, check_out, write_scores

    given = Given(
        num_correction_layers, correction_alpha, num_smoothing_layers, smoothing_alpha, autoscale=autoscale, scale=scale
    )
    if out is not None:
        check_out(out)
    # Arrow takes over Ctrl-C while it writes CSV; ours stay in charge.
    pa.enable_signal_handlers(False)
    keep_freed_memory()
    trained, graph = open_trained(run, None)
    config = trained.config
    if config.target != "classes":
        raise ValueError(f"correct: {run} must predict one class per node, it predicts {config.target}")
    found = _correct(trained, graph, make_grid(given))
    if out is not None:
        import numpy as np

        answer = Answer(config.target, config.out_dim, config.class_names)
        count = write_scores(out, graph, np.arange(graph.num_nodes), found.probability, answer)
        typer.echo(f"{out}: {count:,} predictions")


def _correct(trained: TrainedModel, graph: Graph, grid: Grid) -> Chosen:
    import numpy as np

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.inference.correct_and_smooth import correct_and_smooth
    from shadow_gnn.inference.saved import node_scores
    from shadow_gnn.tasks.task import split_targets

    train, valid = split_targets(graph, "train"), split_targets(graph, "valid")
    with progress_bar() as progress:
        before = node_scores(
            trained,
            graph,
            np.arange(graph.num_nodes),
            on_batch=lambda done, total: progress("predicting", done, total),
        )
        found = correct_and_smooth(graph, before, train, valid, grid, progress=progress)
    correct, smooth = found.correct, found.smooth
    way = "autoscale" if correct.autoscale else f"scale {correct.scale:g}"
    first = f"{correct.num_layers} layers, alpha {correct.alpha:g}, {way}" if correct.num_layers else "left out"
    second = f"{smooth.num_layers} layers, alpha {smooth.alpha:g}" if smooth.num_layers else "left out"
    chosen = f"best of {found.num_tried} on validation" if found.num_tried > 1 else "as given"
    typer.echo(f"correct: {first}\nsmooth: {second}\n({chosen})")
    for split in ("valid", "test"):
        if split in graph.splits:
            nodes = split_targets(graph, split)
            values = [_accuracy(graph, part, nodes) for part in (before, found.probability)]
            typer.echo(f"{split} accuracy {values[0]:.4f} before, {values[1]:.4f} after, {len(nodes):,} targets")
    return found


def _accuracy(graph: Graph, probability: NDArray[np.float32], nodes: NDArray[np.int64]) -> float:
    from shadow_gnn.inference.saved import labels_of

    return float((probability[nodes].argmax(axis=1) == labels_of(graph, nodes)).mean())
