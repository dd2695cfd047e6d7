"""Encode: rows of a column to numbers, as its plan says.

Not for: fitting a plan (recognize.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.plan import ColumnPlan
from shadow_gnn.graph.importing.columns.recognize import as_boolean, as_list, as_number, as_seconds, is_missing

Floats = NDArray[np.float32]


def encode(values: Sequence[Any], plan: ColumnPlan, name: str, owner: str) -> Floats:
    """Return the encoded columns of some rows, in the order of plan.column_names. [rows, columns]

    A value that does not fit the kind is a SourceError with its row.
    """
    out = np.zeros((len(values), len(plan.column_names(name))), np.float32)
    if plan.kind == "ignore":
        return out
    put = _category if plan.kind == "category" else _list if plan.kind == "list" else _scalar
    put(out, values, plan, f"{owner}: column {name}")
    if plan.missing:
        out[:, -1] = [is_missing(value) for value in values]
    wrong = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if len(wrong):
        raise SourceError(f"{owner}: column {name} must hold numbers that fit float32, row {wrong[0]} does not")
    return out


def _scalar(out: Floats, values: Sequence[Any], plan: ColumnPlan, owner: str) -> None:
    readers: dict[str, Callable[[Any], float | None]] = {"number": as_number, "boolean": as_boolean, "date": as_seconds}
    read, origin = readers[plan.kind], plan.origin if plan.kind == "date" else 0.0
    with np.errstate(over="ignore"):
        for row, value in enumerate(values):
            found = None if is_missing(value) else read(value)
            if found is None and not is_missing(value):
                raise SourceError(f"{owner} must hold a {plan.kind} in every row, got {value!r:.60} in row {row}")
            out[row, 0] = plan.fill if found is None else found - origin


def _category(out: Floats, values: Sequence[Any], plan: ColumnPlan, owner: str) -> None:
    place = {value: number for number, value in enumerate(plan.categories)}
    unseen = len(place) if plan.encoding == "one-hot" else 1
    for row, value in enumerate(values):
        if is_missing(value):
            # Rows of the fit had no missing value, so a later one counts as unseen.
            if not plan.missing:
                out[row, unseen] = 1
            continue
        at = place.get(str(value))
        if at is None:
            out[row, unseen] = 1
        elif plan.encoding == "one-hot":
            out[row, at] = 1
        else:
            out[row, 0] = at


def _list(out: Floats, values: Sequence[Any], plan: ColumnPlan, owner: str) -> None:
    with np.errstate(over="ignore"):
        for row, value in enumerate(values):
            if is_missing(value):
                continue
            found = as_list(value)
            if found is None or len(found) != plan.length:
                raise SourceError(f"{owner} must hold {plan.length} numbers in every row, row {row} does not")
            out[row, : plan.length] = found
