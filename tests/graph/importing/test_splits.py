"""Splits by share: sizes, classes, groups and times against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn.graph.importing.splits import by_group, by_share, by_time, draw, split_remarks

SHARES = (60.0, 20.0, 20.0)


def parts(splits, num_nodes):
    """Return the number of the split of each node, -1 for none."""
    found = np.full(num_nodes, -1)
    for number, name in enumerate(("train", "valid", "test")):
        assert (found[splits[name]] == -1).all()
        found[splits[name]] = number
    return found


@given(st.integers(0, 60), st.integers(0, 9))
def test_shares_count_nodes(count, seed):
    nodes = np.arange(count) * 2
    found = by_share(nodes, SHARES, seed)
    assert sorted(np.concatenate(list(found.values())).tolist()) == nodes.tolist()
    assert len(found["train"]) == round(0.6 * count)


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(0, 9))
def test_stratified_shares_hold_in_each_class(classes, seed):
    classes = np.array(classes, np.int64)
    found = parts(by_share(np.arange(len(classes)), SHARES, seed, classes), len(classes))
    for number in np.unique(classes):
        count = int((classes == number).sum())
        assert int((found[classes == number] == 0).sum()) == round(0.6 * count)
        assert int((found[classes == number] <= 1).sum()) == round(0.8 * count)


@given(st.lists(st.integers(-1, 8), max_size=60), st.integers(0, 9))
def test_groups_stay_together_and_sizes_are_near_the_shares(groups, seed):
    groups = np.array(groups, np.int64)
    found = parts(by_group(np.arange(len(groups)), groups, SHARES, seed), len(groups))
    assert (found >= 0).all()
    for number in set(groups.tolist()) - {-1}:
        assert len(np.unique(found[groups == number])) == 1
    largest = max([1, *np.bincount(groups[groups >= 0]).tolist()]) if len(groups) else 1
    assert abs((found == 0).sum() - 0.6 * len(groups)) <= largest


@given(st.lists(st.integers(0, 9) | st.none(), max_size=60))
def test_time_divides_the_old_from_the_new(times):
    times = np.array([np.nan if time is None else time for time in times], float)
    found = parts(by_time(np.arange(len(times)), times, SHARES), len(times))
    assert ((found == -1) == np.isnan(times)).all()
    for early in range(2):
        old, new = times[found == early], times[found == early + 1]
        assert not len(old) or not len(new) or old.max() < new.min()
    known = int((found >= 0).sum())
    assert (found == 0).sum() >= round(0.6 * known) - 1


def test_only_known_labels_are_drawn():
    y = np.array([0, 1, -1, 0, 1, 0, 1, -1, 0, 1])
    found = draw(y, 10, SHARES, 0, stratify=True)
    assert sorted(np.concatenate(list(found.values())).tolist()) == [0, 1, 3, 4, 5, 6, 8, 9]
    with pytest.raises(ValueError, match="must have labels that are classes"):
        draw(None, 10, SHARES, 0, stratify=True)
    with pytest.raises(ValueError, match="sum to at most 100"):
        draw(y, 10, (60.0, 60.0, 0.0), 0)


def test_empty_and_tiny_splits_and_absent_classes_are_said():
    y = np.array([0, 1, 2, 2, -1])
    splits = {"train": np.array([0]), "valid": np.array([], np.int64), "test": np.arange(12)}
    assert split_remarks(splits, y) == [
        "split train has only 1 node",
        "split valid is empty",
        "2 of 3 classes have no node in train",
    ]
