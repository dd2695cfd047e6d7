"""Encode: rows of a column to numbers, as its plan says.

Not for: fitting a plan (recognize.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.plan import ColumnPlan, all_names
from shadow_gnn.graph.importing.columns.recognize import checked
from shadow_gnn.graph.importing.columns.texts import unpacked
from shadow_gnn.graph.importing.columns.values import texts

Floats = NDArray[np.float32]

_DAY = 86400
_THURSDAY = 3  # The weekday of 1970-01-01, where 0 is Monday.


def encode_all(columns: Mapping[str, Any], plans: Mapping[str, ColumnPlan], num_rows: int, owner: str) -> Floats:
    """Return the encoded columns of all plans, in the order of all_names. [rows, columns]"""
    out = np.zeros((num_rows, len(all_names(plans, owner))), np.float32)
    start = 0
    for name, plan in plans.items():
        if plan.kind == "ignore":
            continue
        if name not in columns:
            raise SourceError(f"{owner}: must have a column {name!r}, it has {', '.join(columns)}")
        stop = start + len(plan.column_names(name))
        encode(columns[name], plan, name, owner, out[:, start:stop])
        start = stop
    return out


def encode(array: Any, plan: ColumnPlan, name: str, owner: str, out: Floats) -> None:
    """Put the encoded columns of a plain column into out, which is zero, in the order of plan.column_names.

    A value that does not fit the kind is a SourceError with its row.
    """
    with np.errstate(over="ignore"):
        if plan.kind == "category":
            _category(out, texts(array), plan)
        elif plan.kind == "text":
            assert plan.words is not None
            assert plan.numbers is not None
            assert plan.columns is not None
            where = f"{owner}: column {name}"
            out[:, : plan.columns] = unpacked(plan.words, plan.numbers, plan.columns, where).encode(texts(array))
        else:
            values = checked(array, plan, name, owner).values
            (_list if plan.kind == "list" else _scalar)(out, values, plan)
    if plan.missing:
        out[:, -1] = array.is_null().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if len(wrong):
        raise SourceError(f"{owner}: column {name} must hold numbers that fit float32, row {wrong[0]} does not")


def _scalar(out: Floats, values: NDArray[np.float64], plan: ColumnPlan) -> None:
    missing = np.isnan(values)
    out[:, 0] = np.where(missing, plan.fill or 0.0, values - (plan.origin or 0.0))
    if not plan.parts:
        return
    days = np.floor(np.where(missing, 0, values) / _DAY).astype(np.int64)
    for at, part in enumerate(plan.parts, start=1):
        out[:, at] = np.where(missing, 0, _date_part(days, part))


def _date_part(days: NDArray[np.int64], part: str) -> NDArray[np.int64]:
    if part == "weekday":
        return (days + _THURSDAY) % 7
    months = days.astype("datetime64[D]").astype("datetime64[M]")
    if part == "month":
        return months.astype(np.int64) % 12 + 1
    return days - months.astype("datetime64[D]").astype(np.int64) + 1


def _list(out: Floats, values: NDArray[np.float64], plan: ColumnPlan) -> None:
    out[:, : plan.length] = np.where(np.isnan(values), 0, values)


def _category(out: Floats, array: Any, plan: ColumnPlan) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(plan.categories or (), pa.large_string())
    place = pc.fill_null(pc.index_in(array, value_set=known), -1).to_numpy(zero_copy_only=False)
    unseen = place < 0
    if plan.missing:
        # Otherwise rows of the fit had no missing value, and a later one counts as unseen.
        unseen = unseen & array.is_valid().to_numpy(zero_copy_only=False)
    seen = np.flatnonzero(place >= 0)
    if plan.encoding == "one-hot":
        out[seen, place[seen]] = 1
    else:
        out[seen, 0] = place[seen]
    out[unseen, len(known) if plan.encoding == "one-hot" else 1] = 1
