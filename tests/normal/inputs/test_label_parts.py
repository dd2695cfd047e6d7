"""Label parts: shown and predicted nodes of an epoch never overlap, and change with it."""

import numpy as np
import pytest

from shadow_gnn.normal.inputs.label_parts import label_parts

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
