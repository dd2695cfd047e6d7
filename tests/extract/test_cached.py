"""Kept scopes are the same scopes, and only where they belong."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from tests.extract.doubles import ExtractorDouble
from tests.extract.graphs import some_graphs
from tests.extract.test_contract import assert_same

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import CachedExtractor, KhopExtractor, PprExtractor, Subgraphs
from shadow_gnn.extract.subgraphs import concat, select
from shadow_gnn.graph.record import Graph

GRAPH = some_graphs()["big hubs"]
PPR = PprExtractor(topk=12, edge_pos=True)


@dataclass(frozen=True)
class Counting(ExtractorDouble):
    """An extractor that notes which targets it was asked for."""

    inner: PprExtractor = PPR
    asked: list[list[int]] = field(default_factory=list)
    key: str = PPR.key

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        self.asked.append(np.asarray(targets).reshape(-1).tolist())
        return self.inner(graph, targets, seed=seed)


@given(st.lists(st.lists(st.integers(0, 399), max_size=20), min_size=1, max_size=8))
def test_cached_scopes_are_the_same_bytes(calls: list[list[int]]) -> None:
    cached = CachedExtractor(PPR)
    for targets in calls:
        assert_same(cached(GRAPH, targets), PPR(GRAPH, targets))


@given(st.lists(st.lists(st.integers(0, 399), min_size=1, max_size=20), min_size=1, max_size=6), st.integers(1, 10**5))
def test_disk_cache_gives_the_same_bytes_also_when_opened_again(
    tmp_path_factory: pytest.TempPathFactory, calls: list[list[int]], segment_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("scopes")
    cached = CachedExtractor(PPR, folder=folder, segment_bytes=segment_bytes)
    for targets in calls:
        assert_same(cached(GRAPH, targets), PPR(GRAPH, targets))
    cached.flush()
    counting = Counting()
    again = CachedExtractor(counting, folder=folder)
    for targets in calls:
        assert_same(again(GRAPH, targets), PPR(GRAPH, targets))
    assert [asked for asked in counting.asked if asked] == []


def test_each_target_is_extracted_once() -> None:
    counting = Counting()
    cached = CachedExtractor(counting)
    for targets in ([1, 2, 3], [3, 2, 1, 1], [4, 1], [4]):
        cached(GRAPH, targets)
    assert counting.asked == [[1, 2, 3], [4]]


def test_what_does_not_fit_is_extracted_anew() -> None:
    room = PPR(GRAPH, [1, 2]).num_bytes + 10
    counting = Counting()
    cached = CachedExtractor(counting, max_bytes=room)
    cached(GRAPH, [1, 2])
    for _ in range(2):
        assert_same(cached(GRAPH, [3, 1]), PPR(GRAPH, [3, 1]))
    cached(GRAPH, [2, 1])
    assert counting.asked[0] == [1, 2]
    assert [1] not in counting.asked
    assert [2, 1] not in counting.asked


def test_another_graph_or_parameter_never_meets_kept_scopes(tmp_path: Path) -> None:
    other = some_graphs()["hubs"]
    directed = Graph(other.indptr, other.indices, directed=True)
    for extractor in (PPR, replace(PPR, topk=5), replace(PPR, edge_pos=False)):
        cached = CachedExtractor(extractor, folder=tmp_path)
        for graph in (GRAPH, other, directed):
            assert_same(cached(graph, [3, 5]), extractor(graph, [3, 5]))
        cached.flush()
    assert len(list(tmp_path.iterdir())) == 9


def test_random_extractors_are_refused() -> None:
    with pytest.raises(ValueError, match="CachedExtractor: extractor must be deterministic, got KhopExtractor"):
        CachedExtractor(KhopExtractor())


def test_a_damaged_segment_is_named(tmp_path: Path) -> None:
    cached = CachedExtractor(PPR, folder=tmp_path)
    cached(GRAPH, [1, 2, 3])
    cached.flush()
    (node_id,) = tmp_path.glob("*/segment-*/node_id.npy")
    node_id.write_bytes(node_id.read_bytes()[:-8])
    with pytest.raises(FolderError, match=r"kept scopes cannot be read.*delete the folder"):
        CachedExtractor(PPR, folder=tmp_path)(GRAPH, [1])


def test_a_cache_pickles_without_its_scopes() -> None:
    cached = CachedExtractor(PPR)
    cached(GRAPH, np.arange(100))
    assert len(pickle.dumps(cached)) < 2000
    assert_same(pickle.loads(pickle.dumps(cached))(GRAPH, [5]), PPR(GRAPH, [5]))


@given(st.lists(st.integers(0, 19), max_size=30))
def test_select_equals_joining_the_scopes_one_by_one(positions: list[int]) -> None:
    scopes = PPR(GRAPH, np.arange(20))
    picked = select(scopes, np.array(positions, dtype=np.int64))
    if positions:
        assert_same(picked, concat([scopes[position] for position in positions]))
    else:
        assert len(picked) == 0


def test_parts_and_iteration_cover_all_scopes() -> None:
    scopes = PPR(GRAPH, np.arange(20))
    assert_same(concat([scopes.part(0, 7), scopes.part(7, 20)]), scopes)
    assert_same(concat(list(scopes)), scopes)
    assert_same(scopes[-1], scopes[19])
    with pytest.raises(IndexError, match="scope must be from -20 to 19, got 20"):
        scopes[20]
    with pytest.raises(ValueError, match="parts must not be empty"):
        concat([])
