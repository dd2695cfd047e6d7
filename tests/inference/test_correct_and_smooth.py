"""Correct & Smooth: PyG's steps on our graphs, settings chosen on validation alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread  # noqa: F401
from torch_geometric.nn import CorrectAndSmooth

from shadow_gnn.inference.correct_and_smooth import (
    CorrectSettings,
    Given,
    Grid,
    SmoothSettings,
    correct_and_smooth,
    make_grid,
)

GRAPH = communities()
TRAIN, VALID, TEST = (GRAPH.splits[name] for name in ("train", "valid", "test"))


def guesses(noise: float = 1.0) -> np.ndarray:
    """Probabilities that hint at the classes."""
    logits = np.eye(3)[GRAPH.y] + noise * np.random.default_rng(0).normal(size=(120, 3))
    return (np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)).astype(np.float32)


def accuracy(probability: np.ndarray, nodes: np.ndarray) -> float:
    return float((probability[nodes].argmax(axis=1) == GRAPH.y[nodes]).mean())


@pytest.mark.parametrize("autoscale", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_steps_are_those_of_pyg_on_an_edge_index(autoscale, weighted):
    weight = np.random.default_rng(1).uniform(0.5, 2, GRAPH.num_edges).astype(np.float32) if weighted else None
    graph = replace(GRAPH, edge_weight=weight)
    correct, smooth = CorrectSettings(7, 0.7, autoscale, 1.5), SmoothSettings(5, 0.6)
    found = correct_and_smooth(graph, guesses(), TRAIN, VALID, Grid((correct,), (smooth,)))
    receiver = np.repeat(np.arange(120), np.diff(GRAPH.indptr))
    edges = torch.from_numpy(np.stack((GRAPH.indices.astype(np.int64), receiver)))
    degree = np.bincount(receiver, weight, 120) if weighted else np.bincount(receiver, minlength=120)
    factor = np.divide(1, np.sqrt(degree), out=np.zeros(120), where=degree > 0)
    value = (1 if weight is None else weight) * factor[receiver] * factor[GRAPH.indices]
    oracle = CorrectAndSmooth(7, 0.7, 5, 0.6, autoscale, 1.5)
    rest = (torch.from_numpy(GRAPH.y[TRAIN]), torch.from_numpy(TRAIN), edges, torch.from_numpy(value).float())
    expected = oracle.smooth(oracle.correct(torch.from_numpy(guesses()), *rest), *rest).clamp(min=0)
    expected /= expected.sum(dim=1, keepdim=True)
    np.testing.assert_allclose(found.probability, expected, atol=1e-5)
    assert found.num_tried == 1


def test_homophilous_guesses_get_better():
    before = guesses(noise=1.5)
    found = correct_and_smooth(GRAPH, before, TRAIN, VALID)
    assert accuracy(found.probability, VALID) > accuracy(before, VALID)
    assert accuracy(found.probability, TEST) > accuracy(before, TEST)
    assert found.num_tried == 28
    np.testing.assert_allclose(found.probability.sum(axis=1), 1, atol=1e-5)


def test_what_helps_nothing_is_left_out():
    perfect = np.eye(3, dtype=np.float32)[GRAPH.y]
    found = correct_and_smooth(GRAPH, perfect, TRAIN, VALID)
    assert (found.correct.num_layers, found.smooth.num_layers) == (0, 0)
    np.testing.assert_array_equal(found.probability, perfect)


def test_validation_labels_choose_and_nothing_more():
    """With one setting there is nothing to choose, and the labels of validation and test do not matter."""
    rest = np.concatenate((VALID, TEST))
    y = GRAPH.y.copy()
    y[rest] = (y[rest] + 1) % 3
    grid = make_grid(Given(10, 0.8, 10, 0.8, autoscale=True))
    one, other = (
        correct_and_smooth(graph, guesses(), TRAIN, VALID, grid).probability for graph in (GRAPH, replace(GRAPH, y=y))
    )
    assert np.array_equal(one, other)


def test_perfect_training_nodes_do_not_divide_by_zero():
    perfect = np.eye(3, dtype=np.float32)[GRAPH.y]
    found = correct_and_smooth(GRAPH, perfect, TRAIN, VALID, make_grid(Given(5, 0.8, 0, autoscale=True)))
    np.testing.assert_array_equal(found.probability, perfect)


def test_a_given_value_is_the_only_one_tried():
    grid = make_grid(Given(num_correction_layers=3, scale=2.0, smoothing_alpha=0.3))
    assert {(way.num_layers, way.autoscale, way.scale) for way in grid.correct} == {(3, False, 2.0)}
    assert [way.alpha for way in grid.correct] == [0.5, 0.8, 0.95]
    assert grid.smooth == (SmoothSettings(50, 0.3),)
    left_out = make_grid(Given(num_correction_layers=0, num_smoothing_layers=0))
    assert left_out == Grid((CorrectSettings(0),), (SmoothSettings(0),))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"num_correction_layers": -1}, "num_correction_layers must be from 0 to 10,000, got -1"),
        ({"smoothing_alpha": 1.5}, "smoothing_alpha must be from 0 to 1, got 1.5"),
        ({"scale": float("nan")}, "scale must be from 0 to 1,000, got nan"),
        ({"scale": 1.0, "autoscale": True}, "scale must be used without autoscale"),
    ],
)
def test_values_out_of_range_are_one_line(values, text):
    with pytest.raises(ValueError, match=text):
        Given(**values)


def test_every_node_needs_a_row():
    with pytest.raises(ValueError, match=r"probability must have one row per node \(120\), got 3"):
        correct_and_smooth(GRAPH, guesses()[:3], TRAIN, VALID)
