"""Task: what labels mean, which targets a split has, losses by another road, and one line for what does not fit."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, small_recipe, with_labels

import shadow_gnn.tasks.task
from shadow_gnn.graph.record import Graph
from shadow_gnn.tasks.task import LinkTask, NodeTask, label_kind, node_task, split_targets
from shadow_gnn.training.run_setup import make_setup

GRAPH = communities()


def labeled(y, **splits):
    y = np.asarray(y)
    return Graph(
        np.zeros(len(y) + 1, np.int64),
        np.zeros(0, np.int32),
        y=y,
        splits={name: np.array(ids, np.int64) for name, ids in splits.items()},
    )


@pytest.mark.parametrize(("kind", "width"), [("classes", 3), ("multilabel", 2), ("values", 1)])
def test_labels_decide_the_task(kind, width):
    graph = with_labels(GRAPH, kind)
    assert label_kind(graph) == kind
    for target in ("auto", kind):
        task = node_task(graph, target)
        assert (task.target, task.out_dim) == (kind, width)


def test_number_of_classes_counts_all_nodes(monkeypatch):
    monkeypatch.setattr(shadow_gnn.tasks.task, "_BLOCK_NODES", 2)
    assert node_task(labeled([0, 0, 7, -1, 1], train=[0, 1])).out_dim == 8


def test_unknown_labels_are_no_targets():
    assert split_targets(labeled([0, -1, 1, -1], train=[3, 2, 1, 0]), "train").tolist() == [2, 0]
    values = np.array([0.5, np.nan, 2.0, np.inf], np.float32)
    assert split_targets(labeled(values, train=[3, 2, 1, 0]), "train").tolist() == [2, 0]
    assert split_targets(labeled(np.zeros((3, 2), np.uint8), test=[2, 0]), "test").tolist() == [2, 0]


@pytest.mark.parametrize(
    ("graph", "options", "text"),
    [
        (replace(GRAPH, y=None), {}, "graph must have labels, the graph in memory has none; import it with --labels"),
        (replace(GRAPH, splits={}), {}, "must have a split 'train', the graph in memory has no splits; import it with"),
        (labeled([0, 1], valid=[0]), {}, "must have a split 'train', the graph in memory has valid"),
        (labeled([0, 1], train=[]), {}, "split 'train' must have nodes with known labels"),
        (labeled([-1, 1], train=[0]), {}, "split 'train' must have nodes with known labels"),
        (GRAPH, {"target": "values"}, "target must be 'classes', as the labels of the graph are, got 'values'"),
        (with_labels(GRAPH, "values"), {"target": "classes"}, "target must be 'values'"),
        (with_labels(GRAPH, "values"), {"class_weights": True}, "class_weights must be false unless"),
        (with_labels(GRAPH, "values"), {"label_smoothing": 0.1}, "label_smoothing must be 0 for targets with values"),
        (labeled(np.zeros((2, 2), np.float32), train=[0]), {}, "labels must be [N] integers, [N] floats or [N, C]"),
        (
            labeled([0, 10**12], train=[0]),
            {},
            "classes must be below 1,000,000, the graph has class 1,000,000,000,000",
        ),
        (labeled([0, 1], train=[5]), {}, "split train must have node ids from 0 to 1, got 5"),
    ],
)
def test_what_does_not_fit_is_one_line(graph, options, text):
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        node_task(graph, **options)
    assert "\n" not in str(caught.value)


def test_class_weights_are_inverse_frequencies_with_mean_one():
    graph = labeled([0, 0, 0, 1, 3, 3, 2], train=[0, 1, 2, 3, 4, 5])
    weight = node_task(graph, class_weights=True).class_weight
    assert weight.tolist() == pytest.approx([6 / 9, 2, 1, 1])
    assert weight[graph.y[:6]].mean() == pytest.approx(1)


def test_loss_of_classes():
    logits, y = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5]]), torch.tensor([0, 2])
    each = -np.log(np.exp(logits.numpy())[[0, 1], [0, 2]] / np.exp(logits.numpy()).sum(axis=1))
    assert NodeTask("classes", 3).loss(logits, y).item() == pytest.approx(each.mean())
    weighted = NodeTask("classes", 3, torch.tensor([1.0, 1.0, 3.0])).loss(logits, y)
    assert weighted.item() == pytest.approx((each[0] + 3 * each[1]) / 2)


def test_loss_of_labels_is_the_mean_times_their_number():
    logits, y = torch.tensor([[0.3, -2.0], [1.0, 0.0]]), torch.tensor([[1, 0], [0, 1]], dtype=torch.uint8)
    p = 1 / (1 + np.exp(-logits.numpy()))
    each = -np.where(y.numpy() == 1, np.log(p), np.log(1 - p))
    assert NodeTask("multilabel", 2).loss(logits, y).item() == pytest.approx(2 * each.mean())


def test_label_smoothing_mixes_the_loss_with_that_of_all_answers():
    logits, y = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5]]), torch.tensor([0, 2])
    plain, smooth = NodeTask("classes", 3), NodeTask("classes", 3, label_smoothing=0.3)
    others = [plain.loss(logits, torch.full((2,), answer)).item() for answer in range(3)]
    assert smooth.loss(logits, y).item() == pytest.approx(0.7 * plain.loss(logits, y).item() + 0.3 * np.mean(others))
    yes = torch.tensor([[1, 0, 1], [0, 1, 1]], dtype=torch.uint8)
    plain, smooth = NodeTask("multilabel", 3), NodeTask("multilabel", 3, label_smoothing=0.3)
    others = [plain.loss(logits, torch.full((2, 3), answer)).item() for answer in (0, 1)]
    mixed = 0.7 * plain.loss(logits, yes).item() + 0.3 * np.mean(others)
    assert smooth.loss(logits, yes).item() == pytest.approx(mixed)


def test_a_recipe_smooths_the_labels_of_its_task():
    for kind in ("classes", "multilabel"):
        recipe = small_recipe(training__label_smoothing=0.2)
        assert make_setup(recipe, with_labels(GRAPH, kind)).task.label_smoothing == 0.2


def test_values_are_learned_on_a_scale_of_their_own():
    graph = labeled(np.array([10, 30, 99], np.float32), train=[0, 1])
    task = node_task(graph)
    assert (task.value_mean, task.value_deviation) == (20, 10)
    assert task.loss(torch.tensor([[0.0], [2.0]]), torch.tensor([10.0, 30.0])).item() == pytest.approx((1 + 1) / 2)
    assert task.predictions(torch.tensor([[0.0], [2.0]])).tolist() == [20, 40]
    assert node_task(labeled(np.array([5, 5], np.float32), train=[0, 1])).value_deviation == 1


@pytest.mark.parametrize(
    ("task", "logits", "y"),
    [
        (NodeTask("classes", 2), [[2.0, 0.0], [0.0, 1.0]], [0, 0]),
        (NodeTask("classes", 2, torch.tensor([1.0, 3.0])), [[2.0, 0.0], [0.0, 1.0]], [0, 1]),
        (NodeTask("classes", 2, label_smoothing=0.1), [[2.0, 0.0], [0.0, 1.0]], [0, 0]),
        (NodeTask("multilabel", 2), [[0.3, -2.0], [1.0, 0.0]], [[1, 0], [0, 1]]),
        (NodeTask("values", 1, value_mean=20, value_deviation=10), [[0.5], [2.0]], [10.0, 30.0]),
        (LinkTask(), [[0.5], [2.0]], [1.0, 0.0]),
    ],
    ids=["classes", "weighted classes", "smoothed classes", "multilabel", "values", "links"],
)
def test_loss_counts_each_target_by_its_weight(task, logits, y):
    logits, y = torch.tensor(logits), torch.tensor(y)
    each = [task.loss(logits[row : row + 1], y[row : row + 1]).item() for row in (0, 1)]
    assert task.loss(logits, y, torch.ones(2)).item() == pytest.approx(task.loss(logits, y).item())
    weighted = task.loss(logits, y, torch.tensor([0.5, 3.0])).item()
    assert weighted == pytest.approx((0.5 * each[0] + 3 * each[1]) / 2)


def test_loss_is_float32_for_half_precision_logits():
    logits = torch.randn(4, 3, dtype=torch.bfloat16)
    assert NodeTask("classes", 3).loss(logits, torch.tensor([0, 1, 2, 0])).dtype == torch.float32


def test_predictions_and_probabilities():
    logits = torch.tensor([[1.0, 3.0], [0.5, -0.5]])
    assert NodeTask("classes", 2).predictions(logits).tolist() == [1, 0]
    assert NodeTask("classes", 2).probabilities(logits).sum(dim=1).tolist() == pytest.approx([1, 1])
    assert NodeTask("multilabel", 2).predictions(logits).tolist() == [[1, 1], [1, 0]]
    assert NodeTask("multilabel", 2).probabilities(logits)[1, 0].item() == pytest.approx(1 / (1 + np.exp(-0.5)))
    assert NodeTask("values", 1).probabilities(logits) is None


def test_links_are_scored_by_one_logit():
    logits = torch.tensor([[0.5], [-2.0]])
    assert LinkTask().predictions(logits).tolist() == [0.5, -2]
    assert LinkTask().probabilities(logits)[:, 0].tolist() == pytest.approx(
        [1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(2))]
    )
    expected = (np.log1p(np.exp(-0.5)) + np.log1p(np.exp(-2))) / 2
    assert LinkTask().loss(logits, torch.tensor([1.0, 0.0])).item() == pytest.approx(expected)


def test_rare_labels_weigh_more_where_they_are_present():
    graph = replace(
        GRAPH,
        y=np.array([[1, 0, 0]] * 2 + [[0, 1, 0]] * 8, np.uint8),
        indptr=np.zeros(11, np.int64),
        indices=np.zeros(0, np.int32),
        x=None,
        edge_weight=None,
        splits={"train": np.arange(10)},
    )
    task = node_task(graph, class_weights=True)
    assert task.class_weight.tolist() == [2, 1, 1]
    logits, y = torch.zeros(2, 3), torch.tensor([[1, 0, 0], [0, 0, 0]])
    assert task.loss(logits, y).item() == pytest.approx((7 / 2) * np.log(2))
    assert task.loss(logits, y, torch.tensor([1.0, 0.0])).item() == pytest.approx(2 * np.log(2))
    assert task.prior.tolist() == pytest.approx(np.log([3 / 9, 9 / 3, 1 / 11]))


def test_labels_above_their_thresholds_are_predicted():
    task = NodeTask("multilabel", 2, threshold=torch.tensor([-1.0, 2.0]))
    assert task.predictions(torch.tensor([[-0.5, 1.0], [-1.0, 3.0]])).tolist() == [[1, 0], [0, 1]]


def test_values_whose_squares_overflow_are_refused():
    graph = with_labels(communities(), "values")
    with pytest.raises(ValueError, match=r"values must be at most 1e\+18"):
        node_task(replace(graph, y=np.full(graph.num_nodes, 3e37, np.float32)))
