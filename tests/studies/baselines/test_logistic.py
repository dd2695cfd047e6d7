"""Logistic regression against Newton's method, and the choice of decay and hops."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, with_labels  # noqa: F401

from shadow_gnn.nn.smoothing import smoothed
from shadow_gnn.studies.baselines import logistic
from shadow_gnn.studies.baselines.logistic import fit_logistic, raw_features, sgc, smoothed_features
from shadow_gnn.studies.baselines.problem import input_matrix, make_problem, split_inputs


def newton(x, y, decay, several):
    """Minimize the same loss in float64 with exact second derivatives. [F + 1, C]"""
    x = torch.cat((x.double(), torch.ones(len(x), 1, dtype=torch.float64)), dim=1)
    num_classes = y.shape[1] if several else int(y.max()) + 1

    def loss(flat):
        weight = flat.view(x.shape[1], num_classes)
        penalty = decay * weight[:-1].square().sum()
        if several:
            terms = torch.nn.functional.binary_cross_entropy_with_logits(x @ weight, y.double())
            return terms * num_classes + penalty
        return torch.nn.functional.cross_entropy(x @ weight, y) + penalty

    flat = torch.zeros(x.shape[1] * num_classes, dtype=torch.float64)
    for _ in range(30):
        gradient = torch.func.grad(loss)(flat)
        curvature = torch.func.hessian(loss)(flat) + 1e-9 * torch.eye(len(flat), dtype=torch.float64)
        flat = flat - torch.linalg.solve(curvature, gradient)
    return flat.view(x.shape[1], num_classes)


@pytest.mark.parametrize("kind", ["classes", "multilabel"])
def test_equals_newtons_method(kind, monkeypatch):
    problem = make_problem(with_labels(communities(), kind))
    inputs = split_inputs(problem, input_matrix(problem.graph))
    monkeypatch.setattr(logistic, "DECAYS", (1e-2,))
    fit = fit_logistic(problem, inputs)
    weight = newton(inputs["train"], problem.labels["train"], 1e-2, kind == "multilabel")
    for split, found in (("valid", fit.valid), ("test", fit.test)):
        logits = inputs[split].double() @ weight[:-1] + weight[-1]
        assert found == pytest.approx(problem.score(split, logits), abs=1e-6)
    assert fit.decay == 1e-2


def test_takes_the_decay_that_is_best_on_validation(monkeypatch):
    problem = make_problem(communities())
    inputs = split_inputs(problem, input_matrix(problem.graph))
    fits = []
    for decay in logistic.DECAYS[:3]:
        monkeypatch.setattr(logistic, "DECAYS", (decay,))
        fits.append(fit_logistic(problem, inputs))
    monkeypatch.setattr(logistic, "DECAYS", tuple(fit.decay for fit in fits))
    best = fit_logistic(problem, inputs)
    assert best.valid == max(fit.valid for fit in fits)


def test_smoothing_brings_what_features_do_not_have():
    problem = make_problem(communities(400))
    raw, smooth = raw_features(problem), smoothed_features(problem)
    assert raw.name == "raw"
    assert smooth.name == "smoothed"
    assert smooth.test > raw.test + 0.05
    assert 1 <= smooth.settings["num_hops"] <= 6
    assert smooth.seed is None
    assert smooth.memory > 0
    assert smooth.seconds > 0


def test_hops_are_the_first_after_which_validation_is_not_better():
    problem = make_problem(communities(400))
    valid = [fit_logistic(problem, split_inputs(problem, x)).valid for x in smoothed(problem.graph, problem.graph.x, 4)]
    expected = next(hop for hop in range(1, 4) if valid[hop] <= valid[hop - 1])
    found = smoothed_features(problem)
    assert found.settings["num_hops"] == expected
    assert found.valid == valid[expected - 1]


def test_sgc_is_logistic_regression_on_that_many_hops():
    problem = make_problem(communities())
    *_, x = smoothed(problem.graph, problem.graph.x, 3)
    fit = fit_logistic(problem, split_inputs(problem, x))
    found = sgc(problem, num_hops=3)
    assert (found.name, found.valid, found.test) == ("sgc", fit.valid, fit.test)
    assert found.settings == {"num_hops": 3, "decay": fit.decay}
    with pytest.raises(ValueError, match=r"^sgc: num_hops must be at least 1, got 0$"):
        sgc(problem, num_hops=0)


def test_no_test_split_gives_no_test_score():
    graph = communities()
    some = {name: graph.splits[name] for name in ("train", "valid")}
    assert raw_features(make_problem(replace(graph, splits=some))).test is None


def test_a_graph_without_features_is_named():
    with pytest.raises(ValueError, match=r"^baselines: graph must have features"):
        raw_features(make_problem(replace(communities(), x=None)))


def test_the_same_again_gives_the_same():
    problem = make_problem(communities())
    first, second = raw_features(problem), raw_features(problem)
    assert replace(first, seconds=0) == replace(second, seconds=0)


def test_constant_features_do_no_harm():
    graph = communities()
    flat = replace(graph, x=replace(graph.x, matrix=np.ones_like(graph.x.matrix)))
    assert 0 <= raw_features(make_problem(flat)).valid <= 1
