"""Average: the mean of all weights, written out; validated and kept in their place; the same after any interruption."""

from dataclasses import asdict, replace

import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.training.test_loop import Linear, assert_equal, loaders, run, weights, without_times
from torch import nn

from shadow_gnn.base.errors import RunError
from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.tasks.task import node_task
from shadow_gnn.training.average import WeightAverage
from shadow_gnn.training.checkpoint import Checkpoint, restore_model, take_checkpoint
from shadow_gnn.training.loop import FitOptions, Silent, fit

GRAPH = communities()


class Recorder(Silent):
    """Keeps the weights after each step, and a checkpoint of each epoch."""

    def __init__(self, model=None):
        self.model, self.seen, self.checkpoints = model, [], []

    def on_step(self, step):
        if self.model is not None:
            self.seen.append(weights(self.model))

    def on_epoch(self, state):
        content = {"history": [asdict(epoch) for epoch in state.history]}
        taken = take_checkpoint(state.model, state.optimizer, content, state.average.tensors)
        tensors = {name: tensor.clone() for name, tensor in taken.tensors.items()}
        self.checkpoints.append(Checkpoint(tensors, taken.content))


def mean_of(seen, decay):
    """Return the weighted mean of what was seen: the last one counts 1, the one before it decay, and so on."""
    factor = [decay**age for age in reversed(range(len(seen)))]
    return {
        name: sum(share * each[name].double() for share, each in zip(factor, seen, strict=True)) / sum(factor)
        for name in seen[0]
    }


def assert_close(first, second):
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name].double(), second[name].double(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.999])
def test_is_the_mean_of_the_weights_after_every_step(decay):
    settings = TrainingRecipe(num_epochs=3, learning_rate=0.05, average=decay)
    model, validated = Linear(), []
    recorder = Recorder(model)

    def validate(model):
        validated.append((len(recorder.seen), weights(model)))
        return {"accuracy": len(validated)}

    fit(model, loaders(), node_task(GRAPH), settings, FitOptions(watcher=recorder, validate=validate))
    assert [count for count, _ in validated] == [4, 8, 12]
    for count, found in validated:
        assert_close(found, mean_of(recorder.seen[:count], decay))
    assert_equal(weights(model), validated[-1][1])  # the best epoch is the last one


def test_steps_are_those_of_training_without_an_average():
    plain, averaged = Recorder(Linear()), Recorder(Linear())
    plain.on_epoch = lambda state: None
    for recorder, decay in ((plain, 0.0), (averaged, 0.9)):
        settings = TrainingRecipe(num_epochs=2, learning_rate=0.05, average=decay)
        options = FitOptions(watcher=recorder, validate=lambda model: {"accuracy": 0.5}, keep_best=False)
        fit(recorder.model, loaders(), node_task(GRAPH), settings, options)
    for first, second in zip(plain.seen, averaged.seen, strict=True):
        assert_equal(first, second)
    assert_equal(weights(averaged.model), averaged.seen[-1])


@pytest.mark.parametrize("done", [1, 3])
@pytest.mark.parametrize("method", ["shadow", "full", "joint"])
def test_resumes_as_if_never_stopped(done, method):
    tables = {"extractor": None} if method == "full" else {}
    recipe = small_recipe(training__num_epochs=4, training__average=0.9, training__method=method, **tables)
    whole = run(recipe)
    recorder = Recorder()
    run(recipe, options=FitOptions(watcher=recorder), num_epochs=done)
    resumed = run(recipe, options=FitOptions(checkpoint=recorder.checkpoints[-1]))
    assert without_times(resumed.history) == without_times(whole.history)
    assert_equal(dict(resumed.average.tensors), dict(whole.average.tensors))


def test_a_checkpoint_gives_its_averages_to_a_model_and_its_weights_to_training():
    recorder = Recorder()
    settings = TrainingRecipe(num_epochs=1, learning_rate=0.05, average=0.9)
    fit(Linear(), loaders(), node_task(GRAPH), settings, FitOptions(watcher=recorder))
    taken, model = recorder.checkpoints[0], Linear()
    restore_model(taken, model)
    for name, tensor in weights(model).items():
        assert torch.equal(tensor, taken.tensors[f"average.{name}"])
        assert not torch.equal(tensor, taken.tensors[f"model.{name}"])


def test_buffers_and_fixed_weights_stay_and_a_fault_in_the_block_does_not_mix_them():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model[0].bias.requires_grad_(False)
    average = WeightAverage(model, 0.5)
    assert set(average.tensors) == {"0.weight", "1.weight", "1.bias"}
    before = weights(model)
    with torch.no_grad():
        model[0].weight.add_(1)
    average.update(1)
    with torch.no_grad():
        model[0].weight.add_(2)
    average.update(2)
    after = weights(model)
    seen = {}

    def fail():
        with average.in_use():
            seen.update(weights(model))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    torch.testing.assert_close(seen["0.weight"], before["0.weight"] + 1 + 2 * 2 / 3)
    assert_equal(weights(model), after)


def test_averages_of_other_weights_are_refused():
    with pytest.raises(RunError, match="averages must be of 2 weights, got 0"):
        WeightAverage(Linear(), 0.5).restore({})


def test_best_weights_are_averages_of_the_best_epoch():
    scores, seen = iter([0.2, 0.9, 0.1]), []

    def validate(model):
        seen.append(weights(model))
        return {"accuracy": next(scores)}

    settings, model = TrainingRecipe(num_epochs=3, average=0.8), Linear()
    state = fit(model, loaders(), node_task(GRAPH), settings, replace(FitOptions(), validate=validate))
    assert state.best.number == 1
    assert_equal(weights(model), seen[1])
