"""Nested: columns of objects become a column for each key, and texts of JSON become lists or objects.

Not for: files of JSON lines (tables/files.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shadow_gnn.graph.importing.columns.values import is_list, is_text, plain

_DEEPEST = 4
_LOOKED_AT = 100


def unnested(columns: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return plain columns by name; the values under a key of an object are the column `name.key`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: dict[str, Any] = {}
    for name, column in columns.items():
        array = _joined(_parsed(plain(column)))
        if not pa.types.is_struct(array.type) or depth == _DEEPEST:
            found[name] = array
            continue
        inner = {f"{name}.{field.name}": pc.struct_field(array, [at]) for at, field in enumerate(array.type)}
        found |= unnested(inner, depth + 1)
    return found


def _joined(array: Any) -> Any:
    """Return lists of texts as texts of all their words; other columns stay."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_list(array.type) or not is_text(array.type.value_type):
        return array
    return plain(pc.binary_join(array.cast(pa.large_list(pa.large_string())), pa.scalar(" ", pa.large_string())))


def _parsed(array: Any) -> Any:
    """Return the values of texts that are all JSON objects, or all JSON lists; other columns stay."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.json as pj

    if not is_text(array.type) or array.null_count == len(array):
        return array
    for start, end in ("{}", "[]"):
        first = array.drop_null().slice(0, _LOOKED_AT)
        if not all(text[:1] == start and text[-1:] == end for text in first.to_pylist()):
            continue
        # Line ends inside a value are escaped in JSON, so those between tokens can be blanks.
        flat = pc.replace_substring_regex(pc.fill_null(array, "null"), r"[\r\n]", " ")
        data = "".join(f'{{"value": {text}}}\n' for text in flat.to_pylist()).encode()
        options = pj.ReadOptions(block_size=max(1 << 20, len(data)), use_threads=False)
        try:
            read = pj.read_json(pa.BufferReader(data), options)
        except pa.ArrowInvalid:
            return array
        if read.num_rows != len(array) or read.column_names != ["value"]:
            return array
        return plain(read.column("value"))
    return array
