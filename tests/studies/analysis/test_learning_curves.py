"""Learning curves: what is read from a run's metrics, and that the picture shows it."""

import math

import pytest
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.base.errors import SourceError
from shadow_gnn.studies.analysis.learning_curves import Curve, plot_learning_curves, read_curve
from shadow_gnn.training.runs.run import RunOptions, train_recipe

METRICS = """\
epoch,loss,train_accuracy,valid_accuracy,valid_macro_f1,learning_rate,seconds
1,2.5,0.25,,,0.01,1.5
2,1.5,0.5,0.75,0.5,0.01,2.0
"""


def test_reads_the_monitored_metric_of_each_epoch(tmp_path):
    (tmp_path / "metrics.csv").write_text(METRICS)
    curve = read_curve(tmp_path)
    assert (curve.metric, curve.epoch, curve.train, curve.loss) == ("accuracy", (1, 2), (0.25, 0.5), (2.5, 1.5))
    assert math.isnan(curve.valid[0])
    assert curve.valid[1] == 0.75
    assert curve.seconds == (1.5, 3.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file"),
        ("", "must have the columns"),
        ("epoch,loss,train_accuracy,valid_accuracy,seconds\n", "at least one row"),
        ("epoch,loss,train_mae,valid_accuracy\n1,2,3,4\n", "must have the columns"),
        ("epoch,loss,train_accuracy,valid_accuracy,seconds\n1,2,much,4,5\n", "must hold numbers"),
        ("epoch,loss,train_accuracy,valid_accuracy,seconds\n,2,1,4,5\n", "must hold numbers"),
    ],
)
def test_faults_of_the_file_name_it(tmp_path, text, message):
    if text is not None:
        (tmp_path / "metrics.csv").write_text(text)
    with pytest.raises(SourceError, match=rf"metrics\.csv: .*{message}"):
        read_curve(tmp_path)


def test_draws_a_png_of_several_runs(tmp_path):
    long = Curve("accuracy", (1, 2, 3), (0.1, 0.2, 0.3), (0.1, math.nan, 0.2), (3.0, 2.0, 1.0), (1.0, 2.0, 3.0))
    short = Curve("accuracy", (1,), (0.5,), (0.4,), (1.0,), (2.5,))
    plot_learning_curves({"long": long, "short": short}, tmp_path / "both.png", title="two")
    plot_learning_curves({"long": long}, tmp_path / "one.png")
    both, one = (tmp_path / "both.png").read_bytes(), (tmp_path / "one.png").read_bytes()
    assert both[:8] == b"\x89PNG\r\n\x1a\n"
    assert both != one


def test_an_axis_of_seconds_puts_epochs_where_they_ended(tmp_path):
    curve = Curve("accuracy", (1, 2), (0.1, 0.2), (0.1, 0.2), (3.0, 2.0), (1.0, 5.0))
    assert curve.places("epoch") == (1, 2)
    assert curve.places("seconds") == (1.0, 5.0)
    for along in ("epoch", "seconds"):
        plot_learning_curves({"run": curve}, tmp_path / f"{along}.png", along=along)
    assert (tmp_path / "epoch.png").read_bytes() != (tmp_path / "seconds.png").read_bytes()


def test_no_curves_is_a_fault(tmp_path):
    with pytest.raises(ValueError, match="curves must not be empty"):
        plot_learning_curves({}, tmp_path / "none.png")


def test_one_flipped_bit_of_a_finished_runs_metrics_is_found(tmp_path):
    run = train_recipe(small_recipe(training__num_epochs=2), tmp_path / "run", options=RunOptions(graph=communities()))
    path = run.folder / "metrics.csv"
    whole = path.read_bytes()
    assert len(read_curve(run.folder).epoch) == 2
    for place in range(len(whole)):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << place % 7
        path.write_bytes(spoiled)
        with pytest.raises(SourceError, match=r"metrics\.csv: was edited or damaged: its checksum does not fit"):
            read_curve(run.folder)
