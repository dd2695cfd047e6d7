"""`shadow theory`: one table, files on demand, and an exit code that tells whether all holds."""

import json
import re
from functools import partial

from tests.cli import called

from shadow_gnn.studies.theory import STATEMENTS, Check, Outcome

run = partial(called.run, "theory")


def test_prints_a_table_and_writes_the_page(tmp_path):
    result = run("identity-layers", "regular-graphs", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.exception
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["statement", "measured", "bound", "holds"]
    assert lines[0].startswith("identity-layers (Section 3.2")
    assert all(line.rstrip().endswith("yes") for line in lines[:-1])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["regular-graphs.png", "theory.md"]


def test_a_statement_that_does_not_hold_is_exit_code_1(monkeypatch):
    outcome = Outcome("tau", "", "Theorem 3.3", (Check("one", 1, "exactly", 1), Check("two", 2, "exactly", 1)))
    monkeypatch.setitem(STATEMENTS, "tau", lambda: outcome)
    result = run("tau")
    assert result.exit_code == 1
    assert re.search(r"^  one +1 += 1 +yes$", result.stdout, re.MULTILINE)
    assert re.search(r"^  two +2 += 1 +NO$", result.stdout, re.MULTILINE)


def test_json_holds_every_check(monkeypatch):
    outcome = Outcome("tau", "", "Theorem 3.3", (Check("one", 1, "exactly", 1),))
    monkeypatch.setitem(STATEMENTS, "tau", lambda: outcome)
    (found,) = json.loads(run("tau", "--json").stdout)
    assert (found["name"], found["checks"][0]["measured"]) == ("tau", 1)


def test_unknown_name_is_one_line():
    result = run("taw")
    assert result.exit_code != 0
    assert "theory: names must be some of" in str(result.exception)


def test_help_names_every_statement():
    text = run("--help").stdout
    assert all(re.search(rf"^ *{name} ", text, re.MULTILINE) for name in STATEMENTS)
