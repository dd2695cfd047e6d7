"""The long-range task: where the message is, which scopes hold it, and that a model finds it there."""

from dataclasses import replace

import numpy as np
import pytest
from tests.communities import one_thread  # noqa: F401

from shadow_gnn.extract import FullExtractor
from shadow_gnn.studies.theory.long_range import (
    LongRangeTask,
    TrialModel,
    check_long_range,
    long_range_graph,
    try_scope,
)

SMALL = LongRangeTask(distance=2, num_chains=10, num_leaves=1, num_noise=1)


def targets_of(graph):
    return np.sort(np.concatenate(list(graph.splits.values())))


def test_chain_of_two_hops_with_leaves():
    graph = long_range_graph(SMALL, 0)
    assert graph.num_nodes == 60
    rows = [graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist() for node in range(6)]
    assert rows == [[1, 3], [0, 2, 4], [1, 5], [0], [1], [2]]
    assert targets_of(graph).tolist() == list(range(0, 60, 6))
    assert [len(graph.splits[name]) for name in ("train", "valid", "test")] == [4, 3, 3]


def test_label_is_the_message_at_the_far_end():
    graph = long_range_graph(SMALL, 0)
    x = graph.x.matrix
    assert set(graph.y[targets_of(graph)]) == {0, 1}
    np.testing.assert_array_equal(x[2::6, 0], 2 * graph.y[::6] - 1)
    assert np.count_nonzero(x[:, 0]) == 10
    assert (np.delete(graph.y, np.arange(0, 60, 6)) == -1).all()


def test_same_seed_draws_the_same_graph():
    first, second, other = (long_range_graph(SMALL, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.x.matrix, second.x.matrix)
    assert not np.array_equal(first.x.matrix, other.x.matrix)


@pytest.mark.parametrize("num_hops", [0, 1, 2, 3])
def test_scope_holds_the_message_from_its_distance_on(num_hops):
    graph = long_range_graph(SMALL, 0)
    for scope in FullExtractor(num_hops)(graph, targets_of(graph)):
        assert np.count_nonzero(graph.x.matrix[scope.node_id, 0]) == (num_hops >= SMALL.distance)


def test_model_finds_the_message_in_its_scope_alone():
    graph = long_range_graph(LongRangeTask(distance=3, num_chains=500), 0)
    shallow, deep = (try_scope(graph, {"kind": "full", "num_hops": hops}, TrialModel()) for hops in (2, 3))
    assert shallow.test < 0.65
    assert deep.test > 0.95
    assert (deep.scope, deep.num_hops) == ("full num_hops 3", 3)


@pytest.mark.parametrize(("name", "value"), [("distance", 0), ("num_chains", 9), ("num_leaves", -1), ("num_noise", -1)])
def test_refuses_a_task_that_cannot_be_drawn(name, value):
    with pytest.raises(ValueError, match=f"LongRangeTask: {name} must be at least"):
        replace(SMALL, **{name: value})


@pytest.mark.slow
def test_holds():
    assert check_long_range().holds
