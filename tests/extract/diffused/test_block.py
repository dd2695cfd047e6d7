"""The best entries of each row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn.extract.diffused.block import Block, best_of

scores = st.sampled_from([0.0, 1e-30, 0.25, 0.5, 0.75, 1.0, np.inf])


@given(
    rows=st.lists(st.lists(scores, max_size=8), max_size=5),
    topk=st.none() | st.integers(1, 6),
    threshold=st.sampled_from([0.0, 0.3, 0.5]),
    data=st.data(),
)
def test_best_of_keeps_what_sorting_each_row_would(
    rows: list[list[float]], topk: int | None, threshold: float, data: st.DataObject
) -> None:
    columns = [data.draw(st.permutations(range(len(row)))) for row in rows]
    block = Block(
        7,
        np.cumsum([0, *map(len, rows)]),
        np.array([column for row in columns for column in row], np.int64),
        np.array([score for row in rows for score in row], np.float32),
    )
    found = best_of(block, topk=topk, threshold=threshold)
    expected = []
    for number, (row, column) in enumerate(zip(rows, columns, strict=True)):
        good = [(-score, at) for score, at in zip(row, column, strict=True) if score > 0 and score >= threshold]
        expected += sorted((7 + number, at, -score) for score, at in sorted(good)[:topk])
    entries = zip(found.row.tolist(), found.column.tolist(), found.score.tolist(), strict=True)
    np.testing.assert_allclose(np.array(sorted(entries)).reshape(-1, 3), np.array(expected).reshape(-1, 3), rtol=1e-6)
    assert found.ptr[0] == 0
    assert found.ptr[-1] == len(expected)
