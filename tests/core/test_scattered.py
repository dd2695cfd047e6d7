"""Reads of mapped files: the same bytes in whatever order they are read, and threads that join while others wait."""

import os
import shutil
import subprocess
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from shadow_gnn import _core
from shadow_gnn.base.files import expect_reads, map_npy
from shadow_gnn.extract import CombinedExtractor, HeatExtractor, KatzExtractor, KhopExtractor, PprExtractor
from shadow_gnn.extract.gather import expect_scopes
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.store import open_graph, save_graph

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("c++")


@pytest.fixture
def cold(tmp_path):
    """A mapped matrix of odd rows, larger than a window of reads, whose pages were dropped where that can be done."""
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).random((9000, 37), np.float32))
    forget(tmp_path)
    return map_npy(path)


def forget(folder):
    """Have the system drop the pages of the arrays in a folder, where that can be done."""
    for path in folder.glob("*.npy"):
        with path.open("rb") as handle:
            os.fsync(handle.fileno())
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.parametrize("ask", [None, True, False])
def test_rows_are_the_same_in_any_order_of_reading(cold, ask):
    expect_reads(cold, "random")
    rows = np.random.default_rng(1).integers(0, len(cold), 10_000)
    rows[5000:] = rows[:5000]  # Rows that are asked for twice.
    found = _core.gather_float(cold, rows, None, ask)
    assert found.tobytes() == np.asarray(cold)[rows].tobytes()
    half = np.asarray(cold).astype(np.float16)
    assert _core.gather_float(half, rows, None, ask).tobytes() == half[rows].astype(np.float32).tobytes()


@pytest.mark.parametrize("ask", [None, True, False])
def test_stretches_are_joined_in_the_order_given(cold, ask):
    data = cold.reshape(-1).view(np.uint8)
    rng = np.random.default_rng(2)
    start, length = rng.integers(0, len(data) - 300, 6000), rng.integers(0, 300, 6000)
    found = _core.gather_ragged(data, start, length, ask)
    expected = b"".join(data[first : first + size].tobytes() for first, size in zip(start, length, strict=True))
    assert found.tobytes() == expected


@pytest.mark.parametrize("ask", [None, True, False])
def test_sparse_rows_are_the_same_in_any_order_of_reading(cold, tmp_path, ask):
    data = cold.reshape(-1)
    rng = np.random.default_rng(3)
    indptr = np.concatenate([np.sort(rng.integers(0, len(data) + 1, 6000)), [len(data)]])
    # Columns of a row differ, as long as it has no more than there are columns; longer ones keep their last values.
    column = (np.arange(len(data)) % 251).astype(np.int32)
    rows = rng.integers(0, len(indptr) - 1, 5000)
    found = _core.gather_csr(indptr, column, data, 251, rows, ask)
    expected = np.zeros((len(rows), 251), np.float32)
    for item, row in enumerate(rows):
        inside = slice(indptr[row], indptr[row + 1])
        for place, value in zip(column[inside], data[inside], strict=True):
            expected[item, place] = value
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("where", "flag"), [("random", "rr"), ("everywhere", "")])
def test_advice_reaches_the_map_of_an_array(cold, where, flag):
    expect_reads(cold[3:, 1:], where)
    expect_reads(np.zeros(3), where)
    if Path("/proc/self/smaps").exists():
        _, _, after = Path("/proc/self/smaps").read_text().partition("x.npy")
        flags = next(line for line in after.splitlines() if line.startswith("VmFlags:"))
        assert ("rr" in flags.split()) == (flag == "rr")


@pytest.mark.parametrize(
    "extractor",
    [PprExtractor(30), KatzExtractor(30), HeatExtractor(30), KhopExtractor(2, 5), CombinedExtractor(topk=30)],
    ids=lambda extractor: type(extractor).__name__,
)
@pytest.mark.parametrize("num_threads", [1, 2])
def test_scopes_are_the_same_from_a_cold_disk(tmp_path, extractor, num_threads):
    """What is asked for while the disk has to be waited for changes when pages come, and nothing else."""
    rng = np.random.default_rng(4)
    graph = from_edges(*rng.integers(0, 40_000, (2, 200_000)), 40_000)
    save_graph(graph, tmp_path / "g")
    forget(tmp_path / "g")
    cold = open_graph(tmp_path / "g")
    expect_scopes(cold, 0)
    targets = rng.integers(0, 40_000, 200)
    extractor = replace(extractor, num_threads=num_threads)
    expected, found = (extractor(source, targets) for source in (graph, cold))
    for field in fields(expected):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
def test_threads_that_join_later_take_what_is_left(tmp_path):
    program = tmp_path / "check"
    core = HERE.parents[1] / "core"
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    source = str(HERE / "parallel_check.cpp")
    command = [str(COMPILER), "-std=c++17", "-O1", "-pthread", f"-I{core}", source, "-o", str(program)]
    subprocess.run(command, check=True, env=environment)
    done = subprocess.run([program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "each once, by more threads, the first error told\n"
