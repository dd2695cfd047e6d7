"""Columns: recognized, and encoded as plain Python encodes them, cell by cell."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.importing.columns.slow_columns import slow_encode, slow_values, slow_words

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.columns import values
from shadow_gnn.graph.importing.columns.encode import encode, encode_all
from shadow_gnn.graph.importing.columns.nested import unnested
from shadow_gnn.graph.importing.columns.plan import ColumnPlan, ImportPlan, dump_plan, read_plan
from shadow_gnn.graph.importing.columns.recognize import Limits, fit, recognize
from shadow_gnn.graph.importing.columns.texts import fit_texts, unpacked
from shadow_gnn.graph.importing.columns.values import plain

CELLS = {
    "number": st.sampled_from(
        ["1", "+2", "-0.5", "1e3", ".5", "3.", " 7 ", "NA", "", None, "0", "0.25", "1,234.5", "-$12", "7%"]
    ),
    "boolean": st.sampled_from(["yes", "No", "TRUE", "false", None, "?"]),
    "date": st.sampled_from(
        ["2020-01-02", "1969-12-31 23:59", "2021-03-04T05:06:07Z", "2021-03-04T05:06:07.25+02:00", "n/a", "2000-02-29"]
    ),
    "any": st.one_of(st.none(), st.text(st.sampled_from("01 .-eax"), max_size=5), st.dates().map(str)),
}
READERS = {"number": values.numbers, "boolean": values.booleans, "date": values.seconds}


def column(cells):
    return plain(pa.chunked_array([pa.array(cells, pa.string())]))


def encoded(array, plan, name="c"):
    out = np.zeros((len(array), len(plan.column_names(name))), np.float32)
    encode(array, plan, name, "t", out)
    return out


@pytest.mark.parametrize("kind", ["number", "boolean", "date"])
@given(data=st.data())
def test_cells_are_read_as_one_at_a_time(kind, data):
    cells = data.draw(st.lists(CELLS[kind] | CELLS["any"], max_size=8))
    found = READERS[kind](column(cells))
    expected, wrong = slow_values(cells, kind)
    assert found.wrong == wrong
    if wrong is None:
        assert [None if math.isnan(value) else value for value in found.values] == expected


@pytest.mark.parametrize("kind", ["number", "boolean", "date"])
@given(data=st.data())
def test_kinds_are_recognized_and_encoded_as_one_cell_at_a_time(kind, data):
    cells = data.draw(st.lists(CELLS[kind], min_size=1, max_size=8))
    array = column(cells)
    found = recognize(array, "c", "t", Limits(date_parts=("day", "month", "weekday"))).plan
    if array.null_count == len(array):
        assert found.kind == "ignore"
        return
    assert found.kind == kind
    np.testing.assert_allclose(encoded(array, found), np.array(slow_encode(cells, found), np.float32), rtol=1e-6)


@given(st.lists(CELLS["any"], max_size=12), st.lists(CELLS["any"], max_size=12), st.sampled_from(["one-hot", "index"]))
def test_categories_are_encoded_as_one_cell_at_a_time(cells, later, encoding):
    found = fit(column(cells), ColumnPlan(kind="category", encoding=encoding), "c", "t")
    again = read_plan(dump_plan(ImportPlan(nodes={"größe": found})), "t").nodes["größe"]
    assert again == found
    for rows in (cells, later):
        assert encoded(column(rows), again).tolist() == slow_encode(rows, again)


def test_record_survives_any_name():
    plan = ImportPlan(nodes={'a.\x7f"b': ColumnPlan(kind="category", categories=("a\x7f\n", "'"))})
    assert read_plan(dump_plan(plan), "t") == plan


@pytest.mark.parametrize(
    ("cells", "kind", "reason"),
    [
        (["01067", "80331", "01067"], "category", ""),
        ([f"user{number}" for number in range(40)], "ignore", "nearly all values differ"),
        ([f"user{number % 10}" for number in range(40)], "category", ""),
        ([f"a long text about {number} things" for number in range(40)], "text", ""),
        (["New York City", "Rio de Janeiro"] * 20, "category", ""),
        (["", "NA", None], "ignore", "no values"),
        (["2020/01/02", "2021/03/04"], "date", ""),
        (["31.01.2020", "28.02.2021"], "date", ""),
        (["2020-02-31"] * 3, "category", ""),
        (["Apr 27, 2026", "Dec 1, 2025"], "date", ""),
        (["04/27/2026 20:14", "12/01/2025 08:00"], "date", ""),
        (["27/04/2026", "01/12/2025"], "date", ""),
        (["03/04/2026", "01/12/2025"] * 3, "category", ""),
        (["1,234", "12", "3,000,000"], "number", ""),
        (["$5", "€7.50"], "number", ""),
        (["1,5", "2,5"] * 9, "category", ""),
    ],
)
def test_texts_are_recognized(cells, kind, reason):
    found = recognize(column(cells), "c", "t")
    assert (found.plan.kind, found.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("array", "kind", "names"),
    [
        (pa.array([1, None, 3]), "number", ("c", "c is missing")),
        (pa.array([1.5, float("nan"), 3]), "number", ("c", "c is missing")),
        (pa.array([True, False]), "boolean", ("c",)),
        (pa.array([86400, 0], pa.timestamp("s")), "date", ("c",)),
        (pa.array([1, 0], pa.date32()), "date", ("c",)),
        (pa.array(["a", "b"]).dictionary_encode(), "category", ("c=a", "c=b", "c is unseen")),
        (pa.array([[1, 2], [3, 4]]), "list", ("c 0", "c 1")),
        (pa.array([[1, 2], None], pa.list_(pa.float32(), 2)), "list", ("c 0", "c 1", "c is missing")),
        (pa.array([[1], [3, 4]]), "ignore", ()),
        (pa.array([b"a", b"b"]), "ignore", ()),
    ],
)
def test_types_of_arrow_are_recognized(array, kind, names):
    array = plain(array)
    found = recognize(array, "c", "t").plan
    assert (found.kind, found.column_names("c")) == (kind, names)
    assert encode_all({"c": array}, {"c": found}, len(array), "t").shape == (len(array), len(names))


def test_more_values_than_the_limit_become_an_index():
    cells = [f"v{number:02}" for number in range(9)] * 3
    assert recognize(column(cells), "c", "t", Limits(one_hot=8)).plan.encoding == "index"
    assert recognize(column(cells), "c", "t", Limits(one_hot=9)).plan.encoding == "one-hot"


def test_objects_and_texts_of_json_become_columns_of_their_own():
    cells = pa.array(['{"size": 1, "in": {"x": true}}', None, '{"size": 2.5, "more": [1, 2]}'])
    found = unnested({"meta": cells, "where": pa.array(["[1, 2]", "[3,\n4]", ""])})
    assert list(found) == ["meta.size", "meta.in.x", "meta.more", "where"]
    assert found["meta.size"].to_pylist() == [1, None, 2.5]
    assert found["meta.more"].to_pylist() == [None, None, [1, 2]]
    assert found["where"].to_pylist() == [[1, 2], [3, 4], None]
    assert unnested({"tags": pa.array([["a", "b"], [], None])})["tags"].to_pylist() == ["a b", None, None]
    assert unnested({"a": pa.array(["[draft] a", "[b]"])})["a"].to_pylist() == ["[draft] a", "[b]"]
    assert unnested({"a": pa.array(["{1}", "{2}"])})["a"].to_pylist() == ["{1}", "{2}"]


TEXTS = [
    "Graphs of words, and words of graphs",
    "A graph learns from words!",
    None,
    "numbers 12 and 13; numbers learn",
    "Größe und Länge: words",
    "graphs learn numbers 12",
    "zebra",
]


def slow_weights(texts):
    """Return dense TF-IDF rows of length 1, and the vocabulary."""
    bags = [slow_words(text) for text in texts]
    words = sorted({word for bag in bags for word in bag if sum(word in other for other in bags) > 1})
    rows = np.zeros((len(texts), len(words)))
    for row, bag in enumerate(bags):
        for place, word in enumerate(words):
            if bag[word]:
                rarity = math.log((1 + len(texts)) / (1 + sum(word in other for other in bags))) + 1
                rows[row, place] = (1 + math.log(bag[word])) * rarity
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1), words


def test_texts_are_the_largest_singular_vectors_of_tf_idf():
    rows, words = slow_weights(TEXTS)
    found = fit_texts(column(TEXTS), 3)
    assert list(found.words) == words
    matrix = found.encode(column(TEXTS))
    _, size, right = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(np.abs(matrix), np.abs(rows @ right[:3].T), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=0), size[:3], rtol=1e-4)
    assert matrix[2].tolist() == matrix[6].tolist() == [0, 0, 0]


def test_texts_are_encoded_the_same_way_after_a_record_and_in_other_company():
    array = column(TEXTS)
    plan = fit(array, ColumnPlan(kind="text", columns=4), "c", "t")
    again = read_plan(dump_plan(ImportPlan(nodes={"c": plan})), "t").nodes["c"]
    whole = encoded(array, plan)
    assert encoded(array, again).tolist() == whole.tolist()
    for row in range(len(TEXTS)):
        assert encoded(array.slice(row, 1), again).tolist() == whole[row : row + 1].tolist()


def test_texts_fitted_on_a_part_of_the_rows_keep_the_words_of_all(monkeypatch):
    monkeypatch.setattr("shadow_gnn.graph.importing.columns.texts.FIT_ROWS", 3)
    monkeypatch.setattr("shadow_gnn.graph.importing.columns.texts._BLOCK", 2)
    found = fit_texts(column(TEXTS), 2)
    assert list(found.words) == slow_weights(TEXTS)[1]
    assert found.components.shape == (len(found.words), 2)


def test_a_damaged_vocabulary_is_one_line():
    words, numbers = fit_texts(column(TEXTS), 2).packed()
    assert unpacked(words, numbers, 2, "t").words
    for bad in ((words[:-8], numbers), (words, numbers[:40]), ("!", numbers)):
        with pytest.raises(SourceError, match="must be as they were written"):
            unpacked(*bad, 2, "t")


def test_a_text_without_common_words_is_left_out():
    found = recognize(column([f"a{n} b{n} c{n}" for n in range(30)]), "c", "t")
    assert (found.plan.kind, found.reason) == ("ignore", "no word is in two rows")


def test_difference_of_plans_names_the_key():
    plan = ColumnPlan(kind="date", origin=1.0, fill=2.0)
    assert plan.difference(ColumnPlan(kind="date", origin=1.0, fill=3.0)) is None
    assert plan.difference(ColumnPlan(kind="date", origin=2.0, fill=2.0)) == "origin"
