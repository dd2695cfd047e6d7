"""Label propagation against a dense solve, PyG's own, and by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.communities import communities, with_labels

from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.baselines.label_propagation import label_propagation, propagate
from shadow_gnn.studies.baselines.problem import make_problem


def dense_limit(graph, given, teleport):
    """Solve Y = t Y0 + (1 - t) D^-1/2 A D^-1/2 Y."""
    matrix = csr_array((np.ones(graph.num_edges), graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2).toarray()
    root = np.array([1 / np.sqrt(degree) if degree else 0 for degree in matrix.sum(axis=1)])
    matrix = root[:, None] * matrix * root[None, :]
    return np.linalg.solve(np.eye(len(matrix)) - (1 - teleport) * matrix, teleport * given)


@pytest.mark.parametrize("kind", ["classes", "multilabel"])
def test_scores_are_the_limit(kind):
    graph = with_labels(communities(), kind)
    problem = make_problem(graph)
    train = graph.splits["train"]
    columns = graph.y[train] if kind == "multilabel" else np.eye(3)[graph.y[train]]
    given = np.zeros((graph.num_nodes, columns.shape[1] + 1))
    given[train, :-1], given[train, -1] = columns, 1
    teleports = (0.5, 0.1, 0.02)
    for teleport, scores in zip(teleports, propagate(problem, teleports, tolerance=1e-7), strict=True):
        np.testing.assert_allclose(scores, dense_limit(graph, given, teleport), rtol=1e-3, atol=1e-5)


def test_equals_pyg_after_many_steps():
    from torch_geometric.nn import LabelPropagation

    graph = communities()
    problem = make_problem(graph)
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    edges = torch.from_numpy(np.stack((graph.indices, row)).astype(np.int64))
    theirs = LabelPropagation(num_layers=300, alpha=0.9)(
        torch.from_numpy(graph.y),
        edges,
        mask=torch.from_numpy(graph.splits["train"]),
        post_step=lambda y: y,
    )
    (ours,) = propagate(problem, (0.1,), tolerance=1e-7)
    np.testing.assert_allclose(ours[:, :3], theirs, rtol=1e-3, atol=1e-5)


def test_takes_the_teleport_that_is_best_on_validation():
    problem = make_problem(communities(400))
    alone = [label_propagation(problem, teleports=(teleport,)) for teleport in (0.9, 0.5, 0.1)]
    best = label_propagation(problem, teleports=(0.9, 0.5, 0.1))
    first = max(alone, key=lambda result: result.valid)
    assert (best.valid, best.test, best.settings) == (first.valid, first.test, first.settings)
    assert best.test > 0.5
    assert best.name == "lp"


def path(y, train):
    """Return 0 - 1 - 2 - 3 - 4 and 5 alone."""
    return Graph(
        np.array([0, 1, 3, 5, 7, 8, 8]),
        np.array([1, 0, 2, 1, 3, 2, 4, 3], dtype=np.int32),
        y=np.array(y),
        splits={"train": np.array(train), "valid": np.array([1, 3]), "test": np.array([5])},
    )


def test_the_nearer_label_wins_and_an_unreached_node_gets_the_most_frequent_class():
    found = label_propagation(make_problem(path([0, 0, 1, 1, 1, 1], [0, 2, 4])))
    assert found.valid == 1.0
    assert found.test == 1.0


def test_several_labels_by_majority():
    y = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]], dtype=np.uint8)
    found = label_propagation(make_problem(path(y, [0, 4])), teleports=(0.5,))
    assert found.metric == "micro_f1"
    assert found.valid == 1.0


def test_validation_and_test_labels_do_not_leak():
    graph = communities()
    other = graph.y.copy()
    for name in ("valid", "test"):
        other[graph.splits[name]] = (other[graph.splits[name]] + 1) % 3
    ours, theirs = (propagate(make_problem(replace(graph, y=y)), (0.1,))[0] for y in (graph.y, other))
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("teleport", [0.0, 1.5])
def test_teleport_must_be_a_share(teleport):
    with pytest.raises(ValueError, match=r"^label_propagation: teleports must be above 0 and at most 1, got"):
        label_propagation(make_problem(communities()), teleports=(teleport,))


def test_teleport_of_one_keeps_the_given_labels():
    problem = make_problem(communities())
    (scores,) = propagate(problem, (1.0,))
    assert scores.sum() == 2 * len(problem.targets["train"])


def test_no_features_are_needed():
    assert label_propagation(make_problem(replace(communities(), x=None))).valid > 0.4
