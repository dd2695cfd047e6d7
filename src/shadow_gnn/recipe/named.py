"""Recipes by name: the ready ones, and those of the paper, a TOML file for each row of its tables and experiments.

Not for: reading a recipe (file.py), or recipe files of the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.base.ready_recipes import ready_recipe
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe

PREFIX = "paper"
"""Prefix of these recipes on the command line: paper/flickr-sage-3-ppr."""

_FOLDER = Path(__file__).parent / "paper"


def paper_recipe_names(*, extra: bool = True) -> tuple[str, ...]:
    """Return the names of all recipes, sorted; without extra, only those of the tables of configurations.

    >>> "ogbn-arxiv-sage-5-ppr" in sg.paper_recipe_names()
    True
    """
    folders = (_FOLDER, _FOLDER / "extra") if extra else (_FOLDER,)
    return tuple(sorted(path.stem for folder in folders for path in folder.glob("*.toml")))


def paper_recipe_path(name: str) -> Path:
    """Return the file of a recipe; a RecipeError names the nearest one."""
    if name not in paper_recipe_names():
        near = get_close_matches(name, paper_recipe_names(), 1, 0.5)
        hint = f"; did you mean {PREFIX}/{near[0]}?" if near else ""
        raise RecipeError(
            [f"{PREFIX}/{name}: must be a file or a recipe of the paper (shadow train --paper lists them){hint}"]
        )
    path = _FOLDER / f"{name}.toml"
    return path if path.exists() else _FOLDER / "extra" / f"{name}.toml"


def paper_recipe(name: str, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name, with overrides such as "model.num_layers=7".

    >>> sg.paper_recipe("flickr-sage-3-ppr", ["model.num_layers=7"]).model.num_layers
    7
    """
    return read_recipe(paper_recipe_path(name), overrides)


def find_recipe(given: Path) -> Path:
    """Return the recipe file named on the command line: an existing file, or a recipe of the package.

    >>> from pathlib import Path
    >>> sg.find_recipe(Path("paper/flickr-sage-3-ppr")).name
    'flickr-sage-3-ppr.toml'
    """
    if given.exists():
        return given
    if given.parts[:1] == (PREFIX,):
        return paper_recipe_path("/".join(given.parts[1:]).removesuffix(".toml"))
    return ready_recipe(given) or given
