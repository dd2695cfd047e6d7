"""The progress bar: where it is shown, and its updates in a notebook."""

import sys
import types

import pytest

from shadow_gnn.base import notebook_bar, progress_bar
from shadow_gnn.base.notebook_bar import bar_line

NOTEBOOK = """
from shadow_gnn import NodeClassifier
from shadow_gnn.base import progress_bar

progress_bar._PATIENCE_SECONDS = 0.0
model = NodeClassifier(
    num_epochs=2, num_layers=1, hidden_dim=8, batch_size=4096, extractor={"kind": "node"}
)
model.fit("debian");
"""


class Display:
    """The display of a fake IPython: every output with its updates."""

    def __init__(self):
        self.outputs = []

    def __call__(self, content, *, raw, display_id):
        assert (raw, display_id) == (True, True)
        updates = [content["text/plain"]]
        self.outputs.append(updates)
        return types.SimpleNamespace(update=lambda content, *, raw: updates.append(content["text/plain"]))


@pytest.fixture
def display(monkeypatch):
    """A fake notebook: IPython with a kernel, and a display that keeps everything."""
    shown = Display()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=shown))
    monkeypatch.setattr(progress_bar, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    return shown


def test_a_notebook_shows_one_output_that_is_updated(display, monkeypatch, capsys):
    monkeypatch.setattr(notebook_bar, "_REFRESH_SECONDS", 0.0)
    with progress_bar.progress_bar() as progress:
        for done in range(3):
            progress("epoch 1/1", done + 1, 3)
    ((first, *_, last),) = display.outputs
    assert first.startswith(f"epoch 1/1  {'━' * 10}{'─' * 20}  1/3  0 s")
    assert last == f"epoch 1/1  {'━' * 30}  3/3  0 s"
    assert capsys.readouterr() == ("", "")


def test_a_notebook_is_not_flooded(display):
    with progress_bar.progress_bar() as progress:
        for done in range(10_000):
            progress("scopes", done + 1, 10_000)
    (updates,) = display.outputs
    assert len(updates) < 20
    assert "10,000/10,000" in updates[-1]


def test_short_work_shows_nothing(display, monkeypatch):
    monkeypatch.setattr(progress_bar, "_PATIENCE_SECONDS", 60.0)
    with progress_bar.progress_bar(shown=True) as progress:
        progress("scopes", 1, 2)
    assert display.outputs == []


def test_nothing_is_shown_where_nobody_watches_or_nothing_is_wanted(display, monkeypatch, capsys):
    with progress_bar.progress_bar(shown=False) as progress:
        progress("scopes", 1, 2)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    with progress_bar.progress_bar() as progress:
        progress("scopes", 1, 2)
    assert display.outputs == []
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_forced_where_output_is_piped(monkeypatch, capsys):
    monkeypatch.setattr(progress_bar, "_PATIENCE_SECONDS", 0.0)
    with progress_bar.progress_bar(shown=True) as progress:
        progress("scopes", 1, 2)
    assert "scopes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("done", "total", "seconds", "line"),
    [
        (0, 10, 2.0, f"work  {'─' * 30}  0/10  2 s"),
        (5, 10, 2.0, f"work  {'━' * 15}{'─' * 15}  5/10  2 s, 2 s left"),
        (11, 10, 4.0, f"work  {'━' * 30}  10/10  4 s"),
        (1234, 0, 4.0, "work  1,234  4 s"),
    ],
)
def test_bar_as_text(done, total, seconds, line):
    assert bar_line("work", done, total, seconds) == line


def test_an_estimator_shows_progress_in_a_notebook(tmp_path, small_cache, monkeypatch):
    monkeypatch.setenv("SHADOW_CACHE", str(small_cache))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    assert "epoch 2/2, loss" in output.data["text/plain"]
