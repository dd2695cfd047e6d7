"""Ensemble: `shadow ensemble`, the average of several runs or tables of predictions.

Not for: the work itself (inference/averaging.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from shadow_gnn.cli.shared.options import TARGETS_HELP, JsonOption
from shadow_gnn.cli.shared.output import number, print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.base.files import Progress
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.inference.averaging import Judged, Member
    from shadow_gnn.inference.predictions import Ints
    from shadow_gnn.tasks.task import Target


def ensemble_command(
    members: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders, or tables of shadow predict.")],
    out: Annotated[Path, typer.Option(help="Table to write, .parquet or .csv.")],
    weights: Annotated[
        Literal["equal", "valid"], typer.Option(help="Equal weights, or weights chosen on validation.")
    ] = "equal",
    targets: Annotated[
        str | None,
        typer.Option(
            help=f"Nodes to predict: {TARGETS_HELP}",
            show_default="all, or the tables'",
        ),
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="Graph to predict on, with labels to score by.", show_default="the runs'")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Average the probabilities (or values) of several runs and write them as one table.

    Runs may have different models if they predict the same classes on the same graph. A table of `shadow predict` can
    replace a run. The scores of each model and of the average are shown for validation and test. With --weights valid,
    models are added one by one, also repeatedly, while the score on validation improves (ensemble selection).

    \b
    Examples:
      shadow ensemble runs/deep-1 runs/deep-2 --out joined.parquet
      shadow ensemble runs/many/repeat-* --weights valid --out joined.csv
      shadow ensemble runs/deep-1 corrected.parquet --out joined.parquet
      shadow ensemble a.parquet b.parquet --graph my-graph --out joined.parquet
    """
    import pyarrow as pa

    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.inference.averaging import check_members, chosen_weights, join
    from shadow_gnn.inference.table_file import check_out, write_table
    from shadow_gnn.tasks.metrics import METRICS

    check_out(out)
    # Arrow takes over Ctrl-C while it writes CSV: keep our own handler.
    pa.enable_signal_handlers(False)
    keep_freed_memory()
    with progress_bar() as progress:
        found = [_open(path, graph, progress) for path in _runs(members)]
        check_members(found)
        judge = _judge(found, graph)
        chosen = _choose_targets(found, judge, targets)
        joined = join(found, judge, chosen, choose=chosen_weights if weights == "valid" else None)
    count = write_table(out, judge, joined.predictions)
    metric = METRICS[joined.predictions.kind][0]
    if as_json:
        print_json({"metric": metric, "models": joined.models, "average": joined.whole})
        return
    _print_table([*joined.models, joined.whole], metric)
    typer.echo(f"{out}: {count:,} predictions")


def _runs(members: list[Path]) -> list[Path]:
    """Return the runs and tables to average: a hybrid stands for its models."""
    from shadow_gnn.inference.hybrid import hybrid_recipes, is_hybrid

    return [
        part
        for path in members
        for part in ([path / name for name in hybrid_recipes(path)] if is_hybrid(path) else [path])
    ]


def _open(path: Path, graph_name: str | None, progress: Progress) -> Member:
    """Open a run folder with its graph, or a table."""
    from dataclasses import replace

    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.inference.averaging import Member
    from shadow_gnn.inference.evaluation import check_judged
    from shadow_gnn.inference.members import run_member
    from shadow_gnn.inference.table_file import read_table

    if not path.is_dir():
        table, fingerprint = read_table(path)
        target = cast("Target", table.kind)
        return Member(
            str(path),
            target,
            table.scores.shape[1],
            lambda _: table.scores,
            fingerprint=fingerprint,
            node_id=table.targets,
            class_names=table.class_names,
        )
    predictor = open_run_predictor(path, graph_name)
    check_judged(predictor)
    return replace(run_member(path.name, predictor, progress), name=str(path))


def _judge(members: list[Member], graph_name: str | None) -> Graph:
    """Return the graph with the labels and splits; tables must have been predicted on it."""
    from shadow_gnn.training.run_setup import open_recipe_graph

    graphs = [member.graph for member in members if member.graph is not None]
    if not graphs and graph_name is None:
        raise ValueError("ensemble: --graph must be given for tables alone, which do not name their graph's folder")
    graph = graphs[0] if graphs else open_recipe_graph(str(graph_name))
    for member in members:
        if member.fingerprint not in (None, graph.fingerprint):
            raise ValueError(f"ensemble: {member.name} must be of the graph {graph.path}, its edges differ")
    return graph


def _choose_targets(members: list[Member], graph: Graph, text: str | None) -> Ints:
    """Return the nodes that --targets names, or those of the tables."""
    import numpy as np

    from shadow_gnn.cli.shared.targets import choose_targets
    from shadow_gnn.extract.core_calls import check_targets

    table = next((member for member in members if member.node_id is not None), None)
    if table is None:
        chosen = choose_targets("ensemble", graph, text or "all")
        return np.arange(chosen) if isinstance(chosen, int) else chosen
    if text is not None:
        raise ValueError(f"ensemble: --targets must be used without tables, {table.name} has its own")
    assert table.node_id is not None
    return check_targets(graph, table.node_id, f"ensemble: {table.name}")[:, 0]


def _print_table(rows: list[Judged], metric: str) -> None:
    cells = [(row.name, f"{row.weight:.3f}", number(row.valid), number(row.test)) for row in rows]
    print_table(("model", "weight", f"valid {metric}", f"test {metric}"), cells)
