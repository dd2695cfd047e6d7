"""Locality: targets that share neighbors follow one another, and every target comes once."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from tests.communities import communities

import shadow_gnn.extract.locality
from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.work_folder import open_work_folder
from shadow_gnn.extract import KhopExtractor
from shadow_gnn.extract.locality import group_nodes, order_targets
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph, save_graph


def cliques(num_cliques: int, size: int, seed: int = 0) -> Graph:
    """Draw cliques whose nodes have numbers all over the graph, each linked with the next one."""
    name = np.random.default_rng(seed).permutation(num_cliques * size).reshape(num_cliques, size)
    first, second = np.triu_indices(size, 1)
    src, dst = name[:, first].ravel(), name[:, second].ravel()
    bridges = name[:, 0], np.roll(name[:, 1], 1)
    return from_edges(np.concatenate((src, bridges[0])), np.concatenate((dst, bridges[1])), num_cliques * size)


def slow_majority(indptr, group):
    """Count entry by entry."""
    rows, joined = [], []
    for row, (start, stop) in enumerate(pairwise(indptr)):
        counts = Counter(group[start:stop].tolist())
        if counts:
            rows.append(row)
            joined.append(max(counts, key=lambda number: (counts[number], number * 0x9E3779B1 & 0xFFFFFFFF)))
    return rows, joined


@pytest.mark.parametrize("seed", range(5))
def test_a_node_joins_the_group_that_most_neighbors_are_in(seed):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate(([0], np.cumsum(rng.integers(0, 6, size=40))))
    group = rng.integers(0, 4, size=indptr[-1]).astype(np.int32)
    rows, joined = shadow_gnn.extract.locality._majority(indptr, group)
    assert (rows.tolist(), joined.tolist()) == slow_majority(indptr, group)


def test_cliques_become_groups():
    graph = cliques(8, 12)
    group = group_nodes(graph, None)
    name = np.random.default_rng(0).permutation(96).reshape(8, 12)
    assert all(len(set(group[nodes].tolist())) == 1 for nodes in name)
    assert len(set(group.tolist())) == 8


def test_blocks_do_not_lose_lists(monkeypatch):
    graph = communities()
    seen = []
    monkeypatch.setattr(shadow_gnn.extract.locality, "_BLOCK_NODES", 7)
    monkeypatch.setattr(shadow_gnn.extract.locality, "_BLOCK_ENTRIES", 20)
    for first, indptr, indices in shadow_gnn.extract.locality._blocks(graph):
        assert len(indices) <= 20 or len(indptr) == 2
        seen += [(first + row, indices[indptr[row] : indptr[row + 1]].tolist()) for row in range(len(indptr) - 1)]
    expected = [graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist() for node in range(120)]
    assert seen == list(enumerate(expected))


def ordered(graph, targets, folder):
    with open_work_folder(folder / "out", {}) as work:
        if not order_targets(graph, targets, work):
            return None
        rows = [work.rows(name, (len(targets),), np.int64)[:] for name in ("order", "place")]
        assert order_targets(graph, targets, work)  # Made once: the second call finds it.
    return rows


@pytest.mark.parametrize("targets", [range(96), np.array([5, 90, 5, *range(95, 30, -1)])], ids=["all", "some"])
def test_every_target_has_one_place(tmp_path, targets):
    graph = cliques(8, 12)
    order, place = ordered(graph, targets, tmp_path)
    assert sorted(order.tolist()) == list(range(len(targets)))
    assert order[place].tolist() == list(range(len(targets)))
    groups = group_nodes(graph, None)[np.asarray(targets)[order]]
    assert (np.diff(groups) >= 0).all()


def test_a_few_targets_keep_their_order(tmp_path):
    assert ordered(cliques(8, 12), np.array([3, 1]), tmp_path) is None
    assert ordered(from_edges([], [], 10), range(10), tmp_path) is None


def test_batches_read_fewer_nodes(tmp_path):
    graph = cliques(40, 12)
    order, _ = ordered(graph, range(480), tmp_path)

    def nodes_read(targets):
        parts = np.split(targets, 20)
        return sum(len(np.unique(KhopExtractor(num_hops=1)(graph, part).node_id)) for part in parts)

    assert nodes_read(order) < 0.3 * nodes_read(np.arange(480))


def test_a_damaged_list_is_named(tmp_path):
    save_graph(communities(), tmp_path / "g")
    data = bytearray((tmp_path / "g" / "indices.npy").read_bytes())
    data[-4:] = (1000).to_bytes(4, "little")
    (tmp_path / "g" / "indices.npy").write_bytes(data)
    with pytest.raises(FolderError, match="g: indices must be node ids below 120"):
        group_nodes(open_graph(tmp_path / "g", check=False), tmp_path)
