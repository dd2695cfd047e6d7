"""Report: the tables of `shadow evaluate --report`.

Not for: the numbers themselves (tasks/report.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

from shadow_gnn.cli.shared.output import number, print_table

if TYPE_CHECKING:
    from shadow_gnn.tasks.report import Report

_MOST_PAIRS = 10


def print_report(report: Report) -> None:
    """Print classes, confusions, calibration and errors as tables."""
    if report.calibration is not None:
        _print_classes(report)
        _print_calibration(report)
    if report.errors:
        heads = ("node_id", "node_name", "label", "predicted", "error" if report.kind == "values" else "probability")
        rows = [
            (str(error.node_id), error.node_name or "", error.label, error.predicted, number(error.surety))
            for error in report.errors
        ]
        kept = [place for place, head in enumerate(heads) if head != "node_name" or report.errors[0].node_name]
        title = "largest errors" if report.kind == "values" else "surest errors"
        cells = [[row[place] for place in kept] for row in rows]
        texts = ("node_name", "label", "predicted")
        print_table([heads[place] for place in kept], cells, text_columns=texts, title=title)


def _print_classes(report: Report) -> None:
    columns = (report.precision, report.recall, report.f1, report.roc_auc)
    rows = []
    for place, name in enumerate(report.class_names):
        values = (number(None if math.isnan(column[place]) else float(column[place])) for column in columns)
        rows.append((name, *values, f"{report.count[place]:,}", f"{report.predicted_count[place]:,}"))
    heads = ("class", "precision", "recall", "f1", "ROC-AUC", "targets", "predicted")
    print_table(heads, rows, title="by class")
    pairs = [(known, predicted, f"{count:,}") for known, predicted, count in report.confusions(_MOST_PAIRS)]
    if pairs:
        print_table(("label", "predicted", "targets"), pairs, text_columns=("predicted",), title="confusions")


def _print_calibration(report: Report) -> None:
    found = report.calibration
    assert found is not None
    rows = [
        (f"{low:.1f} to {low + 1 / len(found.low):.1f}", f"{count:,}", number(probability), number(share))
        for low, count, probability, share in zip(
            found.low, found.count, found.probability, found.share_right, strict=True
        )
        if count
    ]
    print_table(("probability", "predictions", "mean", "right"), rows, title="calibration")
    typer.echo(f"calibration error {number(found.error)}, mean ROC-AUC {number(report.mean_roc_auc)}")
