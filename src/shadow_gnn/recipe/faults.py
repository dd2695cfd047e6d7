"""Recipe faults: all errors in a recipe's table, one line each, with the nearest known key.

Not for: files (file.py), or errors that depend on the graph or on installed libraries (training/build.py).
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.kinds import KINDS
from shadow_gnn.extract.kinds.combined import Part
from shadow_gnn.recipe.extractor_table import DEFAULT_KIND, hint, joined, read_extractor, shown, table_of
from shadow_gnn.recipe.keys import TABLES, recipe_keys
from shadow_gnn.recipe.model import BranchRecipe
from shadow_gnn.recipe.recipe import EXTRACTOR_TWICE, Recipe
from shadow_gnn.recipe.record import Record

Place = tuple[int | str, ...]

_REQUIREMENTS = {
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_long": "a list of at most {max_length}",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "model_type": "a table",
    "dict_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list",
}

_OTHER_NAMES = {
    "lr": "learning_rate",
    "device": "accelerator",
    "epochs": "num_epochs",
    "conv": "layer",
    "depth": "num_layers",
    "hidden": "hidden_dim",
    "hidden_channels": "hidden_dim",
    "heads": "num_heads",
    "pooling": "readout",
    "k": "topk",
    "alpha": "teleport",
    "eps": "tolerance",
    "hops": "num_hops",
}
"""Keys by the names that they have in other libraries."""


def recipe_faults(table: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (key, message) of every fault of a recipe's table; the key is empty for faults of the whole recipe."""
    try:
        Recipe.model_validate(table)
    except ValidationError as error:
        found = [
            (".".join(map(str, item["loc"])), _explain(item, table))
            for item in error.errors()
            if not _inherited(table, item)
        ]
        # Checks between tables run only if there are no other faults; this one should always be reported.
        if "extractor" in table and table.get("branches") and ("", EXTRACTOR_TWICE) not in found:
            found.append(("", EXTRACTOR_TWICE))
        return found
    return []


def checked_extractor(table: dict[str, Any], owner: str) -> BaseExtractor:
    """Make an extractor from a table; a RecipeError holds all faults, each one line that begins with the owner."""
    faults = recipe_faults({"graph": "any", "extractor": table})
    if faults:
        raise RecipeError([f"{owner}: {key or 'extractor'}: {text}" for key, text in faults])
    return read_extractor(table)


def _inherited(table: dict[str, Any], item: Any) -> bool:
    """Tell whether a fault of a branch comes from [model], where it is reported once."""
    place = item["loc"]
    if len(place) < 4 or place[0] != "branches" or place[2] != "model":
        return False
    return place[3] not in table["branches"][place[1]].get("model", {})


def _explain(item: Any, table: dict[str, Any]) -> str:
    """Write one of pydantic's faults as a message."""
    kind, given, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown key" + _nearest_key(item["loc"], table)
    if kind == "missing":
        return "must be set"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        choices = re.findall("'([^']*)'", context["expected"])
        return f"must be {joined(choices)}, got {shown(given)}{hint(given, choices)}"
    requirement = _REQUIREMENTS.get(kind, kind.replace("_", " ")).format(**context)
    return f"must be {requirement}, got {shown(given)}"


def _nearest_key(place: Place, table: dict[str, Any]) -> str:
    """Suggest a known key for an unknown one: a similar key of the same table, or the same key of another."""
    unknown, kind = str(place[-1]), _kind_at(place[:-1], table)
    owners = [other for other, owner in KINDS.items() if unknown in table_of(owner).model_fields]
    if kind is not None and owners:
        return f" of {kind}; {joined(owners)} would have it"
    known = list(table_of(KINDS[kind]).model_fields) if kind is not None else _known_keys(place)
    if (other := _OTHER_NAMES.get(unknown, "")) in known:
        return f"; did you mean {other}?"
    if near := hint(unknown, known):
        return near
    elsewhere = [key.name for key in recipe_keys() if key.name.split(".")[-1] == unknown]
    return f"; did you mean {elsewhere[0]}?" if elsewhere else ""


def _kind_at(place: Place, table: dict[str, Any]) -> str | None:
    """Return the kind of the extractor whose table is at a place; None for other tables."""
    if not place or place[-1] != "extractor":
        return None
    found: Any = table
    for part in place:
        found = found[part]
    return str(found.get("kind", DEFAULT_KIND))


def _known_keys(place: Place) -> list[str]:
    """Return the keys of the table at a place."""
    names = [part for part in place[:-1] if isinstance(part, str)]
    if not names:
        return list(Recipe.model_fields)
    lists: dict[str, type[Record]] = {"branches": BranchRecipe, "parts": table_of(Part)}
    record = lists.get(names[-1]) or TABLES.get(names[-1])
    return list(record.model_fields) if record is not None else []
