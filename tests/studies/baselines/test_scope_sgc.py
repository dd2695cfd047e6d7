"""Scope SGC: rows of dense powers, features that are met, and a classifier that does not depend on coordinates."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.extract import NodeExtractor, PprExtractor
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.studies.baselines.logistic import fit_logistic
from shadow_gnn.studies.baselines.problem import input_matrix, make_problem, scaled, split_inputs
from shadow_gnn.studies.baselines.scope_sgc import fit_probe, in_row_space, propagate, scope_rows

GRAPH = communities()
POWERS = (3, 1)


def rows_of(extractor, nodes, power):
    scopes = extractor(GRAPH, nodes)
    (row,) = scope_rows(scopes, [power])
    return csr_array((row, scopes.node_id, scopes.ptr), shape=(len(nodes), GRAPH.num_nodes))


def test_rows_equal_those_of_dense_powers():
    scopes = PprExtractor(topk=9)(GRAPH, np.arange(20))
    found = scope_rows(scopes, POWERS)
    for number, scope in enumerate(scopes):
        size = len(scope.node_id)
        matrix = np.eye(size)
        for node in range(size):
            matrix[node, scope.indices[scope.indptr[node] : scope.indptr[node + 1]]] = 1
        scale = matrix.sum(axis=1) ** -0.5
        operator = scale[:, None] * matrix * scale
        for power, row in zip(POWERS, found, strict=True):
            expected = np.linalg.matrix_power(operator, power)[0]
            assert row[scopes.ptr[number] : scopes.ptr[number + 1]] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("powers", [(), (0, 1), (2, 2)])
def test_bad_powers_are_named(powers):
    with pytest.raises(ValueError, match="powers must be different numbers of at least 1"):
        scope_rows(PprExtractor()(GRAPH, [0]), powers)


def test_dense_and_sparse_features_give_the_same_product():
    rows = rows_of(PprExtractor(topk=9), np.arange(20), 2)
    x = GRAPH.x.rows(np.arange(GRAPH.num_nodes))
    expected = rows.toarray() @ x
    for inputs in (GRAPH.x, x, csr_array(x), DenseFeatures(x)):
        assert propagate(rows, inputs) == pytest.approx(expected, abs=1e-6)


def test_wide_inputs_give_the_same_classifier_in_the_space_of_their_rows():
    problem = make_problem(GRAPH)
    rng = np.random.default_rng(0)
    wide = {
        name: np.concatenate((GRAPH.x.rows(nodes), rng.normal(size=(len(nodes), 90)).astype(np.float32)), axis=1)
        for name, nodes in problem.targets.items()
    }
    inputs = scaled(wide)
    narrow = in_row_space(inputs)
    assert narrow["valid"].shape == (30, 60)
    assert torch.allclose(narrow["train"] @ narrow["train"].T, inputs["train"] @ inputs["train"].T, atol=1e-4)
    assert torch.allclose(narrow["valid"] @ narrow["train"].T, inputs["valid"] @ inputs["train"].T, atol=1e-4)
    before, after = fit_logistic(problem, inputs), fit_logistic(problem, narrow)
    assert (before.valid, before.test) == pytest.approx((after.valid, after.test), abs=0.05)


def test_narrow_inputs_stay_as_they_are():
    inputs = split_inputs(make_problem(GRAPH), GRAPH.x)
    assert in_row_space(inputs)["train"] is inputs["train"]


def test_the_probe_of_single_nodes_is_logistic_regression_on_the_features():
    problem = make_problem(GRAPH)
    x = input_matrix(GRAPH)
    rows = {2: {name: rows_of(NodeExtractor(), nodes, 2) for name, nodes in problem.targets.items()}}
    expected = fit_logistic(problem, split_inputs(problem, x))
    found = fit_probe(problem, x, rows)
    assert (found.power, found.valid, found.test) == (2, expected.valid, expected.test)


def test_the_probe_takes_the_power_that_is_best_on_validation():
    problem = make_problem(GRAPH)
    x = input_matrix(GRAPH)
    ppr = {
        power: {name: rows_of(PprExtractor(topk=10), nodes, power) for name, nodes in problem.targets.items()}
        for power in (1, 2, 4)
    }
    alone = {power: fit_probe(problem, x, {power: parts}) for power, parts in ppr.items()}
    found = fit_probe(problem, x, ppr)
    assert found.valid == max(probe.valid for probe in alone.values())
    assert found == alone[found.power]
    node = {1: {name: rows_of(NodeExtractor(), nodes, 1) for name, nodes in problem.targets.items()}}
    assert found.valid > fit_probe(problem, x, node).valid
