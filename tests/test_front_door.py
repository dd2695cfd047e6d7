"""The front door: imports of the pages and examples, and the names that the package and its nn offer lazily."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shadow_gnn
from shadow_gnn import nn

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "extractors").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
OPEN = {"shadow_gnn", "shadow_gnn.client", "shadow_gnn.extract", "shadow_gnn.nn"}
PACKAGES = pytest.mark.parametrize("package", [shadow_gnn, nn], ids=lambda package: package.__name__)


def imported(code):
    """Return the modules of this package that a piece of code imports."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "shadow_gnn"}


def typed_names(package):
    """Return (name, module) of the imports that only type checkers see."""
    (block,) = (node for node in ast.parse(inspect.getsource(package)).body if isinstance(node, ast.If))
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name
            yield alias.name, str(node.module)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_import_from_the_front_door(page):
    for code in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        assert imported(code) <= OPEN


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_import_from_the_front_door(path):
    assert imported(path.read_text()) <= OPEN


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_import_from_the_front_door(path):
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        assert imported("".join(line for line in cell["source"] if not line.startswith("%"))) <= OPEN


def test_there_are_pages_and_examples():
    assert len(PAGES) > 30
    assert len(EXAMPLES) > 1
    assert len(NOTEBOOKS) > 3


@PACKAGES
def test_type_checkers_see_the_names_that_can_be_used(package):
    typed = {name: module for name, module in typed_names(package) if name not in ("extract", "nn")}
    assert typed == {name: f"shadow_gnn.{module}" for name, module in package._HOME.items()}


@PACKAGES
def test_tab_completion_offers_every_name(package):
    assert set(package.__all__) <= set(dir(package))
    assert not [name for name in dir(package) if name in ("annotations", "lazy_names", "TYPE_CHECKING")]


@PACKAGES
def test_every_name_is_what_its_module_defines(package):
    for name in package._HOME:
        value = getattr(package, name)
        assert getattr(value, "__name__", name) == name


@PACKAGES
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nonsense'"):
        package.nonsense  # noqa: B018


def test_looking_at_the_names_loads_nothing():
    code = (
        "import sys, shadow_gnn, shadow_gnn.nn\n"
        "dir(shadow_gnn), dir(shadow_gnn.nn)\n"
        "print({'torch', 'numpy', 'pydantic'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
