"""Correct: `shadow correct`, Correct & Smooth on the predictions of a run.

Not for: the work itself (inference/correct_and_smooth.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption, RunArgument
from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.graph.record import Graph
    from shadow_gnn.inference.correct_and_smooth import Chosen, Grid
    from shadow_gnn.inference.predictor import Predictor


def correct_command(
    run: RunArgument,
    out: Annotated[Path | None, typer.Option(help="Table of all nodes to write, .parquet or .csv.")] = None,
    num_correction_layers: Annotated[
        int | None, typer.Option(help="Steps that spread the errors of training nodes; 0 for no correction.")
    ] = None,
    correction_alpha: Annotated[float | None, typer.Option(help="Share of the neighbors in each step.")] = None,
    num_smoothing_layers: Annotated[
        int | None, typer.Option(help="Steps that smooth the corrected predictions; 0 for no smoothing.")
    ] = None,
    smoothing_alpha: Annotated[float | None, typer.Option(help="Share of the neighbors in each step.")] = None,
    autoscale: Annotated[
        bool | None, typer.Option("--autoscale/--no-autoscale", help="Scale corrections to the mean training error.")
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Factor of the corrections, without autoscale.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Correct and smooth the predictions of a run with the labels of its training nodes.

    The model predicts all nodes; its errors on training nodes are spread along the edges and subtracted (correct), then
    predictions and training labels are spread together (smooth). Missing options are chosen on validation from a small
    grid, which includes no change at all. Labels of validation and test nodes are never spread, and the run itself is
    not changed. The run must predict one class per node.

    \b
    Examples:
      shadow correct runs/recipe-1
      shadow correct runs/recipe-1 --out corrected.parquet
      shadow correct runs/recipe-1 --correction-alpha 0.95 --num-smoothing-layers 0 --scale 1.5
    """
    import numpy as np
    import pyarrow as pa

    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.inference.correct_and_smooth import Given, make_grid
    from shadow_gnn.inference.evaluation import check_judged
    from shadow_gnn.inference.table_file import check_out, predictions_of, write_table

    given = Given(
        num_correction_layers, correction_alpha, num_smoothing_layers, smoothing_alpha, autoscale=autoscale, scale=scale
    )
    if out is not None:
        check_out(out)
    # Arrow takes over Ctrl-C while it writes CSV: keep our own handler.
    pa.enable_signal_handlers(False)
    predictor = open_run_predictor(run, None)
    config, graph = predictor.trained.config, predictor.graph
    if config.target != "classes":
        raise ValueError(f"correct: {run} must predict one class per node, it predicts {config.target}")
    check_judged(predictor)
    before, found = _correct(predictor, make_grid(given))
    accuracy = _accuracies(graph, before, found.probability)
    if out is not None:
        nodes = np.arange(graph.num_nodes)
        write_table(out, graph, predictions_of("classes", nodes, found.probability, graph, config.class_names))
    if as_json:
        chosen = {"correct": found.correct, "smooth": found.smooth, "num_tried": found.num_tried}
        print_json({**chosen, **accuracy})
        return
    _show(found, accuracy)
    if out is not None:
        typer.echo(f"{out}: {graph.num_nodes:,} predictions")


def _correct(predictor: Predictor, grid: Grid) -> tuple[NDArray[np.float32], Chosen]:
    """Return the probabilities of all nodes before, and the outcome of the correction."""
    import numpy as np

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.inference.correct_and_smooth import correct_and_smooth
    from shadow_gnn.tasks.task import split_targets

    graph = predictor.graph
    train, valid = split_targets(graph, "train"), split_targets(graph, "valid")
    with progress_bar() as progress:
        before = np.concatenate([block.scores for block in predictor.blocks(range(graph.num_nodes), progress=progress)])
        return before, correct_and_smooth(graph, before, train, valid, grid, progress=progress)


def _accuracies(graph: Graph, *parts: NDArray[np.float32]) -> dict[str, dict[str, float]]:
    """Return the number of targets and the accuracy before and after, for validation and test."""
    from shadow_gnn.inference.evaluation import labels_of
    from shadow_gnn.tasks.task import split_targets

    found: dict[str, dict[str, float]] = {}
    for split in ("valid", "test"):
        if split in graph.splits:
            nodes = split_targets(graph, split)
            before, after = (float((part[nodes].argmax(axis=1) == labels_of(graph, nodes)).mean()) for part in parts)
            found[split] = {"before": before, "after": after, "num_targets": len(nodes)}
    return found


def _show(found: Chosen, accuracy: dict[str, dict[str, float]]) -> None:
    correct, smooth = found.correct, found.smooth
    way = "autoscale" if correct.autoscale else f"scale {correct.scale:g}"
    first = f"{correct.num_layers} layers, alpha {correct.alpha:g}, {way}" if correct.num_layers else "left out"
    second = f"{smooth.num_layers} layers, alpha {smooth.alpha:g}" if smooth.num_layers else "left out"
    chosen = f"best of {found.num_tried} on validation" if found.num_tried > 1 else "as given"
    typer.echo(f"correct: {first}\nsmooth: {second}\n({chosen})")
    for split, values in accuracy.items():
        both = f"{values['before']:.4f} before, {values['after']:.4f} after"
        typer.echo(f"{split} accuracy {both}, {values['num_targets']:,} targets")
