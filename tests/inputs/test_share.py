"""Label parts: shown and predicted nodes of an epoch never overlap, and change with it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from shadow_gnn.inputs.columns import make_inputs
from shadow_gnn.inputs.share import epoch_labels, label_parts
from shadow_gnn.recipe import InputsRecipe
from shadow_gnn.task import node_task
from tests.communities import communities
from tests.inputs.joined import joined_batch

TRAIN = np.array([3, 5, 8, 9, 20, 21, 30, 31, 32, 40])


def test_parts_are_disjoint_and_complete_and_in_order():
    parts = label_parts(TRAIN, 0.3, seed=1, epoch=0)
    assert len(parts.shown) == 3
    assert sorted([*parts.shown, *parts.targets]) == TRAIN.tolist()
    for part in (parts.shown, parts.targets):
        assert part.tolist() == sorted(part.tolist())


def test_seed_and_epoch_decide():
    def shown(seed, epoch):
        return label_parts(TRAIN, 0.5, seed=seed, epoch=epoch).shown.tolist()

    assert shown(1, 0) == shown(1, 0)
    assert shown(1, 0) != shown(1, 1)
    assert shown(1, 0) != shown(2, 0)


@pytest.mark.parametrize(("share", "count"), [(0.001, 1), (0.999, 9)])
def test_neither_part_is_empty(share, count):
    assert len(label_parts(TRAIN, share, seed=0, epoch=0).shown) == count


def test_a_single_node_is_a_target():
    parts = label_parts(TRAIN[:1], 0.5, seed=0, epoch=0)
    assert (parts.shown.tolist(), parts.targets.tolist()) == ([], [3])


@pytest.mark.parametrize("share", [0, 1, -0.5, float("nan")])
def test_share_must_be_a_share(share):
    with pytest.raises(ValueError, match="share must be above 0 and below 1"):
        label_parts(TRAIN, share, seed=0, epoch=0)
    with pytest.raises(ValueError, match="train must not be empty"):
        label_parts(TRAIN[:0], 0.5, seed=0, epoch=0)


GRAPH = communities(num_nodes=40)
EVERYTHING = InputsRecipe(smooth=1, labels=True, smooth_labels=2)


def read(y, targets, epoch=3):
    """Return what an epoch of training on the whole graph reads."""
    graph = replace(GRAPH, y=y)
    labels = epoch_labels(make_inputs(EVERYTHING, graph, node_task(GRAPH)), 0.5, seed=0, epoch=epoch)
    return labels, *labels(joined_batch(graph, targets))


def test_no_input_of_the_whole_graph_depends_on_a_judged_label():
    """Labels of the shown nodes are inputs, the loss is of the others: changing all of theirs changes no bit."""
    train = GRAPH.splits["train"]
    labels, batch, weight = read(GRAPH.y, train)
    judged, shown = labels.parts.targets, labels.parts.shown
    y = GRAPH.y.copy()
    y[judged] = (y[judged] + 1) % 3
    assert torch.equal(batch.x, read(y, train)[1].x)
    y[shown[0]] = (y[shown[0]] + 1) % 3
    assert not torch.equal(batch.x, read(y, train)[1].x)
    assert (weight > 0).tolist() == np.isin(train, judged).tolist()


def test_weights_make_the_mean_that_of_the_judged_targets():
    train = GRAPH.splits["train"]
    labels, batch, weight = read(GRAPH.y, train)
    loss = torch.rand(len(train))
    assert float((weight * loss).mean()) == pytest.approx(float(loss[np.isin(train, labels.parts.targets)].mean()))
    assert batch.x.shape == (40, EVERYTHING.num_columns(3, 3))
    *_, none = read(GRAPH.y, labels.parts.shown)
    assert not none.any()


def test_epochs_show_other_labels():
    train = GRAPH.splits["train"]
    assert not torch.equal(read(GRAPH.y, train, 0)[1].x, read(GRAPH.y, train, 1)[1].x)


def test_inputs_without_labels_have_none_to_show():
    with pytest.raises(ValueError, match="inputs must have columns of labels, got none"):
        epoch_labels(make_inputs(InputsRecipe(smooth=1), GRAPH, node_task(GRAPH)), 0.5, seed=0, epoch=0)
