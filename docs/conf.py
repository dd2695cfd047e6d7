"""Sphinx: the pages of this folder as a site, with a reference made from the code.

Not for: the texts; `make docs` builds the site into build/site.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from reference_pages import copy_notebooks, write_reference

import shadow_gnn

ROOT = Path(__file__).resolve().parent.parent
project = "shadow-gnn"
author = "The shadow-gnn authors"
release = version = shadow_gnn.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "shadow-gnn"
html_theme_options = {"source_repository": "https://github.com/shadow-gnn/shadow-gnn", "source_directory": "docs/"}
exclude_patterns = ["study-results", "benchmarks-recorded.md"]  # The latter is a part of benchmarks.md.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
# Notebooks are committed without outputs: a build runs those that changed.
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 1200  # tests/test_notebooks.py limits CPU time; a busy machine takes longer.
nb_output_stderr = "remove"
nb_merge_streams = True
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["faiss"]
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
# Examples in prose are not always whole programs.
suppress_warnings = ["misc.highlighting_failure"]

_OUTSIDE = re.compile(
    r"\]\((?:\.\./((?:src|tests|core|bench|tools|examples|recipes)/[^)]*|[A-Z]+\.md)|(study-results))\)"
)
_NOTEBOOK = re.compile(r"\]\(\.\./examples/([a-z-]+\.ipynb)\)")
_SOURCE = "https://github.com/shadow-gnn/shadow-gnn/blob/main"


def setup(app: Any) -> None:
    """Make the reference pages, copy the notebooks, and point links to files outside this folder at the repository."""
    write_reference(ROOT / "docs" / "reference")
    copy_notebooks(ROOT / "examples", ROOT / "docs" / "notebooks")
    app.connect("source-read", _link_to_repository)
    app.connect("autodoc-process-docstring", _plain_docstring)


def _link_to_repository(app: Any, page: str, source: list[str]) -> None:
    source[0] = _NOTEBOOK.sub(r"](notebooks/\1)", source[0])
    source[0] = _OUTSIDE.sub(lambda link: f"]({_SOURCE}/{link[1] or 'docs/' + link[2]})", source[0])


def _plain_docstring(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with code in single backticks, and end with an example: nothing else is markup."""
    for number, line in enumerate(lines):
        if line.startswith(">>>"):
            return
        parts = re.split(r"(`[^`]+`)", line)
        parts = [part if part[:1] == "`" else re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts]
        lines[number] = "".join(f"`{part}`" if part[:1] == "`" else part for part in parts)
