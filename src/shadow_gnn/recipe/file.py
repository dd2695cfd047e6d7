"""Recipe files: read TOML with overrides into a Recipe, write a Recipe as TOML.

Not for: the keys (recipe.py), or the wording of faults (faults.py).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.base.files import read_bytes
from shadow_gnn.recipe.faults import recipe_faults
from shadow_gnn.recipe.recipe import Recipe
from shadow_gnn.recipe.record import toml_value

MAX_BYTES = 1 << 20
_BARE_WORD = re.compile(r"[^\s\"'\[{#=][^\s\"'#=]*")


def read_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe; overrides such as "model.num_layers=5" count as if written in the file.

    A RecipeError holds all faults, one line each.

    >>> from pathlib import Path
    >>> _ = Path("recipe.toml").write_text('graph = "ring"\\nmodel.num_layers = 5')
    >>> sg.read_recipe("recipe.toml", ["training.num_epochs=3"]).training.num_epochs
    3
    """
    path = Path(path)
    return _changed(_read_toml(path), overrides, path.name)


def change_recipe(recipe: Recipe, overrides: Sequence[str]) -> Recipe:
    """Return a recipe with overrides such as "model.num_layers=5", checked as if read from a file."""
    return _changed(recipe.model_dump(exclude_none=True), overrides, "recipe") if overrides else recipe


def _changed(table: dict[str, Any], overrides: Sequence[str], name: str) -> Recipe:
    """Return the recipe of a table with overrides; name: the table's, for faults."""
    faults: list[str] = []
    changed: set[str] = set()
    for override in overrides:
        try:
            changed.add(_override(table, override))
        except ValueError as error:
            faults.append(f"--set {override:.200}: {error}")
    for key, text in recipe_faults(table):
        owner = "--set" if key in changed else name
        faults.append(f"{owner}: {key}: {text}" if key else f"{owner}: {text}")
    if faults:
        raise RecipeError(faults)
    return Recipe.model_validate(table)


def write_recipe(recipe: Recipe) -> str:
    """Return a recipe as TOML with every key filled in; reading it gives an equal recipe."""
    content = recipe.model_dump(exclude_none=True)
    branches = content.pop("branches")
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    lines = [f"{name} = {toml_value(value)}" for name, value in content.items() if name not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *_assignments(table)]
    for branch in branches:
        lines += ["", "[[branches]]"]
        for name, table in branch.items():
            lines += [f"[branches.{name}]", *_assignments(table)]
    return "\n".join(lines) + "\n"


def _assignments(table: dict[str, Any]) -> list[str]:
    return [f"{name} = {toml_value(value)}" for name, value in table.items()]


def _read_toml(path: Path) -> dict[str, Any]:
    raw = read_bytes(path, MAX_BYTES, lambda fault: RecipeError([fault]))
    try:
        return tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError([f"{path}: is not TOML: {error}"]) from error


def _override(table: dict[str, Any], text: str) -> str:
    """Set one key of a table from text such as model.num_layers=5; return the key."""
    key, sign, value = text.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not sign or not all(parts):
        raise ValueError("must be a key and a value, such as model.num_layers=5")
    place: Any = table
    for part in parts[:-1]:
        place = _item(place, part) if isinstance(place, list) else place.setdefault(part, {})
        if not isinstance(place, (dict, list)):
            raise ValueError(f"{part} must be a table to have keys")
    if isinstance(place, list):
        raise ValueError("must name a key of one table of the list, such as branches.0.model.layer")
    place[parts[-1]] = _parse_value(value.strip())
    return ".".join(parts)


def _item(place: list[Any], part: str) -> Any:
    if not part.isdecimal() or not int(part) < len(place):
        raise ValueError(f"the number of a table must be from 0 to {len(place) - 1}, got {part}")
    return place[int(part)]


def _parse_value(text: str) -> Any:
    """Read a TOML value; a bare word is text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = {}
    if list(parsed) == ["value"]:
        return parsed["value"]
    if not _BARE_WORD.fullmatch(text):
        raise ValueError("the value must be one of TOML, or a bare word")
    return text
