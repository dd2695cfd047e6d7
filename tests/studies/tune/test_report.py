"""Reports: how much of the spread a key explains, by hand on small numbers."""

import pytest

from shadow_gnn.studies.tune.report import Outcome, explained_share


def test_share_is_one_where_the_groups_differ_and_nothing_inside_them_does():
    assert explained_share([[1.0, 1.0], [2.0, 2.0]]) == 1.0


def test_share_is_nought_where_the_means_are_equal():
    assert explained_share([[1.0, 3.0], [2.0, 2.0]]) == 0.0


def test_share_takes_off_what_chance_gives():
    # Total 5, within 1 (two groups of spread 0.5), between 4; chance 1 * 1 / (4 - 2) = 0.5: (4 - 0.5) / 5.
    assert explained_share([[0.0, 1.0], [2.0, 3.0]]) == pytest.approx(0.7)


def test_share_cannot_be_told_from_too_little():
    assert explained_share([]) is None
    assert explained_share([[1.0, 2.0], []]) is None
    assert explained_share([[1.0], [2.0]]) is None
    assert explained_share([[1.0, 1.0], [1.0, 1.0]]) is None


def test_a_metric_of_which_less_is_better_is_shown_as_it_is():
    outcome = Outcome((), "mae", None, {}, {}, {})
    assert outcome.metric(-0.25) == 0.25
    assert Outcome((), "accuracy", None, {}, {}, {}).metric(0.25) == 0.25
    assert outcome.metric(None) is None
