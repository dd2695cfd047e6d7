"""Trained: the model of a run and the graph to use it on, as `shadow evaluate` and `shadow predict` name them.

Not for: what is done with them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.training.model_file import TrainedModel


def open_trained(folder: Path, graph_name: str | None) -> tuple[TrainedModel, Graph]:
    """Open a run's model with the graph it was trained on or another one; a changed graph is worth a line."""
    from shadow_gnn.base.bf16 import use_working_kernels
    from shadow_gnn.base.errors import RunError
    from shadow_gnn.training.model_file import CONFIG, read_config, read_model
    from shadow_gnn.training.run_setup import open_recipe_graph
    from shadow_gnn.training.runs.folder import RECORD, REPEATS, check_graph, open_run

    if (folder / REPEATS).exists():
        raise RunError(f"{folder}: holds several repeats; name one of them, such as {folder / 'repeat-0'}")
    if (folder / RECORD).exists() and not (folder / CONFIG).exists():
        raise RunError(f"{folder}: is not finished; go on with shadow resume {folder}")
    if read_config(folder).precision == "bf16":
        use_working_kernels()
    trained = read_model(folder)
    if graph_name is not None:
        return trained, open_recipe_graph(graph_name)
    run = open_run(folder)
    graph = open_recipe_graph(run.recipe.graph)
    try:
        check_graph(run, graph)
    except RunError:
        typer.echo(f"note: {graph.path} has changed since the model was trained on it", err=True)
    return trained, graph
