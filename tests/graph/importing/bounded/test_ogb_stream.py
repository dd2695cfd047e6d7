"""Ogb stream: the folder that the in-memory reader makes, byte for byte, and memory that does not grow with it."""

import tracemalloc

import numpy as np
import pytest
from tests.raw_layouts import NUM_NODES, Y, write_ogb_binary

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.work_folder import TemporaryScratch
from shadow_gnn.graph.importing.bounded.ogb_stream import stream_ogb
from shadow_gnn.graph.importing.bounded.out_of_core import MEMORY_BYTES
from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
from shadow_gnn.graph.importing.detect import read_source
from shadow_gnn.graph.importing.options import ImportOptions, NodeFiles
from shadow_gnn.graph.store import Contents, save_contents, save_graph
from shadow_gnn.graph.verify import verify_graph

RNG = np.random.default_rng(0)


def stream_to(root, folder, memory_bytes=MEMORY_BYTES, directed=False, feature_dtype="auto"):
    options = ImportOptions(directed, nodes=NodeFiles(feature_dtype=feature_dtype))
    streaming = StreamOptions(TemporaryScratch(folder.parent), memory_bytes)
    with stream_ogb(root, options, streaming) as (arrays, num_columns, summary):
        save_contents(Contents(arrays, directed, num_columns), folder)
    return summary


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def larger(num_nodes, num_edges, num_columns=5):
    return {
        "edge_index": RNG.integers(num_nodes, size=(2, num_edges)),
        "node_feat": RNG.normal(size=(num_nodes, num_columns)).astype(np.float32),
        "num_nodes_list": np.array([num_nodes]),
        "num_edges_list": np.array([num_edges]),
        "node_label": np.where(RNG.random((num_nodes, 1)) < 0.9, np.nan, RNG.integers(9, size=(num_nodes, 1))),
    }


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        larger(500, 3000),
        {"edge_index": np.asfortranarray(np.array([[0, 1, 2], [1, 2, 0]])), "num_edges_list": np.array([3])},
        {"edge_index": np.array([[0, 1], [1, 2]], dtype=np.int32), "num_edges_list": np.array([2])},
        {"node_feat": np.ones((NUM_NODES, 2), np.float16)},
        {"node_feat": np.ones((NUM_NODES, 2), ">f8")},
        {"node_label": Y},
        {"node_label": np.eye(NUM_NODES)},
    ],
)
def test_equals_the_reader_in_memory_byte_for_byte(tmp_path, save, changes):
    root = write_ogb_binary(tmp_path / "papers", save=save, **changes)
    graph, expected = read_source(root)
    save_graph(graph, tmp_path / "memory")
    summary = stream_to(root, tmp_path / "stream", memory_bytes=20_000)
    assert summary == expected
    assert tree(tmp_path / "stream") == tree(tmp_path / "memory")
    verify_graph(tmp_path / "stream")


def test_directed_and_half_precision(tmp_path):
    root = write_ogb_binary(tmp_path / "papers", **larger(200, 900))
    graph, expected = read_source(root)
    summary = stream_to(root, tmp_path / "g", directed=True, feature_dtype="float16", memory_bytes=20_000)
    assert summary.directed
    assert summary.num_edges >= expected.num_edges
    verify_graph(tmp_path / "g")
    np.testing.assert_array_equal(np.load(tmp_path / "g" / "x.npy"), graph.x.matrix.astype(np.float16))


def test_memory_stays_bounded_as_the_data_set_grows(tmp_path, monkeypatch):
    monkeypatch.setattr("shadow_gnn.base.files.BLOCK_BYTES", 1 << 18)
    monkeypatch.setattr("shadow_gnn.graph.importing.table._BLOCK_BYTES", 1 << 16)
    # Once before, so that imports do not count.
    stream_to(write_ogb_binary(tmp_path / "papers"), tmp_path / "g")
    peaks = []
    for scale in (4, 12):
        changes = larger(20_000 * scale, 100_000 * scale, 16)
        root = write_ogb_binary(tmp_path / f"papers-{scale}", save=np.savez, **changes)
        del changes
        tracemalloc.start()
        stream_to(root, tmp_path / f"g-{scale}", memory_bytes=4 << 20)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The larger one has 19 MB of edges and 15 MB of features.
    assert peaks[1] < 5 << 20
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"edge_index": np.zeros((3, 8), np.int64)}, "edge_index must be two rows of ids"),
        ({"num_edges_list": np.array([7])}, "as many edges as num_edges_list"),
        ({"num_nodes_list": np.array([6, 6])}, "num_nodes_list must be a single count"),
        ({"edge_index": np.full((2, 8), 6)}, r"data.npz: build_lists: src must be in 0..5, got 6 in row 0"),
        ({"node_feat": np.ones((5, 2))}, r"node_feat must have one row per node \(6\), got 5"),
        ({"node_feat": np.full((6, 2), np.inf)}, "node_feat, rows from 0 on: features must be finite, row 0"),
        ({"node_feat": np.asfortranarray(np.ones((6, 2)))}, "node_feat must be stored row by row"),
        ({"edge_feat": np.ones(7)}, r"edge_feat must have one row per edge \(8\), got shape \(7, 1\)"),
        ({"edge_feat": np.full((8, 2), np.nan)}, "edge features must be finite, row 0 is not"),
        ({"node_label": np.ones(5)}, r"node_label must have one row per node \(6\), got 5"),
        ({"node_label": np.full(6, 0.5)}, "class labels must be whole numbers"),
        ({"splits": {"train": [9], "valid": [], "test": []}}, "must hold"),
    ],
)
def test_bad_files_are_named_and_leave_nothing(tmp_path, changes, fault):
    root = write_ogb_binary(tmp_path / "papers", **changes)
    with pytest.raises(SourceError, match=fault):
        stream_to(root, tmp_path / "g", memory_bytes=20_000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["papers"]


def test_eight_bits_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must be auto, float32 or float16 in bounded memory, got int8"):
        stream_to(write_ogb_binary(tmp_path / "papers"), tmp_path / "g", feature_dtype="int8")


@pytest.mark.parametrize("key", ["edge_index", "node_feat"])
def test_a_changed_byte_is_found(tmp_path, key):
    root = write_ogb_binary(tmp_path / "papers", save=np.savez, **larger(500, 3000))
    raw = bytearray((root / "raw" / "data.npz").read_bytes())
    raw[raw.index(f"{key}.npy".encode()) + 2000] ^= 1
    (root / "raw" / "data.npz").write_bytes(raw)
    with pytest.raises(SourceError, match=rf"data.npz: (array '{key}': Bad CRC-32|.*must be)"):
        stream_to(root, tmp_path / "g", memory_bytes=60_000)
    assert not (tmp_path / "g").exists()
