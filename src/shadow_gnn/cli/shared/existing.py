"""Existing: files and folders that a command line names, checked before any library is loaded.

Not for: their content, which the libraries check.
"""

from __future__ import annotations

from pathlib import Path

from shadow_gnn.base.errors import RecipeError, RunError
from shadow_gnn.base.ready_recipes import ready_recipe
from shadow_gnn.cli.shared.ranks import are_several

_PAPER = "paper"
PICTURES = (".png", ".svg", ".pdf")
"""Formats of pictures."""


def existing_recipe(path: Path | None) -> Path | None:
    """Return the path of a recipe unless it is missing; names of recipes of the package pass."""
    if path is None or path.exists() or path.parts[:1] == (_PAPER,) or are_several() or ready_recipe(path):
        return path
    raise RecipeError([f"{path}: no such file; shadow init writes a recipe for a graph"])


def picture_file(path: Path | None) -> Path | None:
    """Return the path of a picture if its ending names a format."""
    if path is not None and path.suffix.lower() not in PICTURES:
        raise ValueError(f"--plot must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}, got {path.name}")
    return path


def existing_run(path: Path) -> Path:
    """Return the folder of a run unless it is missing."""
    if not path.exists() and not are_several():
        raise RunError(f"{path}: no such folder; shadow runs lists the runs in a folder")
    return path
