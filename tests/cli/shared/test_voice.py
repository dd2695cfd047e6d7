"""--quiet and --log json: where they may stand, what they print, and lines of progress without a terminal."""

import json
import sys

import pytest
from tests.cli.called import succeed
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.cli.shared import progress, screen
from shadow_gnn.cli.shared.voice import Voice, common_first, say, set_voice
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import write_recipe


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "g")
    (tmp_path / "recipe.toml").write_text(write_recipe(small_recipe(graph="g")))
    return tmp_path


@pytest.fixture(autouse=True)
def loud():
    set_voice(Voice())
    yield
    set_voice(Voice())


def lines(text):
    found = [json.loads(line) for line in text.splitlines()]
    return [line for line in found if line["event"] != "progress"]  # A busy machine takes long enough for some.


def test_log_json_is_one_object_a_line(shadow, folder):
    code, out, err = shadow("train", "recipe.toml", "--out", "r", "--log", "json")
    assert (code, err) == (0, "")
    start, *epochs, result = lines(out)
    assert (start["event"], start["folder"], start["num_epochs"], start["seed"]) == ("start", "r", 3, 0)
    assert [epoch["epoch"] for epoch in epochs] == [1, 2, 3]
    for epoch in epochs:
        assert epoch["event"] == "epoch"
        assert epoch["seconds"] > 0
        assert 0 <= epoch["valid"]["accuracy"] <= 1
        assert isinstance(epoch["loss"], float)
    assert result["event"] == "result"
    assert result["valid"]["accuracy"] == max(epoch["valid"]["accuracy"] for epoch in epochs)


def test_log_json_goes_to_stderr_with_json(shadow, folder):
    _, out, err = shadow("--log=json", "train", "recipe.toml", "--out", "r", "--json")
    assert json.loads(out)["folder"] == "r"
    assert [line["event"] for line in lines(err)] == ["start", "epoch", "epoch", "epoch"]


def test_quiet_prints_the_result_only(shadow, folder):
    code, out, err = shadow("train", "recipe.toml", "--out", "r", "--quiet")
    assert (code, err) == (0, "")
    assert "epoch 1/3" not in out
    assert "best epoch" in out
    assert shadow("train", "recipe.toml", "--out", "s", "--quiet", "--json")[2] == ""


def test_the_voice_of_one_command_is_not_that_of_the_next(shadow, folder):
    shadow("train", "recipe.toml", "--out", "r", "--quiet")
    assert "epoch 1/3" in succeed("train", "recipe.toml", "--out", "s")


def test_an_unknown_form_is_a_fault(shadow):
    code, out, err = shadow("runs", "--log", "xml")
    assert (code, out) == (2, "")
    assert "--log" in err


def test_options_of_all_commands_may_stand_anywhere():
    assert common_first(["train", "r.toml", "--quiet", "--log", "json", "-x"]) == [
        *("--quiet", "--log", "json"),
        *("train", "r.toml", "-x"),
    ]
    assert common_first(["a", "--", "--quiet"]) == ["a", "--", "--quiet"]
    assert common_first(["a", "--log=json"]) == ["--log=json", "a"]
    assert common_first(["a", "--log"]) == ["--log", "a"]


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, monkeypatch, *modules):
        self.now = 100.0
        for module in modules:
            monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


def test_long_work_without_a_terminal_prints_a_line_now_and_then(monkeypatch, capsys):
    clock = Clock(monkeypatch, progress)
    with progress.progress_bar() as report:
        report("fitting", 1, 10)
        clock.now += 9
        report("fitting", 2, 10)
        assert capsys.readouterr().err == ""
        clock.now += 1
        report("fitting", 3, 10)
        report("fitting", 4, 10)
        clock.now += 15
        report("reading", 1500, 0)
    assert capsys.readouterr().err == "fitting: 3 of 10, 10 s\nreading: 1,500, 25 s\n"


def test_the_same_lines_in_json(monkeypatch, capsys):
    clock = Clock(monkeypatch, progress)
    set_voice(Voice(log="json"))
    with progress.progress_bar() as report:
        clock.now += 10
        report("fitting", 3, 10)
    out, err = capsys.readouterr()
    assert out == ""
    assert json.loads(err) == {"event": "progress", "stage": "fitting", "done": 3, "total": 10, "seconds": 10.0}


def test_quiet_work_prints_no_line(monkeypatch, capsys):
    clock = Clock(monkeypatch, progress)
    set_voice(Voice(quiet=True))
    with progress.progress_bar() as report:
        clock.now += 100
        report("fitting", 3, 10)
    say("nothing")
    assert capsys.readouterr() == ("", "")


def test_bars_without_a_terminal_become_lines(monkeypatch, capsys):
    clock = Clock(monkeypatch, screen)
    shown = screen.Screen(to_stderr=True)
    bar = shown.add_bar("epoch 1/2")
    shown.update(bar, completed=5, total=10, note="loss 1.0")
    clock.now += 10
    shown.update(bar, description="epoch 2/2", completed=1200, total=2000, note="loss 0.5")
    shown.update(bar, completed=1300, total=2000, note="loss 0.5")
    clock.now += 9
    shown.line("done")
    clock.now += 9
    shown.update(bar, completed=1400, total=2000, note="")
    assert capsys.readouterr().err == "epoch 2/2: 1,200 of 2,000, loss 0.5\ndone\n"


def test_a_terminal_keeps_its_bar(monkeypatch, capsys):
    from shadow_gnn.base import progress_bar as drawn

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    used = []
    monkeypatch.setattr(drawn._Bar, "update", lambda self, *state: used.append(state))
    monkeypatch.setattr(drawn._Bar, "stop", lambda self: None)
    monkeypatch.setattr(drawn, "_PATIENCE_SECONDS", 0.0)
    with progress.progress_bar() as report:
        report("fitting", 3, 10)
    assert used == [("fitting", 3, 10)]
