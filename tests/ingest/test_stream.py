"""Stream: the folder that the import in memory makes, byte for byte, within a budget, and after any kill."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.ingest.streaming import ids_of, stream_to, tree, write_edges
from tests.raw_layouts import write_ogb_binary, write_ogb_text, write_saint

from shadow_gnn.errors import SourceError
from shadow_gnn.ingest import out_of_core
from shadow_gnn.ingest.attach import NodeFiles
from shadow_gnn.ingest.detect import ImportOptions, read_source
from shadow_gnn.ingest.edge_list import EdgeListOptions
from shadow_gnn.ingest.stream import StreamOptions, disk_estimate, stream_source
from shadow_gnn.ingest.table import column_batches, open_table
from shadow_gnn.store import Contents, save_contents, save_graph
from shadow_gnn.verify import verify_graph
from shadow_gnn.work import Nameless, work_folder

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
    assert not work_folder(tmp_path / "stream").exists()


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
    with stream_source(source, ImportOptions(), StreamOptions(Nameless(tmp_path), 60_000)) as (arrays, columns, _):
        save_contents(Contents(arrays, False, columns), tmp_path / "stream")
    assert tree(tmp_path / "stream") == tree(tmp_path / "memory")


def test_given_number_of_nodes_keeps_ids(tmp_path):
    source = write_edges(tmp_path / "edges.csv", "gaps")
    check_equal(tmp_path, source, ImportOptions(edge_list=EdgeListOptions(num_nodes=2000)), 1 << 20)


def test_an_empty_edge_list(tmp_path):
    (tmp_path / "edges.csv").write_text("src,dst\n")
    check_equal(tmp_path, tmp_path / "edges.csv", ImportOptions(edge_list=EdgeListOptions(ids="integer")))


@pytest.mark.parametrize("kind", ["dense", "sparse", "text"])
def test_features_labels_and_splits_come_along(tmp_path, kind):
    source = write_edges(tmp_path / "edges.csv", kind)
    ids = ids_of(kind, np.arange(320)).tolist()
    rows = "".join(f"{name},{number % 4}\n" for number, name in enumerate(ids))
    (tmp_path / "y.csv").write_text("node,label\n" + rows)
    files = NodeFiles(labels=tmp_path / "y.csv", split_shares=(50, 25, 25), seed=3)
    check_equal(tmp_path, source, ImportOptions(nodes=files))


@pytest.mark.parametrize(("dtype", "stored"), [("auto", np.float64), ("float16", np.float32), ("auto", np.float16)])
def test_a_matrix_of_features_is_converted_on_its_way(tmp_path, monkeypatch, dtype, stored):
    monkeypatch.setattr("shadow_gnn.files.BLOCK_BYTES", 1 << 10)
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
    check_equal(tmp_path, source / "raw" if directed else source, ImportOptions(directed=directed))


@pytest.mark.parametrize("kind", KINDS)
def test_an_import_that_is_killed_anywhere_is_taken_up(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(out_of_core, "CHECKPOINT_SECONDS", 0.0)
    source = write_edges(tmp_path / "edges.parquet", kind)
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


def test_a_source_that_changed_is_read_anew(tmp_path):
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
from shadow_gnn.ingest import out_of_core
from tests.ingest.streaming import stream_to
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
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]))
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_sigkill_leaves_no_folder_and_the_next_process_goes_on(tmp_path):
    source = write_edges(tmp_path / "edges.parquet", "text")
    stream_to(source, tmp_path / "whole")
    num_killed = 0
    while (done := run_python(KILLING, source, tmp_path / "stream", 12)).returncode != 0:
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not (tmp_path / "stream").exists()
        assert work_folder(tmp_path / "stream").exists()
        num_killed += 1
        assert num_killed < 10
    assert num_killed > 0
    assert tree(tmp_path / "stream") == tree(tmp_path / "whole")
    assert not work_folder(tmp_path / "stream").exists()


LIMITED = """
import resource, sys
from pathlib import Path
import numpy, pyarrow, pyarrow.parquet, pyarrow.compute
from shadow_gnn.ingest.detect import read_source
from shadow_gnn.store import save_graph
from tests.ingest.streaming import stream_to
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
        ("src,dst,weight\n0,1,2\n", {}, "must have neither weights nor features .* got column 'weight'"),
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


def test_what_cannot_be_streamed_is_refused(tmp_path):
    csv = write_edges(tmp_path / "edges.csv", "dense")
    saint, text = write_saint(tmp_path / "saint"), write_ogb_text(tmp_path / "arxiv")
    binary = write_ogb_binary(tmp_path / "papers")
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    np.save(tmp_path / "right.npy", np.ones((300, 2)))
    options = ImportOptions()
    files = NodeFiles(features=tmp_path / "x.npy")
    for source, chosen, fault in (
        (csv, replace(options, keep_edge_id=True), "edge ids must be left out"),
        (saint, options, "must be an edge list or OGB's binary form .* it is GraphSAINT"),
        (text, options, "must hold raw/data.npz to be imported in bounded memory"),
        (binary, replace(options, nodes=files), "other files must be left out"),
        (binary, replace(options, edge_list=EdgeListOptions(header=True)), "have no meaning"),
    ):
        with (
            pytest.raises(SourceError, match=fault),
            stream_source(source, chosen, StreamOptions(Nameless(tmp_path))),
        ):
            pass
    with pytest.raises(SourceError, match=r"must be in 0..2"):
        stream_to(csv, tmp_path / "g", replace(options, nodes=files))
    right = NodeFiles(features=tmp_path / "right.npy", feature_dtype="int8")
    with pytest.raises(ValueError, match="must be auto, float32 or float16 in bounded memory, got int8"):
        stream_to(csv, tmp_path / "g", replace(options, nodes=right))
    with pytest.raises(SourceError, match="nowhere: does not exist"):
        stream_to(tmp_path / "nowhere", tmp_path / "g")


def test_disk_that_an_import_takes_where_the_source_says_how_many_edges_it_has(tmp_path):
    parquet = write_edges(tmp_path / "edges.parquet", "dense")
    assert disk_estimate(parquet, ImportOptions()) == 2500 * 32
    assert disk_estimate(parquet, ImportOptions(directed=True)) == 2500 * 24
    assert disk_estimate(write_edges(tmp_path / "edges.csv", "dense"), ImportOptions()) is None
    assert disk_estimate(write_ogb_binary(tmp_path / "papers"), ImportOptions()) == 8 * 24
    assert disk_estimate(write_saint(tmp_path / "saint"), ImportOptions()) is None


def test_memory_for_reading_parquet_does_not_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("shadow_gnn.ingest.table._PARQUET_ROWS", 25_000)
    values = np.random.default_rng(0).integers(1 << 62, size=(2, 800_000))
    pq.write_table(pa.table({"u": values[0], "v": values[1]}), tmp_path / "edges.parquet", row_group_size=50_000)
    before, most = pa.total_allocated_bytes(), 0
    for _ in column_batches(open_table(tmp_path / "edges.parquet"), {"u": "int", "v": "int"}):
        most = max(most, pa.total_allocated_bytes() - before)
    # The file has 12.8 MB and a row group 0.8 MB; read ahead, as is Arrow's default, it takes 18.
    assert most < 6 << 20
