"""The notebooks in examples run from top to bottom, hold no outputs, and say what they are about."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from shadow_gnn.base.cpu_time import cpu_seconds

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MOST_CPU_SECONDS = 240  # Two minutes on two cores.
EVERY_NOTEBOOK = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)


def test_there_are_four_notebooks_and_the_docs_list_them():
    index = (ROOT / "docs" / "index.md").read_text()
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        assert re.search(rf"^notebooks/{path.stem}$", index, re.MULTILINE), path.name


@EVERY_NOTEBOOK
@pytest.mark.timeout(1500)
@pytest.mark.filterwarnings("default")  # Of the libraries that talk to the kernel; nothing of ours runs here.
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    book = nbformat.read(path, as_version=4)
    begin = cpu_seconds()
    # CPU time has a limit; seconds have a wide one, since a busy machine takes longer.
    NotebookClient(book, timeout=1200, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    assert cpu_seconds() - begin <= MOST_CPU_SECONDS
    assert not list(tmp_path.iterdir())  # A reader may run it anywhere, and twice.


@EVERY_NOTEBOOK
def test_notebook_is_committed_without_outputs(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert path.stat().st_size < 50_000
    for cell in book.cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


@EVERY_NOTEBOOK
def test_notebook_begins_with_its_title_and_explains_its_cells(path):
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].source.startswith("# ")
    assert sum(cell.cell_type == "markdown" for cell in cells) >= len(cells) / 3
