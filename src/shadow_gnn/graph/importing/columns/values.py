"""Values: the cells of an Arrow column as numbers, booleans, seconds or lists, without a loop over rows.

Not for: the decision which of these a column holds (recognize.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none", "?")
"""Texts that stand for no value, in lower case."""
BOOLEAN_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?(Z|[+-]\d{2}(:?\d{2})?)?$"
_ZONE = r"[T ].*(Z|[+-]\d{2}(:?\d{2})?)$"
_CODE = r"^[+-]?0\d"
_MARKS = r"[,$€£%]"
_MARKED = r"^[+-]?[$€£]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?%?$"
_MICRO = 1e6


@dataclass(frozen=True, eq=False)
class Parsed:
    """A column as numbers."""

    values: Doubles
    """[rows], or [rows, length] for lists; nan where a value is missing."""
    wrong: int | None = None
    """The first row whose value does not fit; None if all do."""


def plain(column: Any) -> Any:
    """Return a column as one Arrow array: categories as text, texts stripped, values that stand for none as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if is_text(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_date(kind):
        column = column.cast(pa.timestamp("us"))
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(found, pa.ChunkedArray):
        found = pa.concat_arrays(found.chunks) if found.num_chunks else pa.array([], found.type)
    if pa.types.is_floating(found.type):
        return pc.if_else(pc.is_nan(found), None, found)
    if not pa.types.is_large_string(found.type):
        return found
    found = pc.utf8_trim_whitespace(found)
    words = pa.array(MISSING_WORDS, pa.large_string())
    short = pc.less_equal(pc.utf8_length(found), max(map(len, MISSING_WORDS)))
    missing = pc.and_(short, pc.is_in(pc.utf8_lower(found), value_set=words))
    return pc.if_else(missing, None, found)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is one of text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def is_list(kind: Any) -> bool:
    """Tell whether an Arrow type is one of lists."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def numbers(array: Any) -> Parsed | None:
    """Return a column of numbers; None if its type has none. Digits after a leading zero are a code, not a number.

    Marks of thousands, currency and percent are skipped.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return Parsed(_doubles(array))
    if not is_text(kind):
        return None
    array = _bare(array)
    wrong = _first(pc.match_substring_regex(array, _CODE))
    try:
        return Parsed(_doubles(array.cast(pa.float64())), wrong)
    except pa.ArrowInvalid:
        failure = _first_failure(array, pa.float64())
        return Parsed(np.zeros(0), failure if wrong is None else min(wrong, failure))


def _bare(array: Any) -> Any:
    """Return texts of numbers without marks of thousands, currency and percent: 1,234 and $5 and 20% are numbers."""
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(array, _MARKS)).as_py():
        return array
    marked = pc.match_substring_regex(array, _MARKED)
    return pc.if_else(marked, pc.replace_substring_regex(array, _MARKS, ""), array)


def booleans(array: Any) -> Parsed | None:
    """Return a column of booleans as 0 and 1; None if its type has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(array.type):
        return Parsed(_doubles(array.cast(pa.int8())))
    if not is_text(array.type):
        return None
    words = pa.array(list(BOOLEAN_WORDS), pa.large_string())
    place = pc.index_in(pc.utf8_lower(array), value_set=words)
    wrong = _first(pc.and_(pc.is_null(place), pc.is_valid(array)))
    known = np.array([*BOOLEAN_WORDS.values(), np.nan])
    return Parsed(known[pc.fill_null(place, len(BOOLEAN_WORDS)).to_numpy(zero_copy_only=False)], wrong)


def seconds(array: Any, form: str | None = None) -> Parsed | None:
    """Return a column of dates as seconds since 1970, in UTC if they name no zone; None if its type has none.

    form: of dates that are not ISO 8601.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_timestamp(kind):
        return Parsed(_doubles(array.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())) / _MICRO)
    if not is_text(kind):
        return None
    if form is not None:
        parsed = pc.strptime(array, format=form, unit="us", error_is_null=True)
        wrong = _first(pc.and_(pc.is_null(parsed), pc.is_valid(array)))
        return Parsed(_doubles(parsed.cast(pa.int64())) / _MICRO, wrong)
    wrong = _first(pc.invert(pc.match_substring_regex(array, DATE)))
    if wrong is not None:
        return Parsed(np.zeros(0), wrong)
    zoned = pc.match_substring_regex(array, _ZONE)
    parts = []
    for chosen, wanted in ((pc.invert(zoned), pa.timestamp("us")), (zoned, pa.timestamp("us", "UTC"))):
        some = pc.if_else(chosen, array, None)
        try:
            parts.append(_doubles(some.cast(wanted).cast(pa.int64())) / _MICRO)
        except pa.ArrowInvalid:
            return Parsed(np.zeros(0), _first_failure(some, wanted))
    return Parsed(np.where(np.isnan(parts[0]), parts[1], parts[0]))


def lists(array: Any, length: int | None = None) -> Parsed | None:
    """Return a column of lists of numbers, nan in rows without one; None if its type has none.

    length: numbers of each list; None takes that of the first. [rows, length]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_list(array.type):
        return None
    inner = array.type.value_type
    if not (pa.types.is_integer(inner) or pa.types.is_floating(inner)):
        return Parsed(np.zeros((0, 0)), _first(pc.is_valid(array)))
    sizes = pc.list_value_length(array)
    if length is None:
        length = next((size for size in pc.drop_null(sizes)[:1].to_pylist()), 0)
    wrong = _first(pc.not_equal(sizes, length))
    out = np.full((len(array), length), np.nan)
    if wrong is None and length:
        kept = array.drop_null()
        out[array.is_valid().to_numpy(zero_copy_only=False)] = _doubles(kept.flatten()).reshape(-1, length)
        wrong = _first(pa.array(np.isnan(out).any(axis=1) & array.is_valid().to_numpy(zero_copy_only=False)))
    return Parsed(out, wrong)


def texts(array: Any) -> Any:
    """Return a column as texts: whole numbers without a point, booleans as true and false."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(array.type):
        return array
    if pa.types.is_floating(array.type) and pc.all(pc.equal(pc.floor(array), array)).as_py():
        array = array.cast(pa.int64(), safe=False)
    return array.cast(pa.large_string())


def _doubles(array: Any) -> Doubles:
    """Return a numeric Arrow array as float64 with nan for null."""
    import pyarrow as pa

    return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def _first(flags: Any) -> int | None:
    """Return the first row of an Arrow array of booleans that is true."""
    import pyarrow.compute as pc

    row: int = pc.index(flags, True).as_py()
    return None if row < 0 else row


def _first_failure(array: Any, wanted: Any) -> int:
    """Return the first row that cannot be cast, by halving."""
    import pyarrow as pa

    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            array.slice(low, middle - low).cast(wanted)
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low
