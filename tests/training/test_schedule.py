"""Schedule: the learning rate of any step, from the settings and the scores so far."""

import math

import pytest

from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.training.schedule import learning_rate, num_plateaus


def rates(settings, num_steps=2, scores=(), monitor="accuracy"):
    return [
        learning_rate(settings, epoch, step, num_steps, scores, monitor=monitor)
        for epoch in range(settings.num_epochs)
        for step in range(num_steps)
    ]


def test_constant():
    assert rates(TrainingRecipe(num_epochs=2, learning_rate=0.5)) == [0.5] * 4


def test_cosine_falls_from_the_rate_towards_zero():
    found = rates(TrainingRecipe(num_epochs=2, learning_rate=1.0, schedule="cosine"))
    assert found == pytest.approx([(1 + math.cos(math.pi * share)) / 2 for share in (0, 0.25, 0.5, 0.75)])


def test_step():
    settings = TrainingRecipe(num_epochs=5, learning_rate=1.0, schedule="step", decay=0.1, decay_epochs=2)
    assert rates(settings, 1) == pytest.approx([1, 1, 0.1, 0.1, 0.01])


def test_plateau():
    settings = TrainingRecipe(num_epochs=1, learning_rate=1.0, schedule="plateau", decay=0.5, decay_epochs=2)
    for scores, rate in (
        ((), 1),
        ((0.5, 0.4), 1),
        ((0.5, 0.4, 0.5), 0.5),
        ((0.5, 0.4, 0.5, 0.6, 0.6), 0.5),
        ((0.5, 0.4, 0.5, 0.5, 0.5), 0.25),
    ):
        assert rates(settings, 1, scores) == [rate]
    falling = (0.5, 0.4, 0.3)
    assert rates(settings, 1, falling, monitor="mae") == [1]
    every = settings.model_copy(update={"evaluate_every": 2})
    assert rates(every, 1, (0.5, 0.4)) == [0.5]


def test_a_score_that_is_not_defined_is_no_better_one():
    assert num_plateaus([0.5, math.nan, math.nan], 2, monitor="accuracy") == 1


def test_warm_up_rises_in_a_line():
    settings = TrainingRecipe(num_epochs=3, learning_rate=1.0, warmup_epochs=1.5)
    assert rates(settings) == pytest.approx([1 / 3, 2 / 3, 1, 1, 1, 1])
    cosine = settings.model_copy(update={"schedule": "cosine"})
    assert rates(cosine)[1] == pytest.approx(2 / 3 * (1 + math.cos(math.pi / 6)) / 2)
