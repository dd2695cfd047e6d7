"""Statements by name, the page and its pictures."""

import pytest

from shadow_gnn.studies.theory import STATEMENTS, Check, Outcome, run_statements
from shadow_gnn.studies.theory.outcome import Curves, Drawing, Gallery, Line
from shadow_gnn.studies.theory.report import report_text, write_report

CURVES = Curves(
    "rise", "x", "y", (Line("a", (1.0, 2.0), (3.0, 4.0)), Line("b", (1.0, 2.0), (3.0, 3.0), dashed=True)), log=True
)
GALLERY = Gallery("graphs", (Drawing("edge", ((0.0, 0.0), (1.0, 0.0)), ((0, 1),), (0, 1), ((0, "u"),)),))
RIGHT = Outcome("right", "All is well", "Theorem 1", (Check("|a| is small", 1e-13, "at most", 1e-12),), CURVES)
WRONG = Outcome("wrong", "It is not", "Theorem 2", (Check("count", 2, "exactly", 3),))


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name != "long-range"])
def test_every_statement_holds(name):
    (outcome,) = run_statements([name])
    assert outcome.name == name
    assert outcome.holds, [check for check in outcome.checks if not check.holds]


def test_unknown_name_is_refused_before_any_work():
    with pytest.raises(ValueError, match=r"theory: names must be some of infinite-propagation, .*, got 'taw'"):
        run_statements(["tau", "taw"])


def test_page_has_a_line_for_each_check():
    text = report_text([RIGHT, WRONG])
    assert "| \\|a\\| is small | 1e-13 | ≤ 1e-12 | yes |\n" in text
    assert "| count | 2 | = 3 | NO |\n" in text
    assert text.count("![") == 1


def test_pictures_are_written_next_to_the_page(tmp_path):
    drawn = Outcome("drawn", "A graph", "Theorem 3", (Check("count", 3, "exactly", 3),), GALLERY)
    page = write_report([RIGHT, WRONG, drawn], tmp_path / "new" / "folder")
    assert sorted(path.name for path in page.parent.iterdir()) == ["drawn.png", "right.png", "theory.md"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in page.parent.glob("*.png"))
