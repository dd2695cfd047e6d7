"""GraphSAINT's part of the core with arguments that no caller should give: a named error every time, never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.test_hostile import damaged, numbers
from tests.extract.graphs import random_edges
from tests.extract.reference import graph_of

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.normal.saint_samplers import Drawer, EdgeSampler, FrontierSampler, NodeSampler, Sampler, WalkSampler

SAMPLERS: list[Sampler] = [NodeSampler(5), EdgeSampler(5), WalkSampler(4, 3), FrontierSampler(9, 4)]
OPTIONS: dict[str, Any] = {"kind": "rw", "budget": 3, "walk_length": 2, "frontier": 1}


def small_view() -> _core.GraphView:
    return _core.GraphView(np.array([0, 1, 2]), np.array([1, 0], np.int32), None, True)


@settings(max_examples=300)
@given(
    indptr=st.lists(numbers, min_size=2, max_size=8),
    indices=st.lists(numbers, max_size=12),
    wide=st.booleans(),
    sampler=st.sampled_from(SAMPLERS),
)
def test_damaged_arrays_end_in_an_error_or_a_subgraph(
    indptr: list[int], indices: list[int], wide: bool, sampler: Sampler
) -> None:
    graph = damaged(indptr, indices, directed=True, wide=wide, weights=None)
    node_count, edge_count = np.zeros(graph.num_nodes, np.int32), np.zeros(graph.num_edges, np.int32)
    try:
        drawer = Drawer(graph, np.arange(graph.num_nodes), sampler)
        found = drawer.subgraph(0, 0)
        drawer.count(0, range(20), node_count, edge_count, num_threads=2)
    except FolderError as error:
        assert "\n" not in str(error)
    except ValueError as error:
        assert "graph must have edges" in str(error)
    else:
        assert found is not None
        assert ((found.node_id >= 0) & (found.node_id < graph.num_nodes)).all()
        assert ((found.edge_pos >= 0) & (found.edge_pos < graph.num_edges)).all()
        assert node_count.max() <= 20


@given(
    indptr=st.lists(numbers, min_size=2, max_size=8), indices=st.lists(numbers, max_size=12), asked=st.lists(numbers)
)
def test_induction_checks_everything(indptr: list[int], indices: list[int], asked: list[int]) -> None:
    offsets, ids = np.array(indptr, np.int64), np.array(indices, np.int64)
    view = _core.GraphView(offsets, ids, None, False)
    try:
        node_id, _, rows, edge_pos = _core.induce_nodes(view, np.array(asked, np.int64))
    except (ValueError, _core.CorruptGraph) as error:
        assert str(error)
    else:
        assert node_id.tolist() == sorted(set(asked))
        assert ((rows >= 0) & (rows < len(node_id))).all()
        assert node_id[rows].tolist() == ids[edge_pos].tolist()


def test_arrays_that_change_after_the_tables_were_built() -> None:
    """A sampler keeps what it learned of the graph, and must not trust it."""
    indptr, indices = np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)
    view = _core.GraphView(indptr, indices, None, True)
    for kind in ("node", "edge", "rw", "mrw"):
        indptr[:], indices[:] = [0, 2, 3, 4], [1, 2, 0, 0]
        sampler = _core.SaintSampler(view, np.arange(3), kind=kind, budget=50, walk_length=3, frontier=5)
        indptr[:] = [4, 4, 4, 4]
        assert set(sampler.nodes(0, 0).tolist()) <= {0, 1, 2}
        indptr[:], indices[:] = [0, 2, 3, 4], [9, 9, 9, 9]
        for call in (lambda own=sampler: own.subgraph(0, 0), lambda own=sampler: count(own)):
            with pytest.raises(_core.CorruptGraph, match="indices holds 9"):
                call()


def count(sampler: _core.SaintSampler) -> None:
    sampler.count(0, 0, 5, np.zeros(3, np.int32), np.zeros(4, np.int32), 2)


def test_a_graph_folder_that_was_cut_is_named(tmp_path: Any) -> None:
    save_graph(graph_of(3000, random_edges(3000, 20_000, seed=0)), tmp_path / "graph")
    graph = open_graph(tmp_path / "graph")
    drawer = Drawer(graph, np.arange(3000), WalkSampler(500, 2))
    with open(tmp_path / "graph" / "indices.npy", "r+b") as file:
        file.truncate(4096)
    with pytest.raises(FolderError, match="graph: a file of the graph was cut"):
        drawer.subgraph(0, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "other"}, "kind must be node, edge, rw or mrw, got other"),
        ({"budget": 0}, "budget must be from 1"),
        ({"budget": 2**31}, "budget must be from 1"),
        ({"walk_length": -1}, "walk_length must be from 0"),
        ({"frontier": 0}, "frontier must be from 1 to budget"),
        ({"kind": "mrw", "frontier": 4}, "frontier must be from 1 to budget"),
    ],
)
def test_options_are_checked(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.SaintSampler(small_view(), np.array([0]), **{**OPTIONS, **changes})


@pytest.mark.parametrize("targets", [[], [-1], [2], [0, 2**62]])
def test_targets_are_checked(targets: list[int]) -> None:
    with pytest.raises(ValueError, match="targets must"):
        _core.SaintSampler(small_view(), np.array(targets, np.int64), **OPTIONS)


def test_counts_are_checked() -> None:
    sampler = _core.SaintSampler(small_view(), np.array([0]), **OPTIONS)
    two, three = np.zeros(2, np.int32), np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="node_count and edge_count must have one number per node and per edge"):
        sampler.count(0, 0, 1, three, two, 1)
    with pytest.raises(ValueError, match="node_count and edge_count must have one number per node and per edge"):
        sampler.count(0, 0, 1, two, three, 1)
    with pytest.raises(ValueError, match="num_threads must be from 1 to 1024"):
        sampler.count(0, 0, 1, two, two, 0)
    with pytest.raises(ValueError, match="num_subgraphs must be in range"):
        sampler.count(0, 0, -1, two, two, 1)
    with pytest.raises(TypeError):
        sampler.count(0, 0, 1, two.astype(np.int64), two, 1)  # type: ignore[arg-type]
    fixed = np.zeros(2, np.int32)
    fixed.flags.writeable = False
    with pytest.raises(TypeError):
        sampler.count(0, 0, 1, fixed, two, 1)
    assert not two.any()
    full = np.full(2, 2**31 - 1, np.int32)
    sampler.count(0, 0, 1, full, two, 1)
    assert full[0] == -(2**31)
