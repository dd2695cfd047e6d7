"""Ready recipes: the files of the recipes that the package holds under short names, without loading any library.

Not for: reading them (recipe/file.py), or the paper's recipes (recipe/named.py).
"""

from __future__ import annotations

from pathlib import Path

READY = Path(__file__).parents[1] / "recipe" / "ready"
"""Folder of the recipes with short names: debian, cora, ...; recipes/ in the repository leads here."""


def ready_recipe(given: Path) -> Path | None:
    """Return the file for a name such as debian, debian.toml or recipes/debian.toml, or None."""
    path = READY / f"{given.name.removesuffix('.toml')}.toml"
    return path if given.parts[:-1] in ((), ("recipes",)) and path.exists() else None
