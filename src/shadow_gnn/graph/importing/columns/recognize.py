"""Recognize: find out what a column of a table holds, and fit its encoding without labels.

Not for: encoding rows (encode.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.plan import ColumnKind, ColumnPlan, DatePart, changed
from shadow_gnn.graph.importing.columns.texts import fit_texts
from shadow_gnn.graph.importing.columns.values import (
    BOOLEAN_WORDS,
    Parsed,
    booleans,
    is_list,
    is_text,
    lists,
    numbers,
    seconds,
    texts,
)

_WORDS = 3.0
_DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%b %d, %Y", "%d %b %Y", "%m/%d/%Y", "%d/%m/%Y")
_HOURS = ("", " %H:%M", " %H:%M:%S")
_MOST_CATEGORIES = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds of recognition."""

    one_hot: int = 64
    """Most values of a category that has a column for each of them."""
    text_columns: int = 32
    """Columns of a free text."""
    date_parts: tuple[DatePart, ...] = ()
    """Further columns of each date."""


LIMITS = Limits()


@dataclass(frozen=True)
class Recognized:
    """A column, and what was found in it."""

    name: str
    """Of the column."""
    plan: ColumnPlan
    """Its encoding."""
    missing: int
    """Rows without a value."""
    distinct: int | None
    """Different values; None for lists."""
    reason: str = ""
    """Why it is left out."""

    @property
    def encoding(self) -> str:
        """The encoding in a few words."""
        return f"left out: {self.reason}" if self.reason else self.plan.encoding_text()


def recognize(array: Any, name: str, owner: str, limits: Limits = LIMITS) -> Recognized:
    """Return the plan of a plain column from all its values; a column without a use is left out, with the reason."""
    distinct = _distinct(array)
    kind, form, reason = _kind(array, distinct, limits)
    if kind == "ignore":
        return Recognized(name, ColumnPlan(kind="ignore"), array.null_count, distinct, reason)
    parts = limits.date_parts if kind == "date" else ()
    found = fit(array, ColumnPlan(kind=kind, format=form, parts=parts), name, owner, limits)
    if found.kind == "ignore":
        return Recognized(name, found, array.null_count, distinct, "no word is in two rows")
    return Recognized(name, found, array.null_count, distinct)


def planned(array: Any, plan: ColumnPlan, name: str, owner: str, limits: Limits = LIMITS) -> Recognized:
    """Return a given plan with the keys that it leaves out fitted to the rows."""
    reason = "by the plan" if plan.kind == "ignore" else ""
    return Recognized(name, fit(array, plan, name, owner, limits), array.null_count, _distinct(array), reason)


def parse(array: Any, plan: ColumnPlan) -> Parsed | None:
    """Return the values of a column that has a number, or a list of them, in each row; None for another type."""
    if plan.kind == "number":
        return numbers(array)
    if plan.kind == "boolean":
        return booleans(array)
    return seconds(array, plan.format) if plan.kind == "date" else lists(array, plan.length)


def checked(array: Any, plan: ColumnPlan, name: str, owner: str) -> Parsed:
    """Return the values of a column; a value of another kind is a SourceError with its row."""
    found = parse(array, plan)
    a = f"{plan.length or 'equally many'} numbers" if plan.kind == "list" else f"a {plan.kind}"
    if found is None:
        if array.null_count == len(array):
            shape = (len(array), plan.length or 0) if plan.kind == "list" else (len(array),)
            return Parsed(np.full(shape, np.nan))
        raise SourceError(f"{owner}: column {name} must hold {a} in every row, it holds {array.type}")
    if found.wrong is not None:
        value = array[found.wrong].as_py()
        raise SourceError(f"{owner}: column {name} must hold {a} in every row, got {value!r:.60} in row {found.wrong}")
    return found


def fit(array: Any, plan: ColumnPlan, name: str, owner: str, limits: Limits = LIMITS) -> ColumnPlan:
    """Return a plan without a None where its kind needs a value."""
    if plan.kind == "ignore":
        return plan
    if plan.missing is None:
        plan = changed(plan, missing=bool(array.null_count))
    if plan.kind == "category":
        return _fit_category(array, plan, name, owner, limits)
    if plan.kind == "text":
        return _fit_text(array, plan, name, owner, limits)
    if plan.kind == "list":
        if plan.length is None:
            plan = changed(plan, length=checked(array, plan, name, owner).values.shape[1])
        return plan
    if plan.fill is not None and (plan.kind != "date" or plan.origin is not None):
        return plan
    values = checked(array, plan, name, owner).values
    known = values[~np.isnan(values)]
    if not np.isfinite(known).all():
        raise SourceError(f"{owner}: column {name} must hold finite numbers, it does not")
    if plan.kind == "date" and plan.origin is None:
        plan = changed(plan, origin=float(known.min()) if len(known) else 0.0)
    if plan.fill is not None:
        return plan
    # Divided first: a sum of large numbers could be infinite.
    return changed(plan, fill=float(((known - (plan.origin or 0.0)) / max(1, len(known))).sum()))


def _fit_category(array: Any, plan: ColumnPlan, name: str, owner: str, limits: Limits) -> ColumnPlan:
    import pyarrow.compute as pc

    if plan.categories is None:
        found = tuple(sorted(pc.unique(_texts(array, name, owner)).drop_null().to_pylist()))
        if len(found) > _MOST_CATEGORIES:
            raise SourceError(f"{owner}: column {name} must have at most {_MOST_CATEGORIES} values, it has more")
        plan = changed(plan, categories=found)
    if plan.encoding is None:
        plan = changed(plan, encoding="one-hot" if len(plan.categories or ()) <= limits.one_hot else "index")
    return plan


def _fit_text(array: Any, plan: ColumnPlan, name: str, owner: str, limits: Limits) -> ColumnPlan:
    if plan.words is not None and plan.numbers is not None and plan.columns is not None:
        return plan
    found = fit_texts(_texts(array, name, owner), plan.columns or limits.text_columns)
    if found is None:
        return ColumnPlan(kind="ignore")
    words, values = found.packed()
    return changed(plan, columns=found.components.shape[1], words=words, numbers=values)


def _texts(array: Any, name: str, owner: str) -> Any:
    """Return a column as texts; one of lists or objects is a SourceError."""
    if is_list(array.type) or array.type.num_fields:
        raise SourceError(f"{owner}: column {name} must hold single values, it holds {array.type}")
    return texts(array)


def _kind(array: Any, distinct: int | None, limits: Limits) -> tuple[ColumnKind, str | None, str]:
    """Return the kind of a column, the form of its dates, and the reason if it is left out."""
    if array.null_count == len(array):
        return "ignore", None, "no values"
    if not is_text(array.type):
        for kind, read in (("boolean", booleans), ("number", numbers), ("date", seconds), ("list", lists)):
            found = read(array)
            if found is not None:
                fits = found.wrong is None
                return (kind, None, "") if fits else ("ignore", None, "lists of different kinds or lengths")  # type: ignore[return-value]
        return "ignore", None, f"values of type {array.type}"
    assert distinct is not None
    if distinct <= 2 * len(BOOLEAN_WORDS) and _fits(booleans(array)):
        return "boolean", None, ""
    if _fits(numbers(array)):
        return "number", None, ""
    form = _date_form(array)
    if form is not None:
        return "date", form or None, ""
    return _kind_of_texts(array, distinct, limits)


def _kind_of_texts(array: Any, distinct: int, limits: Limits) -> tuple[ColumnKind, str | None, str]:
    import pyarrow.compute as pc

    known = len(array) - array.null_count
    spaces = pc.sum(pc.count_substring(array, " ")).as_py()
    wordy = spaces / known + 1 >= _WORDS
    if wordy and distinct > min(limits.one_hot, known // 2):
        return "text", None, ""
    if distinct > max(8, known // 2):
        return "ignore", None, "nearly all values differ"
    return "category", None, ""


def _date_form(array: Any) -> str | None:
    """Return the form of dates, empty for ISO 8601; None if the texts are none, or if two forms fit (3/4/2020)."""
    sample = array.drop_null().slice(0, 100)
    if _fits(seconds(sample)) and _fits(seconds(array)):
        return ""
    forms = [day + hour for day in _DAYS for hour in _HOURS]
    fitting = [form for form in forms if _fits(seconds(sample, form)) and _fits(seconds(array, form))]
    return fitting[0] if len(fitting) == 1 else None


def _fits(found: Parsed | None) -> bool:
    return found is not None and found.wrong is None


def _distinct(array: Any) -> int | None:
    import pyarrow.compute as pc

    if array.null_count == len(array):
        return 0
    return None if is_list(array.type) or array.type.num_fields else int(pc.count_distinct(array).as_py())
