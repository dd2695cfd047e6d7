"""Data commands, run as a user runs them: in a process of their own where signals and exit codes matter."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from shadow_gnn.graph.store import open_graph
from shadow_gnn.graph.verify import verify_graph


def start(*arguments, code="from shadow_gnn.cli.main import main; main()", **options):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


def test_import_then_info(tmp_path, shadow):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,0\n1,2\n2,2\n0,1\n")
    np.save(tmp_path / "x.npy", np.eye(3))
    (tmp_path / "y.csv").write_text("label\n0\n0\n1\n")
    code, out, err = shadow(
        *("data", "import", tmp_path / "e.csv", tmp_path / "g", "--features", tmp_path / "x.npy"),
        *("--labels", tmp_path / "y.csv", "--split", "34/33/33", "--seed", "1"),
    )
    assert (code, err) == (0, "")
    assert "3 nodes, 2 undirected edges" in out
    assert "read 5 edges, removed 1 self-loops and 1 duplicates, merged 1 given in both directions" in out
    graph = open_graph(tmp_path / "g")
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert {len(ids) for ids in graph.splits.values()} == {1}
    code, out, err = shadow("data", "info", tmp_path / "g", "--verify", "--plot", tmp_path / "d.png")
    assert (code, err) == (0, "")
    for words in (
        "2 undirected",
        "edge homophily 0.500",
        "train 1, valid 1, test 1",
        "every byte is as written",
        "nodes by degree",
    ):
        assert words in out
    assert (tmp_path / "d.png").stat().st_size > 1000


def test_info_and_import_as_json(tmp_path, shadow):
    (tmp_path / "e.txt").write_text("0 1\n1 2\n")
    code, out, _ = shadow("data", "import", tmp_path / "e.txt", tmp_path / "g", "--directed", "--json")
    assert (code, json.loads(out)["num_edges"]) == (0, 2)
    code, out, _ = shadow("data", "info", tmp_path / "g", "--json")
    found = json.loads(out)
    assert (found["num_nodes"], found["directed"], found["degrees"]["largest"]) == (3, True, 1)


def test_faults_are_one_line_and_leave_nothing(tmp_path, shadow):
    (tmp_path / "e.csv").write_text("0,1\n1,x\n")
    code, out, err = shadow("data", "import", tmp_path / "e.csv", tmp_path / "g")
    assert (code, out) == (2, "")
    assert err == f"shadow: {tmp_path}/e.csv: line 2: column 1 must be an integer, got 'x'\n"
    assert os.listdir(tmp_path) == ["e.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("data", "info", "/nowhere"), "/nowhere: no such folder"),
        (("data", "import", "/nowhere", "/nowhere2"), "/nowhere: does not exist"),
        (("data", "import", "/nowhere"), "Missing argument"),
        (("data", "import", "a", "b", "--split", "1/2"), "--split must be three percentages"),
        (("data", "import", "a", "b", "--merge", "mean"), "--merge"),
        (("data", "nonsense"), "nonsense"),
    ],
)
def test_wrong_use_is_one_line(shadow, arguments, words):
    code, _, err = shadow(*arguments)
    assert code == 2
    assert words in err
    assert err.startswith("shadow: ")
    assert err.count("\n") == 1


def test_existing_folder_is_refused_before_the_source_is_read(tmp_path, shadow):
    (tmp_path / "g").mkdir()
    code, _, err = shadow("data", "import", tmp_path / "none.csv", tmp_path / "g")
    assert code == 2
    assert "exists already" in err
    (tmp_path / "e.txt").write_text("0 1\n")
    code, _, err = shadow("data", "import", tmp_path / "e.txt", tmp_path / "g", "--overwrite")
    assert code == 2
    assert "is not a graph folder" in err


def test_debug_shows_the_traceback(tmp_path, monkeypatch):
    child = start("data", "info", tmp_path, "--debug")
    _, err = child.communicate()
    assert "Traceback" in err
    assert "FolderError" in err


SLOW = """
import sys, time
import shadow_gnn.graph.store as store
real = store.write_npy
def slow(path, array, progress):
    written = real(path, array, progress)
    print(path.name, flush=True)
    time.sleep(30)
    return written
store.write_npy = slow
from shadow_gnn.cli.main import main
main()
"""


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "shadow: interrupted\n"),
        (signal.SIGTERM, 143, "shadow: terminated\n"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_signals_end_an_import_quickly_with_nothing_under_the_final_name(tmp_path, number, code, words):
    (tmp_path / "e.txt").write_text("0 1\n1 2\n")
    with start("data", "import", tmp_path / "e.txt", tmp_path / "g", code=SLOW) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "indptr.npy\n"
        begin = time.monotonic()
        child.send_signal(number)
        _, err = child.communicate()
    assert time.monotonic() - begin < 2
    assert (child.returncode, err) == (code, words)
    assert not (tmp_path / "g").exists()
    if number != signal.SIGKILL:
        assert os.listdir(tmp_path) == ["e.txt"]
    with start("data", "import", tmp_path / "e.txt", tmp_path / "g") as child:
        child.communicate()
    assert child.returncode == 0
    verify_graph(tmp_path / "g")


MANY_BLOCKS = """
import shadow_gnn.graph.importing.table as table
from shadow_gnn.cli.main import main
table._BLOCK_BYTES = 64
real = table._line_blocks
def blocks(stream, skip):
    for number, block in enumerate(real(stream, skip)):
        if number == 10:
            print("reading", flush=True)
        yield block
table._line_blocks = blocks
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_reading_of_text_quickly(tmp_path, number, code):
    (tmp_path / "e.csv").write_text("0,1\n" * 500_000)
    with start("data", "import", tmp_path / "e.csv", tmp_path / "g", code=MANY_BLOCKS) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "reading\n"
        child.send_signal(number)
        child.communicate(timeout=60)
    assert child.returncode == code
    assert os.listdir(tmp_path) == ["e.csv"]


def test_verify_finds_a_flipped_bit(tmp_path, shadow):
    (tmp_path / "e.txt").write_text("0 1\n1 2\n")
    shadow("data", "import", tmp_path / "e.txt", tmp_path / "g")
    path = tmp_path / "g" / "indices.npy"
    data = bytearray(path.read_bytes())
    data[-4] ^= 2
    path.write_bytes(data)
    code, _, err = shadow("data", "info", tmp_path / "g", "--verify")
    assert code == 2
    assert err == f"shadow: {path}: was edited or damaged: its checksum does not fit\n"
