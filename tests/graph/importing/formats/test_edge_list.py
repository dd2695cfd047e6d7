"""Edge lists: formats, headers, ids and the lines that break them."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.edge_list import read_edge_list
from shadow_gnn.graph.importing.options import EdgeListOptions, ImportOptions


def names(graph):
    return None if graph.node_name is None else [graph.node_name[node] for node in range(graph.num_nodes)]


def edges(graph):
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return sorted(zip(graph.indices.tolist(), row.tolist(), strict=True))


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.csv", "0,1\n1,2\n"),
        ("e.csv", "src,dst\n0,1\n1,2\n"),
        ("e.csv", "0, 1\n1, 2"),
        ("e.csv", '"src","dst"\n0,1\n\n1,2\n'),
        ("e.csv", "\ufeffsrc,dst\r\n0,1\r\n1,2\r\n"),
        ("e.csv", "a;b\n0;1\n1;2\n"),
        ("e.tsv", "0\t1\n1\t2\n"),
        ("e.tsv", "time\tsource\ttarget\n7\t0\t1\n8\t1\t2\n"),
        ("e.txt", "# comment\n# FromNodeId ToNodeId\n0\t1\n1\t2\n"),
        ("e.txt", "% comment\n  0   1\n 1 \t 2  \n"),
        ("e.edges", "0 1\n1 2"),
        ("e.csv.gz", "0,1\n1,2\n"),
        ("e.txt.gz", "0  1\n1  2\n"),
    ],
)
def test_text_formats_give_the_path_of_three(tmp_path, name, text):
    graph, summary = read_edge_list(write(tmp_path, name, text), ImportOptions(directed=True))
    assert edges(graph) == [(0, 1), (1, 2)]
    assert graph.num_nodes == 3
    assert graph.node_name is None
    assert summary.edges_read == 2


@pytest.mark.parametrize("dtype", [pa.int32(), pa.uint64(), pa.string(), pa.large_string()])
def test_parquet_of_integers_and_of_text(tmp_path, dtype):
    table = pa.table({"src": pa.array([0, 1]).cast(dtype), "dst": pa.array([1, 2]).cast(dtype)})
    pq.write_table(table, tmp_path / "e.parquet")
    graph, _ = read_edge_list(tmp_path / "e.parquet", ImportOptions(directed=True))
    assert edges(graph) == [(0, 1), (1, 2)]
    assert names(graph) == (["0", "1", "2"] if pa.types.is_large_string(dtype) or dtype == pa.string() else None)


def test_text_ids_are_numbered_by_their_bytes_and_kept(tmp_path):
    path = write(tmp_path, "e.csv", "from,to\nzoë,anna\nanna,Ben\n\n")
    graph, summary = read_edge_list(path, ImportOptions(directed=True))
    assert names(graph) == ["Ben", "anna", "zoë"]
    assert edges(graph) == [(1, 0), (2, 1)]
    assert any("original ids are kept" in note for note in summary.notes)


def test_text_ids_without_header(tmp_path):
    graph, _ = read_edge_list(write(tmp_path, "e.txt", "a b\nb c\n"))
    assert names(graph) == ["a", "b", "c"]


@settings(max_examples=50, deadline=None)
@given(pairs=st.lists(st.tuples(st.text("abcö0", max_size=3), st.text("abcö0", max_size=3)), min_size=1, max_size=20))
def test_any_text_ids_keep_the_edges(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("text") / "e.csv"
    path.write_text("src,dst\n" + "".join(f'"{u}","{v}"\n' for u, v in pairs))
    graph, _ = read_edge_list(path, ImportOptions(directed=True, edge_list=EdgeListOptions(ids="string")))
    table = names(graph)
    assert {(table[u], table[v]) for u, v in edges(graph)} == {(u, v) for u, v in pairs if u != v}
    assert table == sorted({name for pair in pairs for name in pair}, key=str.encode)


def test_integers_with_gaps_are_renumbered_and_kept(tmp_path):
    graph, _ = read_edge_list(write(tmp_path, "e.csv", "10,5\n5,4000000000000\n"), ImportOptions(directed=True))
    assert names(graph) == ["5", "10", "4000000000000"]
    assert edges(graph) == [(0, 2), (1, 0)]
    graph, _ = read_edge_list(write(tmp_path, "e.csv", "0,2\n"), ImportOptions(directed=True))
    assert names(graph) == ["0", "2"]


def test_num_nodes_keeps_integers_as_they_are(tmp_path):
    graph, _ = read_edge_list(write(tmp_path, "e.csv", "0,2\n"), ImportOptions(edge_list=EdgeListOptions(num_nodes=5)))
    assert graph.num_nodes == 5
    assert graph.node_name is None


def test_weight_and_edge_features(tmp_path):
    path = write(tmp_path, "e.csv", "src,dst,weight,a,b,note\n0,1,2.5,1,-1,x\n1,0,9,3,-3,y\n1,2,1e-3,2,-2,z\n")
    graph, summary = read_edge_list(path, ImportOptions(edge_list=EdgeListOptions(edge_features=("a", "b"))))
    np.testing.assert_array_equal(graph.edge_weight, np.float32([2.5, 2.5, 1e-3, 1e-3]))
    np.testing.assert_array_equal(graph.edge_attr, [[1, -1], [1, -1], [2, -2], [2, -2]])
    assert graph.edge_id.tolist() == [0, 0, 2, 2]
    assert summary.notes == ("columns not used: note",)


def test_weight_column_by_number(tmp_path):
    graph, _ = read_edge_list(
        write(tmp_path, "e.txt", "0 1 0.5\n1 2 2\n"), ImportOptions(edge_list=EdgeListOptions(weight="2"))
    )
    np.testing.assert_array_equal(graph.edge_weight, np.float32([0.5, 0.5, 2, 2]))


def test_third_column_is_no_weight_unless_asked(tmp_path):
    graph, summary = read_edge_list(write(tmp_path, "e.txt", "0 1 77\n1 2 78\n"))
    assert graph.edge_weight is None
    assert summary.notes == ("columns not used: 2",)


def test_many_blocks_are_joined(tmp_path, monkeypatch):
    monkeypatch.setattr("shadow_gnn.graph.importing.table._BLOCK_BYTES", 64)
    rows = [(f"n{i % 37}", f"n{(i * i + 1) % 41}") for i in range(300)]
    graph, _ = read_edge_list(
        write(tmp_path, "e.csv", "\n".join(",".join(row) for row in rows)), ImportOptions(directed=True)
    )
    table = names(graph)
    assert {(table[u], table[v]) for u, v in edges(graph)} == {(u, v) for u, v in rows if u != v}


@pytest.mark.parametrize(
    ("text", "options", "fault"),
    [
        ("0,1\n\n1,-2\n", {}, "line 3: column 1 must be at least 0, got -2"),
        ("0,1\n1,x\n", {}, "line 2: column 1 must be an integer, got 'x'"),
        ("src,dst\n0,1\n1,1.5\n", {}, "line 3: column dst must be an integer, got '1.5'"),
        ("1.5,2\n", {}, "line 1: column 0 must be an integer, got '1.5'"),
        ("0,1\n1,\n", {}, "line 2: column 1 must be an integer, got ''"),
        ("0,1\n1,99999999999999999999\n", {}, "line 2: column 1 must fit 64 bits"),
        ("0,1\n\n1\n", {}, "line 3 must have 2 columns, got 1"),
        ("0,1\n1,2,3\n", {}, "line 2 must have 2 columns, got 3"),
        ("# head\n0 1\n1 2 3\n", {}, "line 3 must have 2 columns, got 3"),
        ("0,1\n1,7\n", {"num_nodes": 7}, r"line 2: column 1 must be in 0\.\.6, got 7"),
        ("0,1,1\n1,2,nan\n", {"weight": "2"}, "line 2: column 2 must be finite and positive, got nan"),
        ("0,1,1\n1,2,0\n", {"weight": "2"}, "line 2: column 2 must be finite and positive, got 0.0"),
        ("0,1,1\n1,2,w\n", {"weight": "2"}, "line 2: column 2 must be a number, got 'w'"),
        ("0,1,1\n1,2,inf\n", {"edge_features": ("2",)}, "line 2: edge features must be finite"),
        ("0,1\n", {"weight": "w"}, "must have a column 'w', it has 0, 1"),
        ("0,1\n", {"src": "0", "dst": "0"}, "must differ"),
        ("a,b\n", {"num_nodes": 2}, "integer ids only"),
        ("5\n6\n", {}, "two columns"),
        ("# nothing\n", {}, "at least one line"),
        ("a,a\n1,2\n", {}, "column names must differ"),
        ("0,1\0\n", {}, "not a text file"),
    ],
)
def test_bad_input_gets_one_line(tmp_path, text, options, fault):
    with pytest.raises(SourceError, match=fault) as caught:
        read_edge_list(
            write(tmp_path, "e.csv" if "," in text else "e.txt", text),
            ImportOptions(edge_list=EdgeListOptions(**options)),
        )
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


def test_text_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "e.csv").write_bytes(b"src,dst\nann,bob\nbob,J\xfcrgen\n")
    with pytest.raises(SourceError, match="line 3: column dst must be UTF-8 text"):
        read_edge_list(tmp_path / "e.csv")


def test_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("shadow_gnn.graph.importing.archive.FREE_BYTES", 0)
    path = write(tmp_path, "e.csv.gz", "0,1\n" * 2_000_000)
    with pytest.raises(SourceError, match="bomb"):
        read_edge_list(path)


def test_cut_gzip_is_refused(tmp_path):
    path = write(tmp_path, "e.csv.gz", "0,1\n1,2\n" * 1000)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(SourceError, match="cannot be read"):
        read_edge_list(path)


def test_parquet_bomb_cut_null_and_float_ids_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"src": [0, None], "dst": [1, 2]}), path)
    with pytest.raises(SourceError, match="1 rows have none"):
        read_edge_list(path)
    pq.write_table(pa.table({"src": [0.5, 1], "dst": [1, 2]}), path)
    with pytest.raises(SourceError, match="must hold integers, got double"):
        read_edge_list(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(SourceError, match="not a readable Parquet"):
        read_edge_list(path)
    monkeypatch.setattr("shadow_gnn.graph.importing.archive.FREE_BYTES", 0)
    pq.write_table(pa.table({"src": np.zeros(10_000_000, np.int64), "dst": np.zeros(10_000_000, np.int64)}), path)
    with pytest.raises(SourceError, match="bomb"):
        read_edge_list(path)
