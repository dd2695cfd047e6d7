"""The figure of a report."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from shadow_gnn.studies.report_plot import plot_report
from shadow_gnn.tasks.report import Judged, make_report


@pytest.mark.parametrize("width", [3, 40])
def test_figure_shows_confusions_and_calibration(width: int) -> None:
    rng = np.random.default_rng(0)
    probability = rng.dirichlet(np.ones(width), size=200).astype(np.float32)
    judged = Judged(np.arange(200), rng.integers(0, width, 200), probability.argmax(axis=1), probability)
    figure = plot_report(make_report("classes", judged, [f"class {number}" for number in range(width)]))
    assert isinstance(figure, Figure)
    assert len(figure.axes[0].get_xticklabels()) == min(width, 30)
    assert figure.axes[1].get_title().startswith("calibration error 0.")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    assert b"class 0" in buffer.getvalue() or buffer.getvalue().startswith(b"<?xml")


def test_figure_of_labels_has_bars_for_each() -> None:
    probability = np.array([[0.9, 0.2], [0.4, 0.6]], np.float32)
    judged = Judged(np.arange(2), np.array([[1, 1], [0, 0]]), (probability > 0.5).astype(np.uint8), probability)
    figure = plot_report(make_report("multilabel", judged, ("a", "b")))
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["a", "b"]


def test_values_have_no_figure() -> None:
    judged = Judged(np.arange(2), np.array([1.0, 2]), np.array([1.0, 2.5]), None)
    with pytest.raises(ValueError, match=r"^plot_report: report must be of classes or labels, got one of values$"):
        plot_report(make_report("values", judged, None))
