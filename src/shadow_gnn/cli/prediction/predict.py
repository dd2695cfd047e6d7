"""Predict: `shadow predict`, a table of predictions for nodes or pairs.

Not for: the work itself (inference/write_predictions.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import TARGETS_HELP, JsonOption, OtherScopesOption, RunArgument, RunGraphOption
from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.graph.record import Graph
    from shadow_gnn.inference.predictor import Predictor


def predict_command(
    run: RunArgument,
    out: Annotated[Path, typer.Option(help="Table to write, .parquet or .csv.")],
    targets: Annotated[
        str,
        typer.Option(help=f"Nodes: {TARGETS_HELP}"),
    ] = "all",
    pairs: Annotated[
        Path | None,
        typer.Option(help="Link prediction: file of pairs, two ids or names per line (.csv, .npy)."),
    ] = None,
    graph: RunGraphOption = None,
    new_nodes: Annotated[
        Path | None,
        typer.Option(
            help="Table of nodes that the graph does not have, with its columns; they are predicted, not kept."
        ),
    ] = None,
    new_edges: Annotated[
        Path | None, typer.Option(help="Table of edges that the graph does not have, among its nodes and new ones.")
    ] = None,
    extractor: OtherScopesOption = None,
    embedding: Annotated[bool, typer.Option("--embedding", help="Also write the embedding of each target.")] = False,
    no_probabilities: Annotated[
        bool, typer.Option("--no-probabilities", help="Leave out the probability of each class.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a table of predictions: row i is target i.

    Columns: node_id, node_name if the graph has names, class and class_name (label, value for other tasks),
    probability, embedding. Parquet holds the last two as lists, CSV as a column for each number. The file appears
    complete or not at all. The model also predicts on unseen graphs with the same features.

    Many nodes are predicted in disk-friendly order. After a kill, the same command resumes, and the table is the same
    as without the kill, to the last byte with the same number of threads, type of processor and versions.

    --extractor predicts on other scopes than those of training, with the same weights: also for a normal GNN, which
    then reads the scope of a target instead of the whole graph.

    A hybrid of `shadow train --graph` is predicted by the weighted mean of its models, in memory; training nodes by
    its model on scopes, which does not see their labels. --extractor gives scopes to the other models too.

    --new-nodes and --new-edges add rows to the graph for this command only, encoded as in its import (--nodes); the
    new nodes are then the targets, unless --targets names others.

    A link prediction model takes --pairs instead; columns: first_id, second_id (and names), probability. A known link
    between the two is hidden.

    \b
    Examples:
      shadow predict runs/recipe-1 --targets test --out predictions.parquet
      shadow predict runs/recipe-1 --targets 3,17 --out two.csv --embedding
      shadow predict runs/recipe-1 --targets torch.nn.functional --out one.csv
      shadow predict runs/recipe-1 --graph grown-graph --out all.parquet
      shadow predict runs/normal-1 --extractor '{kind = "ppr", topk = 200}' --out all.parquet
      shadow predict runs/recipe-1 --new-nodes new.csv --new-edges new-edges.csv --out new-predictions.csv
      shadow predict runs/links-1 --pairs pairs.csv --out links.csv
    """
    import time

    import pyarrow as pa

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.ranks import joined_ranks
    from shadow_gnn.cli.shared.trained import open_run_predictor, show_note
    from shadow_gnn.inference.hybrid import is_hybrid
    from shadow_gnn.inference.write_predictions import write_predictions

    # Arrow takes over Ctrl-C while it writes CSV: keep our own handler.
    pa.enable_signal_handlers(False)
    if is_hybrid(run):
        others = {"--pairs": pairs, "--new-nodes": new_nodes, "--new-edges": new_edges}
        for name, given in (*others.items(), ("--embedding", embedding or None)):
            if given is not None:
                raise ValueError(f"predict: {name} must be used with one model, such as {run / 'scopes'}, got a hybrid")
        _predict_hybrid(run, out, targets, graph, extractor, probabilities=not no_probabilities, as_json=as_json)
        return
    with joined_ranks() as ranks:
        warnings: list[str] = []
        grown = Growth(new_nodes, new_edges)
        predictor = open_run_predictor(run, graph, extractor, warnings=warnings, grow=grown.grow)
        begin = time.monotonic()
        chosen = grown.new_targets(targets) or _choose(predictor, targets, pairs)
        with progress_bar() as progress:
            num_before = write_predictions(
                out,
                predictor,
                chosen,
                probabilities=not no_probabilities,
                embedding=embedding,
                progress=progress,
                note=show_note,
                ranks=ranks,
            )
        if ranks.is_main:
            rate = (len(chosen) - num_before) / max(time.monotonic() - begin, 1e-9)
            if as_json:
                print_json(
                    {"out": out, "num_predictions": len(chosen), "targets_per_second": rate, "warnings": warnings}
                )
            else:
                typer.echo(f"{out}: {len(chosen):,} predictions, {rate:,.0f} targets/s")


def _predict_hybrid(
    run: Path,
    out: Path,
    targets: str,
    graph: str | None,
    extractor: str | None,
    *,
    probabilities: bool,
    as_json: bool,
) -> None:
    """Write the weighted mean of the models of a hybrid."""
    import time

    import numpy as np

    from shadow_gnn.cli.shared.options import extractor_option
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.targets import choose_targets
    from shadow_gnn.inference.hybrid import hybrid_recipes, open_hybrid, predict_hybrid
    from shadow_gnn.inference.table_file import check_out, write_table
    from shadow_gnn.training.run_setup import open_recipe_graph

    check_out(out)
    scopes = None if extractor is None else extractor_option(extractor, "predict")
    hybrid = open_hybrid(run)
    begin, opened = time.monotonic(), open_recipe_graph(graph or hybrid_recipes(run)["scopes"].graph)
    chosen = choose_targets("predict", opened, targets)
    nodes = np.arange(chosen) if isinstance(chosen, int) else chosen
    with progress_bar() as progress:
        found = predict_hybrid(hybrid, nodes, opened, progress, extractor=scopes)
    write_table(out, opened, found, probabilities=probabilities)
    rate = len(nodes) / max(time.monotonic() - begin, 1e-9)
    if as_json:
        print_json({"out": out, "num_predictions": len(nodes), "targets_per_second": rate, "warnings": []})
    else:
        typer.echo(f"{out}: {len(nodes):,} predictions, {rate:,.0f} targets/s")


@dataclass
class Growth:
    """Rows that are added to the graph for this command."""

    nodes: Path | None
    edges: Path | None
    targets: range = range(0)

    def grow(self, graph: Graph) -> Graph:
        """Return the graph with the new rows, and remember the new nodes."""
        from shadow_gnn.cli.data.append import append_files
        from shadow_gnn.cli.shared.trained import show_note

        if self.nodes is None and self.edges is None:
            return graph
        found = append_files(graph, self.nodes, self.edges, command="predict")
        for note in found.notes:
            show_note(note)
        self.targets = range(found.first, found.graph.num_nodes)
        return found.graph

    def new_targets(self, asked: str) -> range:
        """Return the new nodes, unless others are asked for."""
        return self.targets if asked == "all" else range(0)


def _choose(predictor: Predictor, targets: str, pairs: Path | None) -> NDArray[np.int64] | range:
    """Return the nodes or the pairs that the command names."""
    from shadow_gnn.cli.shared.pairs import read_pairs
    from shadow_gnn.cli.shared.targets import choose_targets

    if not predictor.is_links:
        if pairs is not None:
            kind = predictor.trained.config.target
            raise ValueError(f"predict: --pairs must be used with a link prediction model, this one predicts {kind}")
        chosen = choose_targets("predict", predictor.graph, targets)
        return range(chosen) if isinstance(chosen, int) else chosen
    if pairs is None:
        raise ValueError("predict: --pairs must name a file of pairs, as the model predicts links")
    return read_pairs(pairs, predictor.graph)
