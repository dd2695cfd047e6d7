"""Stream: the folder that the import in memory makes, byte for byte, within a budget, and after any kill."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.graph.importing import streaming
from tests.graph.importing.streaming import ids_of, stream_to, tree, write_edges
from tests.raw_layouts import csv, write_files, write_ogb_binary, write_ogb_text, write_saint

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.work_folder import TemporaryScratch, work_folder_of
from shadow_gnn.graph.importing.bounded import out_of_core
from shadow_gnn.graph.importing.bounded.stream import DiskNeed, disk_estimate, stream_source
from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
from shadow_gnn.graph.importing.detect import read_source
from shadow_gnn.graph.importing.options import EdgeListOptions, ImportOptions, NodeFiles
from shadow_gnn.graph.importing.table import column_batches, open_table
from shadow_gnn.graph.store import Contents, save_contents, save_graph
from shadow_gnn.graph.verify import verify_graph

KINDS = ("dense", "gaps", "sparse", "text")


class Killed(BaseException):
    """Stands for the end of the process."""


def check_equal(tmp_path, source, options=None, memory_bytes=60_000):
    options = options or ImportOptions()
    graph, expected = read_source(source, options)
    save_graph(graph, tmp_path / "memory")
    assert stream_to(source, tmp_path / "stream", options, memory_bytes=memory_bytes) == expected
    found, wanted = tree(tmp_path / "stream"), tree(tmp_path / "memory")
    assert list(found) == list(wanted) or sorted(found) == sorted(wanted)
    assert found == wanted
    verify_graph(tmp_path / "stream")
    assert not work_folder_of(tmp_path / "stream").exists()


@pytest.mark.parametrize("memory_bytes", [60_000, 1 << 24])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_import_in_memory_byte_for_byte(tmp_path, kind, suffix, memory_bytes):
    source = write_edges(tmp_path / f"edges{suffix}", kind)
    check_equal(tmp_path, source, ImportOptions(directed=memory_bytes == 1 << 24), memory_bytes)


@pytest.mark.parametrize("kind", KINDS)
def test_scratch_without_names_gives_the_same(tmp_path, kind):
    source = write_edges(tmp_path / "edges.parquet", kind)
    save_graph(read_source(source)[0], tmp_path / "memory")
    with stream_source(source, ImportOptions(), StreamOptions(TemporaryScratch(tmp_path), 60_000)) as (
        arrays,
        columns,
        _,
    ):
        save_contents(Contents(arrays, False, columns), tmp_path / "stream")
    assert tree(tmp_path / "stream") == tree(tmp_path / "memory")


@pytest.mark.parametrize("memory_bytes", [60_000, 1 << 24])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_features_of_edges_equal_those_of_the_import_in_memory(tmp_path, kind, suffix, memory_bytes):
    source = write_edges(tmp_path / f"edges{suffix}", kind, values=True)
    options = ImportOptions(
        directed=kind == "gaps",
        merge="sum" if memory_bytes == 60_000 else "first",
        edge_list=EdgeListOptions(edge_features=("year", "size") if kind != "sparse" else ()),
    )
    check_equal(tmp_path, source, options, 2 * memory_bytes)


@pytest.mark.parametrize("directed", [False, True])
def test_sums_are_rounded_as_in_memory_where_an_edge_is_there_many_times(tmp_path, directed):
    rng = np.random.default_rng(5)
    src, dst = rng.integers(6, size=(2, 3000))
    weight = rng.lognormal(0, 6, size=3000).astype(np.float32)
    pq.write_table(pa.table({"src": src, "dst": dst, "weight": weight}), tmp_path / "edges.parquet")
    options = ImportOptions(directed=directed, merge="sum", keep_edge_id=True)
    check_equal(tmp_path, tmp_path / "edges.parquet", options, 400_000)


def test_rows_of_the_source_are_kept(tmp_path):
    source = write_edges(tmp_path / "edges.csv", "gaps")
    check_equal(tmp_path, source, ImportOptions(keep_edge_id=True), 120_000)


@pytest.mark.parametrize(("kind", "more"), [("dense", ()), ("gaps", ("number", "node_name_ptr", "node_name_text"))])
def test_parquet_with_ids_that_are_not_high_is_never_copied(tmp_path, kind, more):
    names = set()

    class Watched(TemporaryScratch):
        def rows(self, name, *arguments, **options):
            names.add(name)
            return super().rows(name, *arguments, **options)

    source = write_edges(tmp_path / "edges.parquet", kind)
    with stream_source(source, ImportOptions(), StreamOptions(Watched(tmp_path), 60_000)):
        pass
    assert names == {"keys", "indices", "indptr", *more}


def test_given_number_of_nodes_keeps_ids(tmp_path):
    source = write_edges(tmp_path / "edges.csv", "gaps")
    check_equal(tmp_path, source, ImportOptions(edge_list=EdgeListOptions(num_nodes=2000)), 1 << 20)


def test_an_empty_edge_list_is_refused(tmp_path):
    (tmp_path / "edges.csv").write_text("src,dst\n")
    with pytest.raises(SourceError, match="must have at least one row"):
        stream_to(tmp_path / "edges.csv", tmp_path / "g", ImportOptions(edge_list=EdgeListOptions(ids="integer")))


@pytest.mark.parametrize("directed", [False, True])
def test_surplus_rows_of_features_are_refused(tmp_path, directed):
    source = write_edges(tmp_path / "edges.csv", "dense")
    np.save(tmp_path / "x.npy", np.ones((305, 2)))
    files = NodeFiles(features=tmp_path / "x.npy")
    with pytest.raises(SourceError, match="it has 305 and the edges name nodes up to 299"):
        stream_to(source, tmp_path / "g", ImportOptions(directed=directed, nodes=files))
    check_equal(tmp_path, source, ImportOptions(directed=directed, nodes=replace(files, unknown="add")))


@pytest.mark.parametrize("unknown", ["add", "drop"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "text"])
def test_features_labels_and_splits_come_along(tmp_path, kind, unknown):
    source = write_edges(tmp_path / "edges.csv", kind)
    ids = ids_of(kind, np.arange(320)).tolist()
    rows = "".join(f"{name},{number % 4}\n" for number, name in enumerate(ids))
    (tmp_path / "y.csv").write_text("node,label\n" + rows)
    files = NodeFiles(labels=tmp_path / "y.csv", split_shares=(50, 25, 25), seed=3, unknown=unknown)
    check_equal(tmp_path, source, ImportOptions(nodes=files))


@pytest.mark.parametrize(("dtype", "stored"), [("auto", np.float64), ("float16", np.float32), ("auto", np.float16)])
def test_a_matrix_of_features_is_converted_on_its_way(tmp_path, monkeypatch, dtype, stored):
    monkeypatch.setattr("shadow_gnn.base.files.BLOCK_BYTES", 1 << 10)
    source = write_edges(tmp_path / "edges.csv", "dense")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(300, 7)).astype(stored))
    np.save(tmp_path / "train.npy", np.arange(5))
    files = NodeFiles(features=tmp_path / "x.npy", feature_dtype=dtype, train=tmp_path / "train.npy")
    check_equal(tmp_path, source, ImportOptions(nodes=files))


def test_a_table_of_features_is_taken_too(tmp_path):
    source = write_edges(tmp_path / "edges.csv", "dense")
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{row},{row / 2}\n" for row in range(300)))
    check_equal(tmp_path, source, ImportOptions(nodes=NodeFiles(features=tmp_path / "x.csv", feature_dtype="int8")))


@pytest.mark.parametrize("directed", [False, True])
def test_binary_form_of_ogb(tmp_path, directed):
    source = write_ogb_binary(tmp_path / "papers")
    options = ImportOptions(directed=directed, keep_edge_id=directed)
    check_equal(tmp_path, source / "raw" if directed else source, options)


@pytest.mark.parametrize("attr", [np.arange(8), np.arange(16.0).reshape(8, 2)])
def test_features_of_edges_in_the_binary_form_of_ogb(tmp_path, attr):
    check_equal(tmp_path, write_ogb_binary(tmp_path / "papers", edge_feat=attr))


@pytest.mark.parametrize("attr", [None, [[1], [2], [3], [4], [5], [6], [7], [8]], [[0.5, 2]] * 8])
def test_text_form_of_ogb(tmp_path, attr):
    source = write_ogb_text(tmp_path / "arxiv")
    if attr is not None:
        write_files(source, {"raw/edge-feat.csv.gz": csv(attr)})
    dtype = "auto" if attr is None else "float16"
    options = ImportOptions(directed=attr is not None, nodes=NodeFiles(feature_dtype=dtype))
    check_equal(tmp_path, source if attr is None else source / "raw", options)


@pytest.mark.parametrize("multi", [False, True])
def test_folder_of_graphsaint(tmp_path, multi):
    check_equal(tmp_path, write_saint(tmp_path / "saint", multi=multi), ImportOptions(directed=multi))


def random_matrix(values, kind):
    rng = np.random.default_rng(7)
    row, column = rng.integers(300, size=(2, 2000)) // rng.integers(1, 4, size=(2, 2000))
    data = {"ones": np.ones(2000), "floats": 1 - rng.random(2000), "zeros": rng.integers(2, size=2000)}[values]
    matrix = sp.coo_matrix((data, (row, column)), shape=(300, 300))
    # As CSR and CSC what is there twice is summed; as COO it stays.
    return matrix if kind == "coo" else matrix.asformat(kind)


@pytest.mark.parametrize("merge", ["first", "sum"])
@pytest.mark.parametrize("values", ["ones", "floats", "zeros"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_matrices_of_scipy(tmp_path, kind, values, merge):
    sp.save_npz(tmp_path / "adj.npz", random_matrix(values, kind), compressed=merge == "sum")
    np.save(tmp_path / "x.npy", np.ones((300, 2)))
    nodes = NodeFiles(features=tmp_path / "x.npy", split_shares=(50, 25, 25))
    check_equal(tmp_path, tmp_path / "adj.npz", ImportOptions(merge=merge, nodes=nodes), 150_000)


@pytest.mark.parametrize("sparse", [False, True])
def test_archives_of_plain_keys(tmp_path, sparse):
    matrix = random_matrix("floats", "csr")
    x = sp.random(300, 5, 0.2, format="csr", random_state=1)
    feats = {"feats": x.toarray()}
    if sparse:
        feats = {f"feats_{name}": getattr(x, name) for name in ("indptr", "indices", "data")} | {"feats_shape": x.shape}
    arrays = {"indptr": matrix.indptr, "indices": matrix.indices, "weights": matrix.data, "more": np.ones(3), **feats}
    others = {"labels": np.arange(300) % 3, "train": np.arange(9), "val": np.arange(9, 12)}
    np.savez(tmp_path / "graph.npz", **arrays, **others, val_pos=np.array([[1, 2]]))
    nodes = NodeFiles(split_shares=(60, 20, 20), seed=1) if sparse else NodeFiles()
    check_equal(tmp_path, tmp_path / "graph.npz", ImportOptions(nodes=nodes, keep_edge_id=sparse), 150_000)


@pytest.mark.parametrize(("kind", "values"), [*((kind, False) for kind in KINDS), ("dense", True), ("gaps", True)])
def test_an_import_that_is_killed_anywhere_is_taken_up(tmp_path, monkeypatch, kind, values):
    monkeypatch.setattr(out_of_core, "CHECKPOINT_SECONDS", 0.0)
    source = write_edges(tmp_path / "edges.parquet", kind, values=values)
    options = ImportOptions(merge="sum", edge_list=EdgeListOptions(edge_features=("size",) if values else ()))
    stream_to = partial(streaming.stream_to, options=options, memory_bytes=150_000 if values else 60_000)
    stages: list[str] = []
    stream_to(source, tmp_path / "whole", progress=lambda stage, done, total: stages.append(stage))
    assert {"counting edges", "writing keys", "sorting lists"} <= set(stages)
    for last in range(2, len(stages), 9):
        seen: list[str] = []

        def killing(stage, done, total, last=last, seen=seen):
            seen.append(stage)
            if len(seen) == last:
                raise Killed

        folder = tmp_path / f"killed-{last}"
        with pytest.raises(Killed):
            stream_to(source, folder, progress=killing)
        assert not folder.exists()
        again: list[str] = []
        stream_to(source, folder, progress=lambda stage, done, total, again=again: again.append(stage))
        assert tree(folder) == tree(tmp_path / "whole")
        if seen[-1] in ("writing keys", "sorting lists"):
            assert "counting edges" not in again
            assert len(again) < len(stages)


def test_a_changed_source_is_read_again(tmp_path):
    def killing(stage, done, total):
        if stage == "sorting lists":
            raise Killed

    source = write_edges(tmp_path / "edges.csv", "dense")
    with pytest.raises(Killed):
        stream_to(source, tmp_path / "stream", progress=killing)
    source.write_text("src,dst\n0,1\n1,2\n")
    assert stream_to(source, tmp_path / "stream").num_nodes == 3


KILLING = """
import os, signal, sys
from pathlib import Path
from shadow_gnn.graph.importing.bounded import out_of_core
from tests.graph.importing.streaming import stream_to
out_of_core.CHECKPOINT_SECONDS = 0.0
left = int(sys.argv[3])
def killing(stage, done, total):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
stream_to(Path(sys.argv[1]), Path(sys.argv[2]), progress=killing)
"""


def run_python(code, *arguments):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path(__file__).parents[4]), *sys.path]))
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_sigkill_leaves_no_folder_and_the_next_process_goes_on(tmp_path):
    source = write_edges(tmp_path / "edges.parquet", "text")
    stream_to(source, tmp_path / "whole")
    num_killed = 0
    while (done := run_python(KILLING, source, tmp_path / "stream", 12)).returncode != 0:
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not (tmp_path / "stream").exists()
        assert work_folder_of(tmp_path / "stream").exists()
        num_killed += 1
        assert num_killed < 10
    assert num_killed > 0
    assert tree(tmp_path / "stream") == tree(tmp_path / "whole")
    assert not work_folder_of(tmp_path / "stream").exists()


LIMITED = """
import resource, sys
from pathlib import Path
import numpy, pyarrow, pyarrow.parquet, pyarrow.compute
from shadow_gnn.graph.importing.detect import read_source
from shadow_gnn.graph.store import save_graph
from tests.graph.importing.streaming import stream_to
source, folder, way = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
# Once before, so that what the libraries set up does not count.
stream_to(Path(sys.argv[4]), folder.with_name(f"{folder.name}-warm"))
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
limit = int(status["VmData"].split()[0]) * 1024 + (64 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    if way == "stream":
        stream_to(source, folder, memory_bytes=12 << 20)
    else:
        save_graph(read_source(source)[0], folder)
except MemoryError:
    print("out of memory")
else:
    print("done")
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
@pytest.mark.parametrize("kind", ["sparse", "text"])
def test_anonymous_memory_stays_within_a_data_limit_that_the_import_in_memory_breaks(tmp_path, kind):
    small = write_edges(tmp_path / "small.parquet", kind)
    rng = np.random.default_rng(0)
    node = rng.integers(100_000, size=(2, 1_200_000))
    pool = ids_of(kind, np.arange(100_000))
    source = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"u": pool[node[0]], "v": pool[node[1]]}), source, row_group_size=50_000)
    found = {}
    for way in ("memory", "stream"):
        done = run_python(LIMITED, source, tmp_path / way, way, small)
        assert done.returncode == 0, done.stderr
        found[way] = done.stdout.strip()
    assert found == {"memory": "out of memory", "stream": "done"}
    verify_graph(tmp_path / "stream")


@pytest.mark.parametrize(
    ("text", "options", "fault"),
    [
        ("src,dst,weight\n0,1,2\n1,2,-1\n", {}, r"line 3: column weight must be finite and positive, got -1.0"),
        ("src,dst,weight\n0,1,2\n1,2,inf\n", {}, r"line 3: column weight must be finite and positive, got inf"),
        ("src,dst,a\n0,1,2\n1,2,nan\n", {"edge_features": ("a",)}, "line 3: edge features must be finite"),
        ("src,dst\n0,1\n1,-2\n", {}, r"line 3: column dst must be at least 0, got -2"),
        ("src,dst\n0,1\n9,2\n", {"num_nodes": 5}, r"line 3: column src must be in 0..4, got 9"),
        ("src,dst\nada,bob\n", {"num_nodes": 5}, "num_nodes is for integer ids only"),
        ("src,dst\n0,1\nx,2\n", {}, "line 3: column src must be an integer, got 'x'"),
    ],
)
def test_bad_edges_are_named_and_leave_nothing(tmp_path, text, options, fault):
    (tmp_path / "edges.csv").write_text(text)
    with pytest.raises(SourceError, match=fault):
        stream_to(tmp_path / "edges.csv", tmp_path / "g", ImportOptions(edge_list=EdgeListOptions(**options)))
    assert os.listdir(tmp_path) == ["edges.csv"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"indptr": [0, 2, 1, 3]}, "indptr must rise from 0 to 3"),
        ({"indptr": [0, 1, 2, 4]}, "indptr must rise from 0 to 3"),
        ({"indptr": [1, 1, 2, 3]}, "indptr must rise from 0 to 3"),
        ({"indptr": [0.0, 1, 2, 3]}, "indptr must be 4 integers"),
        ({"indices": [0, 1, 3]}, r"indices must be in 0..2, got 3"),
        ({"indices": [0, 1, -1]}, r"indices must be in 0..2, got -1"),
        ({"indices": [[0, 1, 2]]}, "indices must be 1-D integers"),
        ({"weights": [1.0, 2.0]}, "indices, weights must have equal lengths"),
        ({"weights": [1.0, 2.0, -3.0]}, r"weight must be finite and positive, got -3.0 in row 2"),
        ({"feats": np.ones((2, 2))}, r"feats must have one row per node \(3\), got 2"),
        ({"format": np.array(b"bsr")}, "format must be csr, csc or coo, got 'bsr'"),
        ({"format": np.array(b"csr"), "shape": [3, 4], "data": [1, 1, 1]}, r"the matrix must be square, got \(3, 4\)"),
    ],
)
def test_bad_matrices_are_named_and_leave_nothing(tmp_path, changes, fault):
    arrays = {"indptr": [0, 1, 2, 3], "indices": [1, 2, 0]} | changes
    np.savez(tmp_path / "graph.npz", **arrays)
    with pytest.raises(SourceError, match=rf"graph.npz: {fault}"):
        stream_to(tmp_path / "graph.npz", tmp_path / "g", memory_bytes=1000)
    assert os.listdir(tmp_path) == ["graph.npz"]


@pytest.mark.parametrize(
    ("name", "rows", "fault"),
    [
        ("edge", [[0, 1, 2]], "must have two columns, got 3"),
        ("edge", [[0, 6]], r"line 1: column 1 must be in 0..5, got 6"),
        ("num-edge-list", [7], "must have 7 edges as its list says, got 8"),
        ("edge-feat", [[1.0]] * 7, r"must have one row per edge \(8\), got 7"),
        ("edge-feat", [[1.0]] * 7 + [["nan"]], "edge features must be finite, row 7 is not"),
        ("node-feat", [[1.0]] * 7, r"features must have one row per node \(6\), got 7"),
    ],
)
def test_bad_text_of_ogb_is_named_and_leaves_nothing(tmp_path, name, rows, fault):
    source = write_files(write_ogb_text(tmp_path / "arxiv"), {f"raw/{name}.csv.gz": csv(rows)})
    with pytest.raises(SourceError, match=fault):
        stream_to(source, tmp_path / "g")
    assert os.listdir(tmp_path) == ["arxiv"]


def test_what_cannot_be_streamed_is_refused(tmp_path):
    edges, binary = write_edges(tmp_path / "edges.csv", "dense"), write_ogb_binary(tmp_path / "papers")
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    np.save(tmp_path / "right.npy", np.ones((300, 2)))
    options = ImportOptions()
    files = NodeFiles(features=tmp_path / "x.npy")
    for source, chosen, fault in (
        (binary, replace(options, nodes=files), "leave out other files"),
        (binary, replace(options, edge_list=EdgeListOptions(header=True)), "have no meaning"),
    ):
        with (
            pytest.raises(SourceError, match=fault),
            stream_source(source, chosen, StreamOptions(TemporaryScratch(tmp_path))),
        ):
            pass
    with pytest.raises(SourceError, match=r"must be in 0..2"):
        stream_to(edges, tmp_path / "g", replace(options, nodes=files))
    right = NodeFiles(features=tmp_path / "right.npy", feature_dtype="int8")
    with pytest.raises(ValueError, match="must be auto, float32 or float16 in bounded memory, got int8"):
        stream_to(edges, tmp_path / "g", replace(options, nodes=right))
    with pytest.raises(SourceError, match="nowhere: does not exist"):
        stream_to(tmp_path / "nowhere", tmp_path / "g")


def test_disk_that_an_import_takes_where_the_source_says_how_many_edges_it_has(tmp_path):
    parquet = write_edges(tmp_path / "edges.parquet", "dense", values=True)
    # Each direction has a key of 8 bytes and a weight of 4; an eighth of the lists waits for room; weights are staged.
    heads = 8 + 2 * 128
    weighted = 2500 * 2 * (12 + 1) + 2500 * 4 + heads
    known = ImportOptions(edge_list=EdgeListOptions(num_nodes=300))
    assert disk_estimate(parquet, known) == DiskNeed(weighted, weighted)
    assert disk_estimate(parquet, replace(known, directed=True)).plain == 2500 * (12 + 1) + 2500 * 4 + heads
    assert disk_estimate(parquet, ImportOptions()) == DiskNeed(weighted, weighted + 2500 * 8)
    # Three values of 4 bytes, and with features the row in the source.
    featured = ImportOptions(edge_list=EdgeListOptions(edge_features=("year", "size"), num_nodes=300))
    expected = 2500 * 2 * (8 + 20) + 2500 * 2 * (4 + 20) // 8 + 2500 * 12 + heads
    assert disk_estimate(parquet, featured).plain == expected
    assert disk_estimate(write_edges(tmp_path / "edges.csv", "dense"), ImportOptions()) is None
    papers = disk_estimate(write_ogb_binary(tmp_path / "papers"), ImportOptions())
    assert papers == DiskNeed(8 * 17 + heads, 8 * 17 + heads)
    assert disk_estimate(write_ogb_text(tmp_path / "arxiv"), ImportOptions()) is None
    saint = disk_estimate(write_saint(tmp_path / "saint"), ImportOptions())
    assert saint.plain == saint.numbered == 11 * 2 * (12 + 1) + 11 * 12 + heads


@pytest.mark.parametrize(("kind", "values"), [("dense", False), ("dense", True), ("gaps", True), ("text", True)])
def test_no_more_disk_is_taken_than_was_said(tmp_path, kind, values):
    source = write_edges(tmp_path / "edges.parquet", kind, num_edges=20_000, values=values)
    options = ImportOptions(edge_list=EdgeListOptions(edge_features=("year",) if values else ()))
    taken = []

    def watch(stage, done, total):
        taken.append(sum(path.stat().st_size for path in work_folder_of(tmp_path / "g").glob("*.npy")))

    stream_to(source, tmp_path / "g", options, memory_bytes=300_000, progress=watch)
    need = disk_estimate(source, options)
    said = need.plain if kind == "dense" else need.numbered
    # A bucket's lists come before its keys go, and there are only dozens of buckets here; ids of nodes are on top.
    assert 0.5 * said < max(taken) < 1.1 * said + 20_000


def test_memory_for_reading_parquet_does_not_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("shadow_gnn.graph.importing.table._PARQUET_ROWS", 25_000)
    values = np.random.default_rng(0).integers(1 << 62, size=(2, 800_000))
    pq.write_table(pa.table({"u": values[0], "v": values[1]}), tmp_path / "edges.parquet", row_group_size=50_000)
    before, most = pa.total_allocated_bytes(), 0
    for _ in column_batches(open_table(tmp_path / "edges.parquet"), {"u": "int", "v": "int"}):
        most = max(most, pa.total_allocated_bytes() - before)
    # The file has 12.8 MB and a row group 0.8 MB; read ahead, as is Arrow's default, it takes 18.
    assert most < 6 << 20
