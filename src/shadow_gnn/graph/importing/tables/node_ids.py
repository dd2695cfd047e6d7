"""Node ids: number the rows of a node table, and find the nodes that other tables name.

Not for: edge lists without a node table (graph/importing/ids.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns.values import is_text, plain
from shadow_gnn.graph.importing.ids import names_of
from shadow_gnn.graph.record import Array, NodeNames


def id_texts(column: Any, name: str, owner: str) -> Any:
    """Return ids as an Arrow array of texts without blanks at the ends; an empty one is a SourceError with its row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_floating(column.type):
        # A missing value makes pandas turn whole numbers into floats.
        whole = pc.cast(column, pa.int64(), safe=False)
        column = whole if pc.all(pc.equal(whole.cast(column.type), column)).as_py() else column
    if not (is_text(column.type) or pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        raise SourceError(f"{owner}: column {name} must hold ids, text or whole numbers, it holds {column.type}")
    array = column.cast(pa.large_string())
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    array = pc.utf8_trim_whitespace(array)
    empty = pc.index(pc.fill_null(pc.equal(pc.binary_length(array), 0), True), True).as_py()
    if empty >= 0:
        raise SourceError(f"{owner}: column {name} must have an id in every row, row {empty} has none")
    return array


@dataclass(frozen=True, eq=False)
class NodeIds:
    """The ids of nodes, in the order of the nodes."""

    texts: Any
    """Arrow array of large strings."""

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.texts)

    def find(self, wanted: Any) -> Array:
        """Return the node of each id, -1 for an unknown one."""
        import pyarrow.compute as pc

        found = pc.fill_null(pc.index_in(wanted, value_set=self.texts), -1)
        return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)

    def names(self) -> NodeNames | None:
        """Return the ids as names; None if they are 0..N-1 in this order."""
        import pyarrow as pa
        import pyarrow.compute as pc

        own = pa.array(np.arange(len(self)).astype(np.int64)).cast(pa.large_string())
        same = len(self) == 0 or pc.all(pc.equal(self.texts, own)).as_py()
        return None if same else names_of(self.texts)

    def more(self, texts: Any) -> NodeIds:
        """Return these ids followed by others, in the order of their first appearance."""
        import pyarrow as pa
        import pyarrow.compute as pc

        new = pc.unique(texts)
        return NodeIds(pa.concat_arrays([self.texts, new.filter(pa.array(self.find(new) < 0))]))


def order_of(texts: Any, first: int = 0) -> Array | None:
    """Return the row of each node if ids are the numbers first..first+N-1 in any order; None for other ids."""
    import pyarrow as pa

    try:
        numbers = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    order = np.argsort(numbers, kind="stable")
    wanted = np.arange(first, first + len(order))
    if not np.array_equal(numbers[order], wanted):
        return None
    # 007 is text, not the number 7.
    return order if texts.take(pa.array(order)).equals(pa.array(wanted).cast(pa.large_string())) else None


def distinct_rows(table: Any, texts: Any, owner: str) -> tuple[Any, Any, int]:
    """Return the table and its ids without repeated rows, and their number; one id with two values is a SourceError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = texts.dictionary_encode()
    code = coded.indices.to_numpy(zero_copy_only=False)
    if len(coded.dictionary) == len(code):
        return table, texts, 0
    first = np.full(len(coded.dictionary), len(code), np.int64)
    np.minimum.at(first, code, np.arange(len(code)))
    again = np.flatnonzero(first[code] != np.arange(len(code)))
    for name in table.column_names:
        column = plain(table.column(name))
        left, right = column.take(pa.array(first[code[again]])), column.take(pa.array(again))
        other = _unequal(left, right)
        if other is not None:
            raise SourceError(
                f"{owner}: rows of one id must be equal, id {texts[int(again[other])].as_py()!r} has "
                f"{left[other].as_py()!r:.40} and {right[other].as_py()!r:.40} in column {name}, "
                f"rows {first[code[again[other]]]} and {again[other]}"
            )
    kept = pa.array(np.sort(first))
    return table.take(kept), pc.take(texts, kept), len(again)


def _unequal(left: Any, right: Any) -> int | None:
    """Return the first row in which two Arrow arrays differ."""
    if left.equals(right):
        return None
    return next(row for row in range(len(left)) if left[row] != right[row])
