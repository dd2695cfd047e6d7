"""Starter recipe: a recipe as a file to edit, with a comment on every key, and defaults as lines without effect.

Not for: the choice of its values (training/defaults), or the complete recipe of a run (file.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from shadow_gnn.recipe.keys import TABLES, Key, kind_keys, recipe_keys, shared_keys
from shadow_gnn.recipe.recipe import METHOD_TABLES, Recipe
from shadow_gnn.recipe.record import toml_value

_WIDTH = 110


def starter_text(recipe: Recipe, head: Sequence[str] = ()) -> str:
    """Write a recipe as commented TOML: reading it gives an equal recipe, also with its default lines made active.

    head: lines of comment at the beginning.
    """
    content = recipe.model_dump(exclude_none=True)
    lines = [f"# {line}".rstrip() for line in head]
    for name in ("graph", "seed"):
        lines += ["", *_key_lines(_keys()[name], name, content[name], active=True)]
    for table, keys in _tables(recipe):
        lines += ["", "", f"[{table}]"]
        for key in keys:
            name = key.name.rpartition(".")[2]
            value = content[table].get(name)
            if value is not None:
                lines += _key_lines(key, name, value, active=name == "kind" or toml_value(value) != key.default)
    return "\n".join(lines).lstrip("\n") + "\n"


def _tables(recipe: Recipe) -> Iterator[tuple[str, list[Key]]]:
    """Give each table that the recipe reads, with its keys."""
    unread = {name for name in METHOD_TABLES if name not in (recipe.training.method, recipe.training.warm_start)}
    unread |= {"link"} if recipe.task.kind == "node" else set()
    for table in TABLES:
        if table not in unread:
            yield table, [key for name, key in _keys().items() if name.startswith(f"{table}.")]
        if table == "task" and recipe.extractor is not None:
            kind = replace(_keys()["extractor.kind"], default="")
            yield "extractor", [kind, *kind_keys(recipe.extractor.kind), *shared_keys()]


def _keys() -> dict[str, Key]:
    return {key.name: key for key in recipe_keys()}


def _key_lines(key: Key, name: str, value: Any, *, active: bool) -> list[str]:
    """Return the comment of a key and its line; a default is a line without effect."""
    text = f"{key.text.rstrip('.')}. Values: {key.values}."
    return [
        *(f"# {line}" for line in textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)),
        f"{'' if active else '#'}{name} = {toml_value(value)}",
    ]
