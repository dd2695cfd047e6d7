"""Recipe faults: what is wrong with a recipe's table, every fault as one line with the nearest known key.

Not for: files (file.py), nor for what only the graph or the libraries can tell (training/build.py).
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from shadow_gnn.recipe.keys import TABLES, recipe_keys, toml_value
from shadow_gnn.recipe.records import EXTRACTOR_TWICE, EXTRACTORS, BranchRecipe, PartRecipe, Recipe, Record

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
    "model_attributes_type": "a table",
    "tuple_type": "a list",
}


def recipe_faults(table: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (key, what is wrong with it) for every fault of a recipe's table; the key is empty for the whole."""
    try:
        Recipe.model_validate(table)
    except ValidationError as error:
        found = [(_dotted(item["loc"]), _explain(item)) for item in error.errors() if not _inherited(table, item)]
        # Checks between tables run only on a recipe that is right otherwise; this one is worth saying at once.
        if "extractor" in table and table.get("branches") and ("", EXTRACTOR_TWICE) not in found:
            found.append(("", EXTRACTOR_TWICE))
        return found
    return []


def _inherited(table: dict[str, Any], item: Any) -> bool:
    """Tell whether a fault of a branch stands in [model], where it is reported once."""
    place = item["loc"]
    if len(place) < 4 or place[0] != "branches" or place[2] != "model":
        return False
    return place[3] not in table["branches"][place[1]].get("model", {})


def _dotted(place: Place) -> str:
    """Write pydantic's place of a fault as a key, without the name of the union's member."""
    inside = [
        number > 0 and place[number - 1] == "extractor" and part in EXTRACTORS for number, part in enumerate(place)
    ]
    return ".".join(str(part) for part, member in zip(place, inside, strict=True) if not member)


def _explain(item: Any) -> str:
    """Turn one of pydantic's faults into our form of it."""
    kind, given, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown key" + _nearest_key(item["loc"])
    if kind == "missing":
        return "must be set"
    if kind == "value_error":
        return str(context["error"])
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _explain_kind(given)
    if kind == "literal_error":
        choices = re.findall("'([^']*)'", context["expected"])
        return f"must be {_joined(choices)}, got {_shown(given)}{_hint(given, choices)}"
    requirement = _REQUIREMENTS.get(kind, kind.replace("_", " ")).format(**context)
    return f"must be {requirement}, got {_shown(given)}"


def _explain_kind(given: Any) -> str:
    if not isinstance(given, dict):
        return f"must be a table, got {_shown(given)}"
    kind = given.get("kind")
    return f"kind must be {_joined(list(EXTRACTORS))}, got {_shown(kind)}{_hint(kind, list(EXTRACTORS))}"


def _joined(words: list[str]) -> str:
    return " or ".join(", ".join(words).rsplit(", ", 1))


def _shown(value: Any) -> str:
    text = toml_value(value) if isinstance(value, (str, int, float, bool)) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _hint(given: Any, choices: list[str]) -> str:
    found = get_close_matches(given, choices, 1) if isinstance(given, str) else []
    return f"; did you mean {found[0]}?" if found else ""


def _nearest_key(place: Place) -> str:
    """Name the known key that an unknown one is like, in its own table or, of the same name, in another."""
    unknown = str(place[-1])
    owners = [kind for kind, record in EXTRACTORS.items() if unknown in record.model_fields]
    if len(place) > 1 and place[-2] in EXTRACTORS and owners:
        return f" of {place[-2]}; {_joined(owners)} would have it"
    if hint := _hint(unknown, _known_keys(place)):
        return hint
    elsewhere = [key.name for key in recipe_keys() if key.name.split(".")[-1] == unknown]
    return f"; did you mean {elsewhere[0]}?" if elsewhere else ""


def _known_keys(place: Place) -> list[str]:
    """Return the keys of the table that a place is in."""
    names = [part for part in place[:-1] if isinstance(part, str)]
    if not names:
        return list(Recipe.model_fields)
    if names[-1] in EXTRACTORS and "extractor" in names:
        return list(EXTRACTORS[names[-1]].model_fields)
    lists: dict[str, type[Record]] = {"branches": BranchRecipe, "parts": PartRecipe}
    record = lists.get(names[-1]) or TABLES.get(names[-1])
    return list(record.model_fields) if record is not None else []
