"""describe_dependencies: every dependency and extra of pyproject.toml has its reason, and the page lists them."""

import re
import tomllib
from pathlib import Path

from describe_dependencies import EXTRAS, WHY, plain

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGE = (ROOT / "docs" / "dependencies.md").read_text()


def test_every_dependency_has_a_reason_and_a_row_with_its_lower_bound():
    bounds = dict(text.split(">=") for text in PROJECT["dependencies"])
    assert {plain(name) for name in bounds} == {plain(name) for name in WHY}
    for name, bound in bounds.items():
        assert re.search(rf"^\\| {re.escape(name)} \\| {re.escape(bound)} \\|", PAGE, re.MULTILINE), name


def test_every_extra_of_users_has_a_purpose():
    own = {"test", "lint", "bench", "fuzz", "docs", "release"}
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - own
    for extra in EXTRAS:
        assert f"| `{extra}` |" in PAGE
