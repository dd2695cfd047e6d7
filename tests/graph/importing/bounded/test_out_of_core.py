"""Out of core: the same lists as in memory, whatever the budget, and memory that does not grow with the graph."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.work_folder import TemporaryScratch
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.out_of_core import build_lists
from shadow_gnn.graph.importing.build import build_graph


class ArrayEdges:
    """Edges in memory, in blocks."""

    def __init__(self, src, dst, num_edges=None):
        self.src, self.dst = np.asarray(src), np.asarray(dst)
        self.num_edges = len(self.src) if num_edges is None else num_edges

    def blocks(self, size, start=0):
        for at in range(start, len(self.src), size):
            yield self.src[at : at + size], self.dst[at : at + size]

    def release(self):
        self.released = True


class DrawnEdges:
    """Edges that are drawn block by block, so that only the routine's own memory counts."""

    def __init__(self, num_edges, num_nodes):
        self.num_edges, self.num_nodes = num_edges, num_nodes

    def blocks(self, size, start=0):
        assert start == 0
        rng = np.random.default_rng(0)
        for start in range(0, self.num_edges, size):
            count = min(size, self.num_edges - start)
            yield tuple(rng.integers(0, self.num_nodes, size=(2, count)))

    def release(self):
        pass


@pytest.mark.parametrize("undirected", [True, False])
@pytest.mark.parametrize("memory_bytes", [12_000, 60_000, 1 << 24])
@pytest.mark.parametrize(("num_nodes", "num_edges"), [(40, 1200), (300, 900), (100_000, 400)])
def test_equals_the_graph_that_is_built_in_memory(tmp_path, undirected, memory_bytes, num_nodes, num_edges):
    rng = np.random.default_rng(num_nodes)
    src, dst = rng.integers(num_nodes, size=(2, num_edges)) // rng.integers(1, 4, size=(2, num_edges))
    src[:5] = dst[:5]
    if num_nodes == 100_000 and memory_bytes < 1 << 24:
        memory_bytes *= 10  # A bin of rows must fit.
    found = build_lists(
        ArrayEdges(src, dst),
        num_nodes,
        scratch=TemporaryScratch(tmp_path),
        undirected=undirected,
        memory_bytes=memory_bytes,
    )
    graph, summary = build_graph(src, dst, num_nodes, undirected=undirected)
    np.testing.assert_array_equal(found.indptr[:], graph.indptr)
    np.testing.assert_array_equal(found.indices[:], graph.indices)
    assert (found.indptr.dtype, found.indices.dtype) == (graph.indptr.dtype, graph.indices.dtype)
    assert found.summary == summary
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("num_nodes", [0, 3])
def test_a_graph_without_edges(tmp_path, num_nodes):
    empty = np.zeros(0, dtype=np.int64)
    found = build_lists(ArrayEdges(empty, empty), num_nodes, scratch=TemporaryScratch(tmp_path))
    assert found.indptr[:].tolist() == [0] * (num_nodes + 1)
    assert len(found.indices) == 0


class DrawnRows:
    """Values that are drawn block by block."""

    dtype = np.dtype(np.float32)

    def __init__(self, *shape):
        self.shape = shape

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        return np.full((rows.stop - rows.start, *self.shape[1:]), rows.start + 1, np.float32)


def peak_bytes(folder: Path, num_edges: int, memory_bytes: int, carried: Carried | None = None) -> int:
    tracemalloc.start()
    try:
        build_lists(
            DrawnEdges(num_edges, num_edges // 5),
            num_edges // 5,
            scratch=TemporaryScratch(folder),
            carried=carried or Carried(),
            memory_bytes=memory_bytes,
        )
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_stays_within_the_budget_as_the_graph_grows(tmp_path):
    budget = 8 << 20
    peaks = [peak_bytes(tmp_path, num_edges, budget) for num_edges in (100_000, 400_000, 1_600_000)]
    # The lists of the largest alone have 14 MB, its edges 26 MB.
    assert max(peaks) < budget
    assert peaks[2] < 1.2 * peaks[1]


@pytest.mark.parametrize("merge", ["first", "sum"])
@pytest.mark.parametrize("num_columns", [0, 3, 40])
def test_memory_stays_within_the_budget_where_edges_carry_something(tmp_path, num_columns, merge):
    budget, num_edges = 8 << 20, 400_000
    attr = DrawnRows(num_edges, num_columns) if num_columns else None
    peak = peak_bytes(tmp_path, num_edges, budget, Carried(DrawnRows(num_edges), attr, merge))
    assert peak < budget


class ChangingEdges(ArrayEdges):
    """A source that is another one when it is read for the second time."""

    def blocks(self, size, start=0):
        yield from super().blocks(size, start)
        self.src, self.dst = self.other(self.src, self.dst)


@pytest.mark.parametrize("other", [lambda src, dst: (src // 2, dst), lambda src, dst: (src[:-3], dst[:-3])])
@pytest.mark.parametrize("carried", [Carried(), Carried(edge_id=True)])
def test_a_source_that_changes_while_it_is_read_is_refused(tmp_path, other, carried):
    src, dst = np.random.default_rng(0).integers(100, size=(2, 1000))
    edges = ChangingEdges(src, dst)
    edges.other = other
    with pytest.raises(SourceError, match="the source must not change while it is read"):
        build_lists(edges, 100, scratch=TemporaryScratch(tmp_path), memory_bytes=60_000, carried=carried)


@pytest.mark.parametrize(
    ("edges", "fault"),
    [
        (ArrayEdges([0, 1, 5], [1, 2, 0]), "src must be in 0..3, got 5 in row 2"),
        (ArrayEdges([0, 1, 2], [1, -2, 0]), "dst must be in 0..3, got -2 in row 1"),
        (ArrayEdges([0, 1], [1, 2], num_edges=3), "must give 3 edges, got 2"),
    ],
)
def test_wrong_edges_are_named(tmp_path, edges, fault):
    with pytest.raises(SourceError, match=fault):
        build_lists(edges, 4, scratch=TemporaryScratch(tmp_path), memory_bytes=10_000)


def test_too_little_memory_for_one_list_is_refused(tmp_path):
    edges = ArrayEdges(np.zeros(1000, np.int64), np.arange(1000))
    with pytest.raises(ValueError, match=r"memory_bytes must be at least 64000 for the 999 entries of rows from 0 on"):
        build_lists(edges, 1000, scratch=TemporaryScratch(tmp_path), memory_bytes=2_000)


def test_arguments_are_checked(tmp_path):
    with pytest.raises(ValueError, match="num_nodes must be in 0"):
        build_lists(ArrayEdges([0], [1]), 1 << 31, scratch=TemporaryScratch(tmp_path))
    with pytest.raises(ValueError, match="src must be int64, got float64"):
        build_lists(ArrayEdges([0.5], [1.0]), 2, scratch=TemporaryScratch(tmp_path))
