"""Evaluate: `shadow evaluate`, the metrics of a run's model on a split.

Not for: the work itself (inference/evaluation.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.prediction.report import print_report
from shadow_gnn.cli.shared.options import JsonOption, OtherScopesOption, PlotOption, RunArgument, RunGraphOption
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.training.evaluate import Evaluation


def evaluate_command(
    run: RunArgument,
    split: Annotated[str, typer.Option("--targets", help="Targets to predict: the name of a split.")] = "test",
    graph: RunGraphOption = None,
    extractor: OtherScopesOption = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also show each class, calibration, and the surest errors by name.")
    ] = False,
    errors: Annotated[int, typer.Option(min=0, max=100_000, help="Errors that --report lists.")] = 10,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the metrics of a trained model on a split, also by the degree of the target.

    --extractor gives the metrics on other scopes than those of training, with the same weights: also for a normal GNN,
    which then reads the scope of a target instead of the whole graph.

    A hybrid of `shadow train --graph` has the metrics of the weighted mean of its models; --extractor gives scopes
    to its normal GNNs too, as in `shadow serve`.

    --report lists precision, recall, F1 and ROC-AUC of each class, confusions, calibration and the surest errors;
    --plot draws confusions and calibration.

    \b
    Examples:
      shadow evaluate runs/recipe-1
      shadow evaluate runs/recipe-1 --targets valid --json
      shadow evaluate runs/recipe-1 --report --errors 20 --plot report.svg
      shadow evaluate runs/recipe-1 --graph grown-graph
      shadow evaluate runs/normal-1 --extractor '{kind = "ppr", topk = 200}'
    """
    from dataclasses import fields

    from shadow_gnn.cli.shared.options import extractor_option
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.inference.evaluation import evaluate_split
    from shadow_gnn.inference.hybrid import evaluate_hybrid, is_hybrid, open_hybrid

    warnings: list[str] = []
    if is_hybrid(run):
        for name, given in (("--report", report or None), ("--plot", plot)):
            if given is not None:
                raise ValueError(
                    f"evaluate: {name} must be used with one model, such as {run / 'scopes'}, got a hybrid"
                )
        with progress_bar() as progress:
            scopes = None if extractor is None else extractor_option(extractor, "evaluate")
            found = evaluate_hybrid(open_hybrid(run), split, graph, progress, extractor=scopes)
    else:
        predictor = open_run_predictor(run, graph, extractor, command="evaluate", warnings=warnings)
        with progress_bar() as progress:
            found = evaluate_split(
                predictor, split, report=report or plot is not None, most_errors=errors, progress=progress
            )
    if plot is not None and found.report is not None:
        from shadow_gnn.studies.report_plot import plot_report

        plot_report(found.report, plot)
    if as_json:
        content = {field.name: getattr(found, field.name) for field in fields(found)}
        content["report"] = None if found.report is None else found.report.to_json()
        print_json({**content, "warnings": warnings})
    else:
        _print_tables(found, split)
        if report and found.report is not None:
            print_report(found.report)


def _print_tables(found: Evaluation, split: str) -> None:
    values = [f"{value:.4f}" for value in found.metrics.values()]
    print_table(list(found.metrics), [values], title=f"{split}, {found.num_targets:,} targets")
    rows = []
    for bucket in found.by_degree:
        label = str(bucket.low) if bucket.low == bucket.high else f"{bucket.low:,} to {bucket.high:,}"
        rows.append((label, f"{bucket.count:,}", f"{bucket.value:.4f}"))
    if rows:
        print_table(("degree", "targets", next(iter(found.metrics))), rows, title="by degree of the target")
