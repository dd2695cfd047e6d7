"""GraphSAINT's normalization: counts, factors by hand, and sums that come out as those of the whole graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.extract.graphs import random_edges, some_graphs
from tests.extract.reference import graph_of

from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.normal.saint_samplers import Drawer, EdgeSampler, FrontierSampler, NodeSampler, Sampler, WalkSampler
from shadow_gnn.normal.saint_statistics import SaintStatistics, count_subgraphs

GRAPHS = some_graphs()
SAMPLERS: list[Sampler] = [NodeSampler(12), EdgeSampler(8), WalkSampler(6, 2), FrontierSampler(16, 6)]
TARGETS = np.arange(0, 60, 2)


def dense_mean(graph: Graph, values: np.ndarray) -> np.ndarray:
    """Return the mean of the senders' values at each node, by the dense matrix."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for node in range(graph.num_nodes):
        matrix[node, graph.indices[graph.indptr[node] : graph.indptr[node + 1]]] = 1
    return matrix @ values / np.maximum(matrix.sum(axis=1), 1)


def by_hand() -> SaintStatistics:
    return SaintStatistics(
        num_subgraphs=20,
        num_targets=4,
        mean_nodes=3.0,
        mean_targets=2.0,
        node_count=np.array([10, 5, 0], np.int32),
        edge_count=np.array([5, 10, 0, 0], np.int32),
    )


def test_edge_factors_by_hand() -> None:
    scale = by_hand().edge_scale(np.array([0, 0, 0, 2]), np.arange(4))
    assert scale.dtype == np.float32
    # Half of the receiver's subgraphs have the first edge, all have the second. The third was not met with its receiver
    # and the receiver of the fourth was never drawn: then the subgraph that has them now is counted too.
    assert scale.tolist() == [2, 1, 11, 1]


def test_target_factors_by_hand() -> None:
    weight = by_hand().target_weight(np.array([0, 1, 2]))
    assert weight.dtype == np.float32
    # 3 targets of 4: 3 / 4 of what makes up for the share of subgraphs that each is in, 10 and 5 of 20, and 1 of 21.
    np.testing.assert_allclose(weight, [3 / 4 * 2, 3 / 4 * 4, 3 / 4 * 21])


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", ["hubs", "directed"])
def test_sums_over_the_counted_subgraphs_are_those_of_the_graph(sampler: Sampler, name: str) -> None:
    graph = GRAPHS[name]
    drawer = Drawer(graph, TARGETS, sampler)
    statistics = count_subgraphs(drawer, coverage=400, seed=3)
    values = np.random.default_rng(0).normal(size=graph.num_nodes)
    sums, visits, losses = np.zeros(60), np.zeros(60), []
    drawn = 0
    for number in range(10**6):
        if drawn == statistics.num_subgraphs:
            break
        found = drawer.subgraph(derive_seed("saint statistics", 3, None), number)
        if found is None:
            continue
        drawn += 1
        receiver = np.repeat(found.node_id, np.diff(found.indptr))
        scale = statistics.edge_scale(receiver, found.edge_pos).astype(float)
        degree = np.diff(graph.indptr)[receiver]
        np.add.at(sums, receiver, scale * values[found.node_id[found.indices]] / degree)
        visits[found.node_id] += 1
        targets = found.node_id[: found.hop_ptr[0]]
        losses.append((statistics.target_weight(targets) * values[targets]).mean())
    assert visits.tolist() == statistics.node_count.tolist()
    # A node is in the mean if all its edges were met, which is almost always so.
    met = np.array([(statistics.edge_count[a:b] > 0).all() for a, b in pairwise(graph.indptr)])
    usable = met & (visits > 0)
    assert usable.sum() > 20
    np.testing.assert_allclose((sums / np.maximum(visits, 1))[usable], dense_mean(graph, values)[usable], atol=1e-5)
    reached = TARGETS[visits[TARGETS] > 0]
    assert np.mean(losses) == pytest.approx(values[reached].sum() / len(TARGETS), abs=1e-5)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_sums_over_other_subgraphs_are_near_those_of_the_graph(sampler: Sampler) -> None:
    graph = graph_of(30, random_edges(30, 60, seed=4) + [(i, i + 1) for i in range(29)])
    drawer = Drawer(graph, np.arange(0, 30, 2), sampler)
    statistics = count_subgraphs(drawer, coverage=3000)
    values = 1 + np.random.default_rng(1).random(30)
    sums, visits, losses = np.zeros(30), np.zeros(30), []
    for number in range(6000):
        found = drawer.subgraph(99, number)
        if found is None:
            continue
        receiver = np.repeat(found.node_id, np.diff(found.indptr))
        scale = statistics.edge_scale(receiver, found.edge_pos)
        np.add.at(sums, receiver, scale * values[found.node_id[found.indices]] / np.diff(graph.indptr)[receiver])
        visits[found.node_id] += 1
        targets = found.node_id[: found.hop_ptr[0]]
        losses.append((statistics.target_weight(targets) * values[targets]).mean())
    assert visits.min() > 100
    np.testing.assert_allclose(sums / visits, dense_mean(graph, values), rtol=0.15)
    assert np.mean(losses) == pytest.approx(values[::2].mean(), rel=0.03)


def test_targets_are_drawn_as_often_as_asked_for() -> None:
    drawer = Drawer(GRAPHS["hubs"], TARGETS, WalkSampler(6, 2))
    calls: list[tuple[str, int, int]] = []
    statistics = count_subgraphs(drawer, coverage=300, progress=lambda *call: calls.append(call))
    per_target = statistics.node_count[TARGETS].sum() / len(TARGETS)
    assert 300 <= per_target < 300 + 64 * statistics.mean_targets / len(TARGETS)
    assert statistics.mean_targets == statistics.node_count[TARGETS].sum() / statistics.num_subgraphs
    assert statistics.mean_nodes == statistics.node_count.sum() / statistics.num_subgraphs
    assert calls[0] == ("counting subgraphs", 0, 300 * len(TARGETS))
    assert calls[-1] == ("counting subgraphs", 300 * len(TARGETS), 300 * len(TARGETS))


def test_subgraphs_without_targets_do_not_count() -> None:
    graph = graph_of(40, [(i, i + 1) for i in range(39)])
    statistics = count_subgraphs(Drawer(graph, [20], NodeSampler(3)), coverage=50)
    assert statistics.num_subgraphs == statistics.node_count[20] >= 50
    assert statistics.mean_targets == 1
    np.testing.assert_array_equal(statistics.target_weight(np.array([20])), [1])


def test_targets_that_are_never_drawn_are_one_clear_line() -> None:
    drawer = Drawer(graph_of(4, [(0, 1)]), [3], EdgeSampler(5))
    with pytest.raises(ValueError, match="GraphSAINT: subgraphs must hold targets, 1024 of 1024 had none"):
        count_subgraphs(drawer)


def test_counts_depend_on_the_seed_and_not_on_the_threads() -> None:
    drawer = Drawer(GRAPHS["big hubs"], np.arange(100), WalkSampler(10, 2))
    one, two, seven = (count_subgraphs(drawer, seed=5, num_threads=number) for number in (1, 2, 7))
    for other in (two, seven):
        assert other.node_count.tobytes() == one.node_count.tobytes()
        assert other.edge_count.tobytes() == one.edge_count.tobytes()
        assert (other.num_subgraphs, other.mean_nodes) == (one.num_subgraphs, one.mean_nodes)
    assert count_subgraphs(drawer, seed=6).node_count.tobytes() != one.node_count.tobytes()


def test_coverage_is_checked() -> None:
    with pytest.raises(ValueError, match="count_subgraphs: coverage must be at least 1, got 0"):
        count_subgraphs(Drawer(GRAPHS["path"], [0], WalkSampler(2)), coverage=0)
