"""Attach: features, labels and splits from files of their own."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.detect import read_source
from shadow_gnn.graph.importing.options import ImportOptions, NodeFiles
from shadow_gnn.graph.record import SparseFeatures


def read(tmp_path, edges="0,1\n1,2\n", **files):
    """Import a small edge list with node files given as text, arrays, matrices or Arrow tables."""
    (tmp_path / "e.csv").write_text(edges)
    options = {}
    for name, value in files.items():
        path = tmp_path / name
        if isinstance(value, np.ndarray):
            path = path.with_suffix(".npy")
            np.save(path, value)
        elif isinstance(value, pa.Table):
            path = path.with_suffix(".parquet")
            pq.write_table(value, path)
        elif sp.issparse(value):
            path = path.with_suffix(".npz")
            sp.save_npz(path, value)
        elif isinstance(value, str) and name in ("features", "labels", "splits", "train", "valid", "test"):
            path = path.with_suffix(".csv")
            path.write_text(value)
        else:
            options[name] = value
            continue
        options[name] = path
    return read_source(tmp_path / "e.csv", ImportOptions(nodes=NodeFiles(**options)))[0]


def rows(graph):
    return graph.x.rows(np.arange(graph.num_nodes)).tolist()


def splits(graph):
    return {name: ids.tolist() for name, ids in graph.splits.items()}


def test_npy_features_set_the_number_of_nodes_if_nodes_are_to_be_added(tmp_path):
    graph = read(tmp_path, "0,3\n", features=np.arange(10.0).reshape(5, 2), unknown="add")
    assert graph.num_nodes == 5
    assert graph.node_name is None
    assert rows(graph)[4] == [8, 9]
    assert graph.x.matrix.dtype == np.float32


@pytest.mark.parametrize(("dtype", "stored"), [("float16", np.float16), ("float32", np.float32), ("int8", np.int8)])
def test_feature_dtypes(tmp_path, dtype, stored):
    graph = read(tmp_path, features=np.array([[1.0, -127], [0.5, 0], [0, 127]]), feature_dtype=dtype)
    assert graph.x.matrix.dtype == stored
    np.testing.assert_allclose(rows(graph), [[1, -127], [0.5, 0], [0, 127]], atol=0.005)


def test_sparse_features_stay_sparse(tmp_path):
    matrix = sp.csr_array(np.array([[0, 1], [2, 0], [0, 0]], np.float32))
    graph = read(tmp_path, features=matrix)
    assert isinstance(graph.x, SparseFeatures)
    assert rows(graph) == [[0, 1], [2, 0], [0, 0]]


def test_parquet_features_by_position_and_by_column(tmp_path):
    table = pa.table({"a": [1, 2, 3], "b": [0.5, 0.25, 0.125]})
    assert rows(read(tmp_path, features=table)) == [[1, 0.5], [2, 0.25], [3, 0.125]]
    assert rows(read(tmp_path, features=table, feature_columns=("b",))) == [[0.5], [0.25], [0.125]]


def test_tables_are_matched_by_name_and_may_bring_isolated_nodes(tmp_path):
    graph = read(
        tmp_path,
        "ann,bob\nbob,cy\n",
        unknown="add",
        features="node,f\ncy,3\nann,1\nbob,2\ndan,4\n",
        labels="node,label\nbob,1\nann,0\n",
        splits="node,split\nann,train\nbob,val\ncy,test\n",
    )
    assert [graph.node_name[node] for node in range(4)] == ["ann", "bob", "cy", "dan"]
    assert rows(graph) == [[1], [2], [3], [4]]
    assert graph.y.tolist() == [0, 1, -1, -1]
    assert splits(graph) == {"train": [0], "valid": [1], "test": [2]}


def test_rows_of_unknown_nodes_are_left_out_if_asked(tmp_path):
    graph = read(
        tmp_path,
        "ann,bob\n",
        unknown="drop",
        features="node,f\ndan,4\nann,1\nbob,2\n",
        labels="node,label\ndan,1\nann,0\nbob,1\n",
        splits="node,split\ndan,test\nann,train\n",
    )
    assert (rows(graph), graph.y.tolist(), splits(graph)) == ([[1], [2]], [0, 1], {"train": [0], "test": []})


def test_names_of_a_split_file_may_have_blanks(tmp_path):
    edges = "ann lee,bob\nbob,cy d\n"
    assert splits(read(tmp_path, edges, train="ann lee\ncy d\n")) == {"train": [0, 2]}
    assert splits(read(tmp_path, edges, train="node\nann lee\n", test="bob\n")) == {"train": [0], "test": [1]}


def test_ids_of_a_split_file_are_added_if_asked(tmp_path):
    graph = read(tmp_path, "ann,bob\n", unknown="add", train="zoe\n")
    assert [graph.node_name[node] for node in splits(graph)["train"]] == ["zoe"]


def test_tables_are_matched_by_integers_with_gaps(tmp_path):
    graph = read(tmp_path, "10,20\n20,30\n", labels="id,y\n30,2\n10,0\n20,1\n", train="20\n")
    assert graph.y.tolist() == [0, 1, 2]
    assert splits(graph) == {"train": [1]}


def test_label_kinds(tmp_path):
    assert read(tmp_path, labels=np.array([2, 0, -1])).y.dtype == np.int64
    assert read(tmp_path, labels=np.array([0.5, 1, 2])).y.dtype == np.float32
    assert read(tmp_path, labels=np.array([1.0, np.nan, 2])).y.tolist() == [1, -1, 2]
    assert read(tmp_path, labels=np.array([1.0, 0, 2]), label_kind="value").y.dtype == np.float32
    assert read(tmp_path, labels=np.array([[1, 0], [0, 0], [1, 1]])).y.dtype == np.uint8
    assert read(tmp_path, labels="a,b\n1,0\n0,0\n1,1\n").y.tolist() == [[1, 0], [0, 0], [1, 1]]


def test_splits_from_ids_masks_and_text(tmp_path):
    graph = read(tmp_path, train=np.array([2]), valid=np.array([True, False, False]), test="1\n")
    assert splits(graph) == {"train": [2], "valid": [0], "test": [1]}


def test_random_split_has_the_asked_sizes_is_repeatable_and_skips_unknown_labels(tmp_path):
    y = np.array([0] * 100 + [-1] * 20)
    drawn = [read(tmp_path, labels=y, split_shares=(60, 20, 20), seed=seed, unknown="add") for seed in (1, 1, 2)]
    assert {name: len(ids) for name, ids in drawn[0].splits.items()} == {"train": 60, "valid": 20, "test": 20}
    assert sorted(np.concatenate(list(drawn[0].splits.values())).tolist()) == list(range(100))
    assert splits(drawn[0]) == splits(drawn[1])
    assert splits(drawn[0]) != splits(drawn[2])


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"features": np.array([[1], [2], [np.nan]])}, r"features\.npy: features must be finite, row 2 is not"),
        ({"features": np.ones((2, 2))}, r"column 1 must be in 0\.\.1, got 2"),
        ({"features": np.full((3, 1), 1e30), "feature_dtype": "float16"}, "must fit float16, row 0"),
        ({"features": "node,f\n0,1\n1,2\n"}, r"features\.csv: must have a row for every node, node 2 has none"),
        ({"features": "node,f\n0,1\n1,2\n1,2\n2,3\n"}, "node 1 has several"),
        ({"features": "f\n1\n2\n"}, r"one row per node \(3\), got 2"),
        ({"features": "node,f\n0,1\n1,x\n"}, "line 3: column f must be a number, got 'x'"),
        ({"labels": np.ones(4, int), "features": np.ones((3, 1))}, r"labels must have one row per node \(3\)"),
        ({"labels": np.array([[0, 2], [1, 1], [0, 0]])}, "0 or 1, row 0"),
        ({"labels": "node,y\n0,0.5\n"}, "node 1 has none"),
        ({"splits": "node,split\n0,train\n0,test\n"}, "splits must not overlap, node 0 is in train and test"),
        ({"splits": "node,split\n0,fold1\n"}, "train, valid or test, got 'fold1'"),
        ({"splits": "node,part\n0,train\n"}, "columns node and split"),
        ({"train": np.array([0, 1]), "test": np.array([1])}, "node 1 is in train and test"),
        ({"train": np.array([5])}, r"in 0\.\.2, got 5"),
        ({"features": np.ones((5, 2))}, "it has 5 and the edges name nodes up to 2; --unknown add or --num-nodes 5"),
        ({"edges": "src,dst\n"}, "must have at least one row"),
        ({"edges": "a,b\n", "labels": "node,y\na,1\nz,0\n"}, "got 'z' in row 1; --unknown drop"),
        ({"edges": "a,b\n", "splits": "node,split\nz,train\n"}, "got 'z' in row 0; --unknown drop"),
        ({"edges": "a,b\n", "train": "z\n"}, "ids must be nodes of the graph, got 'z' in row 0"),
        ({"edges": "a,b\n", "features": "f\n1\n2\n"}, "must have a column of node ids"),
    ],
)
def test_bad_files_get_one_line(tmp_path, files, fault):
    with pytest.raises(SourceError, match=fault) as caught:
        read(tmp_path, **files)
    assert "\n" not in str(caught.value)


def test_two_sources_of_splits_are_refused(tmp_path):
    with pytest.raises(ValueError, match="one place"):
        read(tmp_path, train=np.array([0]), split_shares=(60, 20, 20))
