"""Block check: a flipped byte in any file of a folder is found without being asked for."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.called import start
from tests.communities import communities
from tests.graph.test_store import full_graph

from shadow_gnn.base import files
from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import CHECK_BYTES
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph import block_check
from shadow_gnn.graph.block_check import chosen_blocks
from shadow_gnn.graph.store import open_graph, save_graph


def flip(path, place=-1):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


@pytest.fixture
def large(tmp_path, monkeypatch):
    """Give a folder that counts as large, so that it is checked in the background."""
    monkeypatch.setattr(block_check, "AT_ONCE_BYTES", 0)
    save_graph(communities(), tmp_path / "g")
    return tmp_path / "g"


@pytest.fixture(autouse=True)
def only_own_folders(monkeypatch):
    """Forget the folders that other tests of this process have opened and cut."""
    monkeypatch.setattr(block_check, "_opened", {})


@pytest.mark.parametrize("sparse", [False, True])
def test_a_flipped_bit_in_any_file_is_found_by_opening(tmp_path, sparse):
    save_graph(full_graph(sparse), tmp_path / "g")
    paths = [path for path in sorted((tmp_path / "g").rglob("*.npy")) if np.load(path).size]
    for path in paths:
        shutil.copytree(tmp_path / "g", tmp_path / "damaged")
        flip(tmp_path / "damaged" / path.relative_to(tmp_path / "g"))
        with pytest.raises(FolderError, match=rf"{path.name}: was edited or damaged"):
            open_graph(tmp_path / "damaged")
        shutil.rmtree(tmp_path / "damaged")
    assert len(paths) > 10


def test_a_large_folder_opens_and_the_fault_comes_with_the_next_call(large):
    flip(large / "y.npy")
    graph = open_graph(large)
    with pytest.raises(FolderError, match=r"y\.npy: was edited or damaged: the checksum from byte 0 on does not fit"):
        graph.confirm()
    with pytest.raises(FolderError, match=r"y\.npy"):
        PprExtractor()(graph, [0])
    with pytest.raises(FolderError, match=r"y\.npy"):
        save_graph(graph, large.parent / "copy")
    assert os.listdir(large.parent) == ["g"]
    with pytest.raises(FolderError, match=r"y\.npy"):
        block_check.confirm_all()
    block_check._running.clear()


def test_a_sound_large_folder_is_confirmed(large):
    graph = open_graph(large)
    graph.confirm()
    block_check.confirm_all()
    assert block_check._running == []


def test_a_file_that_was_cut_inside_its_last_page_is_found_before_results_are_written(tmp_path):
    save_graph(communities(), tmp_path / "g")
    graph = open_graph(tmp_path / "g")
    os.truncate(tmp_path / "g" / "split" / "test.npy", 200)
    assert graph.splits["test"][-1] == 0  # The map has zeros there.
    for confirm in (graph.confirm, block_check.confirm_all):
        with pytest.raises(FolderError, match=r"test\.npy: was cut while it was open"):
            confirm()
    shutil.rmtree(tmp_path / "g")
    block_check.confirm_all()  # The map of a removed file keeps its bytes.


def test_the_check_can_be_switched_off(tmp_path, monkeypatch):
    save_graph(communities(), tmp_path / "g")
    flip(tmp_path / "g" / "y.npy", 200)
    assert open_graph(tmp_path / "g", check=False).check is None
    monkeypatch.setenv("SHADOW_CHECK", "off")
    assert open_graph(tmp_path / "g").check is None


@pytest.mark.parametrize("off", [False, True])
def test_the_command_line_checks_unless_told_not_to(tmp_path, off):
    save_graph(communities(), tmp_path / "g")
    flip(tmp_path / "g" / "x.npy", 300)
    process = start("data", "info", tmp_path / "g", *(["--no-check"] if off else []))
    _, err = process.communicate(timeout=60)
    assert process.returncode == (0 if off else 2), err
    assert ("x.npy: was edited or damaged" in err) != off


@pytest.mark.parametrize("pieces", [1, 1000, CHECK_BYTES, CHECK_BYTES + 1])
def test_sums_of_blocks_do_not_depend_on_the_pieces_of_writing(pieces):
    import zlib

    data = np.random.default_rng(0).bytes(2 * CHECK_BYTES + 5 if pieces > 1 else 3000)
    sums = files._Sums()
    for start_ in range(0, len(data), pieces):
        sums.update(data[start_ : start_ + pieces])
    slow = [zlib.crc32(data[place : place + CHECK_BYTES]) for place in range(0, len(data), CHECK_BYTES)]
    assert sums.written().blocks == tuple(slow)


def test_a_folder_beyond_the_limit_is_sampled_evenly():
    sizes = {"large": 1000 * CHECK_BYTES, "small": 10 * CHECK_BYTES, "empty": 0, "middle": 90 * CHECK_BYTES}
    plan = chosen_blocks(sizes, 300 * CHECK_BYTES)
    assert plan["small"] == range(10)
    assert plan["middle"] == range(90)
    assert plan["large"] == range(0, 1000, 5)
    assert sum(map(len, plan.values())) <= 300
    assert chosen_blocks(sizes, 1 << 40)["large"] == range(1000)


def test_names_of_splits_that_sort_differently_with_their_ending_are_found(tmp_path):
    from dataclasses import replace

    graph = communities()
    ids = graph.splits["train"]
    save_graph(replace(graph, splits={"a": ids[:3], "a-b": ids[3:]}), tmp_path / "g")
    open_graph(tmp_path / "g")


SLOW = """
import os, sys, time
from shadow_gnn.graph import block_check
from shadow_gnn.graph.store import open_graph

block_check.AT_ONCE_BYTES = 0
read = os.pread
def slowly(*arguments):
    time.sleep(60)
    return read(*arguments)
os.pread = slowly
graph = open_graph(sys.argv[1])
print("open", flush=True)
"""


def slow_process(folder, code):
    """Start a process whose check of a folder would take minutes, and wait until the folder is open."""
    command = [sys.executable, "-c", SLOW + code, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def test_a_check_that_runs_does_not_delay_the_end_of_the_process(large):
    _, err = slow_process(large, "").communicate(timeout=50)
    assert err == ""


def test_waiting_for_a_check_answers_an_interrupt(large):
    process = slow_process(large, "print('waits', flush=True)\ngraph.confirm()\n")
    assert process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=50)
    assert "KeyboardInterrupt" in err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_neither_waits_for_the_thread_nor_for_its_locks(large):
    code = """
os.pread = read
pid = os.fork()
if pid == 0:
    graph.confirm()
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    out, err = slow_process(large, code).communicate(timeout=50)
    assert (out, err) == ("7\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_thread_and_those_who_wait_share_the_blocks(large, monkeypatch):
    read, places = os.pread, []

    def counted(handle, size, place):
        places.append((os.readlink(f"/proc/self/fd/{handle}"), place))
        return read(handle, size, place)

    monkeypatch.setattr(os, "pread", counted)
    graph = open_graph(large)
    graph.confirm()
    files = {str(path) for path in large.rglob("*.npy")} - {str(large / "blocks.npy")}
    assert sorted(places) == sorted((path, 0) for path in files)


def test_a_check_that_ends_at_once_is_forgotten(large):
    for _ in range(50):
        open_graph(large).confirm()
    assert block_check._running == []


def test_a_changed_import_record_is_found(tmp_path):
    save_graph(full_graph(), tmp_path / "g")
    flip(tmp_path / "g" / "import.toml", 3)
    with pytest.raises(FolderError, match=r"import\.toml: was edited or damaged"):
        open_graph(tmp_path / "g", check=False)
