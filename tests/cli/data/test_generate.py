"""`shadow data generate` and `shadow data import --memory`, run as a user runs them."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shadow_gnn.base.work_folder import work_folder_of
from shadow_gnn.cli import main as module
from shadow_gnn.cli.shared.sizes import count, memory_bytes, shares
from shadow_gnn.graph.store import open_graph


def test_generate_says_what_it_needs_and_what_it_made(tmp_path, shadow):
    options = ["--degree", 6, "--features", 4, "--classes", 3, "--seed", 2, "--split", "50/25/25"]
    code, out, err = shadow(
        "data", "generate", "dcsbm", "--nodes", "2e3", *options, "--out", tmp_path / "g", "--memory", "2MB"
    )
    assert (code, err) == (0, "")
    need, made, drawn = out.splitlines()
    # 6,000 edges of 8 bytes and 2,001 offsets of 8; 8,000 features of 2 bytes; labels and ids of 8.
    assert need == (
        f"{tmp_path / 'g'} takes 128 kB on disk (neighbor lists 64 kB, features 16 kB, labels and splits 48 kB), "
        "at most 128 kB at a time"
    )
    graph = open_graph(tmp_path / "g")
    assert made == (
        f"{tmp_path / 'g'}: 2,000 nodes, {graph.num_edges // 2:,} undirected edges, "
        f"mean degree {graph.num_edges / 2000:.2f}"
    )
    assert drawn.startswith("drew 6,000 edges, removed ")
    assert graph.x.matrix.dtype == np.float16
    assert sorted(graph.splits) == ["test", "train", "valid"]


def test_generate_names_the_folder_after_the_graph(tmp_path, shadow, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, _ = shadow("data", "generate", "rmat", "--nodes", "100", "--degree", 2, "--features", 0, "--threads", 1)
    assert code == 0
    assert os.listdir(tmp_path) == ["rmat-100"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--nodes", "2e9", "--degree", "500"], "cannot be written (8516000000264 bytes needed): the disk has"),
        (["--nodes", "some"], "generate: --nodes must be a whole number such as 1000000 or 1e6, got 'some'"),
        (["--nodes", "10", "--degree", "20"], "degree must be from 0 to 9, got 20"),
        (["--nodes", "100", "--memory", "lots"], "generate: --memory must be a size such as 2GB or 500MB, got 'lots'"),
        (["--nodes", "100", "--split", "60"], "generate: --split must be three percentages"),
        (["--nodes", "100", "--homophily", "0.5"], "--homophily must be used with dcsbm, got rmat"),
    ],
)
def test_generate_refuses_in_one_line_and_leaves_nothing(tmp_path, shadow, arguments, fault):
    code, _, err = shadow("data", "generate", "rmat", *arguments, "--out", tmp_path / "g")
    assert code == 2
    assert fault in err
    assert len(err.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def test_import_within_memory_equals_the_one_without(tmp_path, shadow):
    rng = np.random.default_rng(0)
    lines = [f"n{a},n{b}\n" for a, b in rng.integers(50, size=(400, 2)).tolist()]
    (tmp_path / "e.csv").write_text("src,dst\n" + "".join(lines))
    _, expected, _ = shadow("data", "import", tmp_path / "e.csv", tmp_path / "g")
    code, out, err = shadow("data", "import", tmp_path / "e.csv", tmp_path / "h", "--memory", "1MB")
    assert (code, err) == (0, "")
    assert out == expected.replace(str(tmp_path / "g"), str(tmp_path / "h"))
    assert (tmp_path / "g" / "graph.json").read_bytes() == (tmp_path / "h" / "graph.json").read_bytes()
    assert not work_folder_of(tmp_path / "h").exists()


def test_import_within_memory_says_that_it_goes_on(tmp_path, shadow, monkeypatch):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,2\n")
    arguments = ("data", "import", tmp_path / "e.csv", tmp_path / "g", "--memory", "1MB")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    def end(text, code):
        sys.exit(code)

    with monkeypatch.context() as patch:
        patch.setattr("shadow_gnn.graph.importing.bounded.streaming.build_lists", interrupt)
        patch.setattr(module, "_end_at_once", end)
        assert shadow(*arguments)[0] == 130
    assert work_folder_of(tmp_path / "g").exists()
    code, _, err = shadow(*arguments)
    assert code == 0
    assert "resuming the import that an earlier command left" in err
    assert open_graph(tmp_path / "g").num_nodes == 3


def write_weighted(path):
    src, dst = np.random.default_rng(0).integers(50, size=(2, 400))
    pq.write_table(pa.table({"src": src, "dst": dst, "weight": np.ones(400, np.float32)}), path)


def test_import_within_memory_says_what_weights_take_on_the_disk(tmp_path, shadow):
    write_weighted(tmp_path / "e.parquet")
    code, _, err = shadow("data", "import", tmp_path / "e.parquet", tmp_path / "g", "--memory", "1MB")
    # Of 800 entries a key of 8 bytes, a weight of 4 and an eighth of a list; 400 weights; heads of files.
    assert (code, err) == (
        0,
        "building the neighbor lists takes about 12 kB on disk, 15 kB if large ids must be renumbered on disk\n",
    )
    assert open_graph(tmp_path / "g").edge_weight is not None


def test_import_within_memory_is_refused_before_anything_is_written_to_a_full_disk(tmp_path, shadow, monkeypatch):
    write_weighted(tmp_path / "e.parquet")
    full = SimpleNamespace(f_bavail=1, f_frsize=4096)
    monkeypatch.setattr("shadow_gnn.graph.store.os.statvfs", lambda path: full)
    code, _, err = shadow("data", "import", tmp_path / "e.parquet", tmp_path / "g", "--memory", "1MB")
    assert code == 2
    assert "g: cannot be written (12264 bytes needed): the disk has 4096 bytes free" in err
    assert os.listdir(tmp_path) == ["e.parquet"]


def test_numbers_as_people_write_them():
    assert memory_bytes("2GB", "m") == 2_000_000_000
    assert memory_bytes("1.5 gb", "m") == 1_500_000_000
    assert memory_bytes("1048576", "m") == 1 << 20
    assert count("1.1e8", "n") == 110_000_000
    assert count("12", "n") == 12
    assert shares("60/20/20", "s") == (60.0, 20.0, 20.0)
    for wrong in ("1KB", "2 XB", "-1GB", ""):
        with pytest.raises(ValueError, match="m must be"):
            memory_bytes(wrong, "m")
    for wrong in ("1.5", "-3", "nan", "inf", "x"):
        with pytest.raises(ValueError, match="n must be a whole number"):
            count(wrong, "n")
