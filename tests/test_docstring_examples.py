"""Every public class and function has a short example in its docstring, and the example does what it says."""

import doctest
import inspect
import os
import re
from functools import cache
from pathlib import Path

import pytest

import shadow_gnn
import shadow_gnn.client
from shadow_gnn import extract, nn

ROOT = Path(__file__).parents[1]
START = ROOT / "docs" / "example_start.py"
PACKAGES = (shadow_gnn, extract, nn)
# They need the Hub, a download, or the paper's datasets.
NOT_RUN = {"shadow_gnn.share_run", "shadow_gnn.get_dataset", "shadow_gnn.reproduce"}


@cache
def public_things():
    """Return every public class and function by the name that users import."""
    found = {}
    for package in PACKAGES:
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(thing, f"{package.__name__}.{name}")
    for name, thing in vars(shadow_gnn.client).items():
        if inspect.isclass(thing) and thing.__module__ == "shadow_gnn.client" and not name.startswith("_"):
            found[thing] = f"shadow_gnn.client.{name}"
    return {name: thing for thing, name in found.items()}


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Go to a new folder and run the lines that every example begins with."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("examples"))
    names = {}
    exec(compile(START.read_text(), str(START), "exec"), names)
    yield names
    os.chdir(before)


def test_there_are_public_things():
    assert len(public_things()) > 150
    assert set(public_things()) > NOT_RUN


@pytest.mark.parametrize("name", sorted(public_things()))
def test_example(name, started):
    thing = public_things()[name]
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs=dict(started))
    assert 1 <= len(found.examples) <= 6, "must have a short example"
    skipped = [example for example in found.examples if doctest.SKIP in example.options]
    assert bool(skipped) == (name in NOT_RUN)
    said = []
    doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert not said, "".join(said)


def test_the_reference_shows_the_start_of_the_examples():
    assert re.search(r"example_start\.py", (ROOT / "docs" / "reference_pages.py").read_text())
