"""Recognize: find out what a column of a table holds, and fit its encoding without labels.

Not for: encoding rows (encode.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.plan import ColumnPlan
from shadow_gnn.graph.importing.text import is_number

ONE_HOT_LIMIT = 64
"""Most values of a category that has a column for each of them."""
_MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for no value: None, NaN, an empty text or a word such as NA."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and value.strip().lower() in _MISSING_WORDS


def as_number(value: Any) -> float | None:
    """Return a value as a number; None if it is none. Digits after a leading zero are a code, not a number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str) or not is_number(value):
        return None
    digits = value.strip().lstrip("+-")
    return None if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit() else float(value)


def as_boolean(value: Any) -> bool | None:
    """Return a value as a boolean; None if it is none."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    return True if word in _TRUE else False if word in _FALSE else None


def as_seconds(value: Any) -> float | None:
    """Return a date as seconds since 1970, in UTC if it names no zone; None if it is no date in ISO form."""
    if isinstance(value, str):
        if len(value.strip()) < 10:
            return None
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def as_list(value: Any) -> list[float] | None:
    """Return a list of numbers; None if a value is none."""
    if not isinstance(value, (list, tuple)) or not value:
        return None
    found = [as_number(part) for part in value]
    return None if None in found else [part for part in found if part is not None]


def recognize(values: Sequence[Any], name: str, owner: str) -> ColumnPlan:
    """Return the plan of a column from all its values; text with too many values is left out."""
    known = [value for value in values if not is_missing(value)]
    missing = len(known) < len(values)
    if not known:
        return ColumnPlan(kind="ignore")
    if all(as_boolean(value) is not None for value in known):
        share = sum(bool(as_boolean(value)) for value in known) / len(known)
        return ColumnPlan(kind="boolean", fill=share, missing=missing)
    numbers = [as_number(value) for value in known]
    if None not in numbers:
        return ColumnPlan(
            kind="number", fill=_mean([n for n in numbers if n is not None], name, owner), missing=missing
        )
    seconds = [as_seconds(value) for value in known]
    if None not in seconds:
        found = [second for second in seconds if second is not None]
        origin = min(found)
        return ColumnPlan(
            kind="date", origin=origin, fill=sum(second - origin for second in found) / len(found), missing=missing
        )
    if all(isinstance(value, (list, tuple)) for value in known):
        lengths = {len(value) for value in known}
        if len(lengths) == 1 and all(as_list(value) is not None for value in known):
            return ColumnPlan(kind="list", length=lengths.pop(), missing=missing)
        return ColumnPlan(kind="ignore")
    if not all(isinstance(value, (str, int, float)) for value in known):
        return ColumnPlan(kind="ignore")
    categories = tuple(sorted({str(value) for value in known}))
    if len(categories) > max(ONE_HOT_LIMIT, len(values) // 2):
        return ColumnPlan(kind="ignore")
    encoding = "one-hot" if len(categories) <= ONE_HOT_LIMIT else "index"
    return ColumnPlan.model_validate(
        {"kind": "category", "encoding": encoding, "categories": categories, "missing": missing}
    )


def _mean(numbers: Sequence[float], name: str, owner: str) -> float:
    if not all(math.isfinite(number) for number in numbers):
        raise SourceError(f"{owner}: column {name} must hold finite numbers, it does not")
    return math.fsum(number / len(numbers) for number in numbers)
