"""Scores next to the printed ones, with the difference only for comparable data."""

from shadow_gnn.studies.paper.experiment import ReproduceOptions, Spread
from shadow_gnn.studies.paper.scores import Heads, Line, draw_scores, how_text, score_table
from shadow_gnn.studies.paper.training_jobs import Row, run_key

LINES = [
    Line(Row("a-3", "a"), ("3",), Spread(0.5, 0.01)),
    Line(Row("a-5", "a"), ("5",), None),
    Line(Row("b-3", "b"), ("3",), Spread(0.25, 0.01)),
    Line(Row("b-5", "b"), ("5",), Spread(0.125, 0.01)),
]
RESULTS = {
    run_key(name, seed): {"metric": "accuracy", "test": test, "valid": 0.0}
    for name, seed, test in (("a-3", 0, 0.5), ("a-3", 1, 0.75), ("a-5", 0, 0.5), ("b-3", 0, 0.25))
}


def test_difference_is_left_out_where_data_are_not_the_papers():
    table = score_table(Heads("t", "A table.", ("layers",)), LINES, RESULTS, {"a"})
    assert (table.name, table.caption) == ("t", "A table.")
    assert table.columns == ("data", "layers", "runs", "test accuracy, ours", "paper", "ours - paper")
    assert table.rows == (
        ("a", "3", 2, Spread(0.625, 0.125 * 2**0.5), Spread(0.5, 0.01), 0.125),
        ("a", "5", 1, Spread(0.5, None), "OOM", None),
        ("b", "3", 1, Spread(0.25, None), Spread(0.25, 0.01), None),
        ("b", "5", 0, None, Spread(0.125, 0.01), None),
    )


def test_text_says_how_many_seeds_and_what_is_small():
    assert "trained with 5 seeds." in how_text(ReproduceOptions(), 5)
    assert "trained with one seed." in how_text(ReproduceOptions(fast=True), 5)
    assert how_text(ReproduceOptions(fast=True), 5).endswith("subgraphs of GraphSAINT have 50 walks.")


def test_figure_is_a_png(tmp_path):
    draw_scores(LINES, RESULTS, {"a": "a", "b": "b"}, tmp_path / "scores.png")
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
