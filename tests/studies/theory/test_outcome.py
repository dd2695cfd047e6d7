"""Outcomes: what counts as holding."""

import math

import pytest

from shadow_gnn.studies.theory.outcome import Check, Outcome


@pytest.mark.parametrize(
    ("measured", "relation", "bound", "holds"),
    [
        (1.0, "at most", 1.0, True),
        (1.1, "at most", 1.0, False),
        (1.0, "at least", 1.0, True),
        (0.9, "at least", 1.0, False),
        (3, "exactly", 3, True),
        (3, "exactly", 4, False),
        (math.nan, "at most", 1.0, False),
        (math.nan, "at least", 1.0, False),
        (math.nan, "exactly", math.nan, False),
    ],
)
def test_check_holds_within_its_bound_alone(measured, relation, bound, holds):
    assert Check("", measured, relation, bound).holds is holds


def test_outcome_holds_if_every_check_does():
    right, wrong = Check("", 1, "exactly", 1), Check("", 2, "exactly", 1)
    assert Outcome("", "", "", (right, right)).holds
    assert not Outcome("", "", "", (right, wrong)).holds
