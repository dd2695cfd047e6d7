"""Labels: the label column of a node table as classes with names, several labels, or values.

Not for: labels in files of their own (graph/importing/attach.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.plan import Roles
from shadow_gnn.graph.importing.columns.values import is_list, numbers, plain, texts
from shadow_gnn.graph.record import Array

_FEW = 20


def read_labels(column: Any, roles: Roles, owner: str, known: tuple[str, ...] = ()) -> tuple[Array, tuple[str, ...]]:
    """Return labels and the names of their classes, which are empty for values; a missing label is unknown.

    known: the classes of a graph; new ones follow them. An unknown class is -1, an unknown value nan; a node without
    one of several labels has none of them.
    """
    array, name = plain(column), roles.label
    where = f"{owner}: label {name}"
    if roles.label_separator is not None or is_list(array.type) or roles.label_kind == "multi":
        return _several(array, roles, where, known)
    found = None if known else numbers(array)
    is_number = found is not None and found.wrong is None and array.null_count < len(array)
    if roles.label_kind == "value" and not is_number and array.null_count < len(array):
        raise SourceError(f"{where} must hold numbers, as values are asked for, it does not")
    whole = is_number and found is not None and bool(np.all(np.isnan(found.values) | (found.values % 1 == 0)))
    if roles.label_kind == "value" or (roles.label_kind == "auto" and is_number and not whole):
        values = np.full(len(array), np.nan, np.float32) if found is None or not is_number else found.values
        if np.isinf(values).any():
            raise SourceError(f"{where} must hold finite numbers, it does not")
        return values.astype(np.float32), ()
    words = texts(array)
    names = _class_names(words, known)
    if not known:
        _check_repeated(names, len(array) - array.null_count, roles, where)
    return _place(words, names), names


def _class_names(words: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the known names, then new ones: numbers by value, before texts in ascending order."""
    import pyarrow.compute as pc

    new = set(pc.unique(words).drop_null().to_pylist()) - set(known)
    return (*known, *sorted(new, key=_order))


def _order(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def _check_repeated(names: tuple[str, ...], num_known: int, roles: Roles, where: str) -> None:
    if roles.label_kind == "auto" and len(names) > max(_FEW, num_known // 2):
        raise SourceError(
            f"{where} must have classes that repeat, it has {len(names):,} different values in {num_known:,} rows; "
            "say --label-kind value for numbers to predict, or class if these are classes"
        )


def _place(words: Any, names: tuple[str, ...]) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(words, value_set=pa.array(names, pa.large_string())), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def _several(array: Any, roles: Roles, where: str, known: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Return a matrix of 0 and 1. [rows, classes]"""
    import pyarrow as pa
    import pyarrow.compute as pc

    if roles.label_separator is not None and not is_list(array.type):
        array = pc.split_pattern(texts(array), roles.label_separator)
    if not is_list(array.type):
        raise SourceError(f"{where} must hold lists, or texts with --label-separator, it holds {array.type}")
    row = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
    words = plain(texts(plain(array.flatten())))
    names = _class_names(words, known)
    y = np.zeros((len(array), len(names)), np.uint8)
    place = _place(words, names)
    y[row[place >= 0], place[place >= 0]] = 1
    if not names:
        raise SourceError(f"{where} must have a label in some row, it has none")
    assert isinstance(array, pa.Array)
    return y, names
