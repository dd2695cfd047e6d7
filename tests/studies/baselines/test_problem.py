"""What baselines are given: targets, labels, inputs."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.communities import communities, with_labels

from shadow_gnn.graph.record import SparseFeatures
from shadow_gnn.studies.baselines.problem import input_matrix, make_problem, split_inputs


def sparse(matrix):
    stored = csr_array(matrix)
    return SparseFeatures(
        stored.indptr.astype(np.int64), stored.indices.astype(np.int32), stored.data.astype(np.float32), matrix.shape[1]
    )


def test_labels_are_those_of_the_split():
    graph = communities()
    problem = make_problem(graph)
    assert problem.metric == "accuracy"
    for name, nodes in graph.splits.items():
        assert problem.labels[name].tolist() == graph.y[nodes].tolist()


def test_targets_without_a_known_label_are_left_out():
    graph = communities()
    y = graph.y.copy()
    hidden = graph.splits["valid"][:5]
    y[hidden] = -1
    problem = make_problem(replace(graph, y=y))
    assert set(problem.targets["valid"]) == set(graph.splits["valid"]) - set(hidden)


def test_test_targets_may_be_missing_and_others_not():
    graph = communities()
    some = {name: graph.splits[name] for name in ("train", "valid")}
    assert set(make_problem(replace(graph, splits=some)).targets) == {"train", "valid"}
    with pytest.raises(ValueError, match="must have a split 'valid'"):
        make_problem(replace(graph, splits={"train": graph.splits["train"]}))


def test_values_are_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^baselines: labels must be classes or yes/no labels, got values"):
        make_problem(with_labels(communities(), "values"))


def test_score_is_accuracy_or_micro_f1():
    graph = communities()
    problem = make_problem(graph)
    perfect = torch.nn.functional.one_hot(problem.labels["test"], 3).float()
    assert problem.score("test", perfect) == 1
    several = make_problem(with_labels(graph, "multilabel"))
    assert several.metric == "micro_f1"
    y = several.labels["test"].float()
    guess = torch.ones_like(y)
    assert several.score("test", guess) == pytest.approx(float(2 * y.sum() / (y.sum() + y.numel())))


def test_bags_of_words_get_rows_that_sum_to_one():
    graph = replace(communities(4, 2), x=sparse(np.array([[2.0, 2.0], [0, 0], [0, 3.0], [1.0, -3.0]])), splits={})
    assert input_matrix(graph).toarray().tolist() == [[0.5, 0.5], [0, 0], [0, 1], [0.25, -0.75]]


def test_inputs_have_mean_0_and_deviation_1_over_the_training_targets():
    graph = communities()
    problem = make_problem(graph)
    found = split_inputs(problem, input_matrix(graph))
    np.testing.assert_allclose(found["train"].mean(dim=0), np.zeros(3), atol=1e-6)
    train = graph.x.matrix[graph.splits["train"]]
    expected = (graph.x.matrix[graph.splits["test"]] - train.mean(axis=0)) / train.std()
    np.testing.assert_allclose(found["test"], expected, rtol=1e-5, atol=1e-6)


def test_inputs_of_sparse_and_dense_features_are_alike():
    graph = communities()
    matrix = np.abs(graph.x.matrix)
    matrix /= matrix.sum(axis=1, keepdims=True)
    stored = replace(graph, x=sparse(matrix))
    ours, theirs = (split_inputs(make_problem(graph), x) for x in (input_matrix(stored), matrix))
    np.testing.assert_allclose(ours["valid"], theirs["valid"], rtol=1e-4, atol=1e-5)
