"""Train: equal to a loop written out by hand, the same after any interruption, and stopped by what is not finite."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401
from torch import nn

from shadow_gnn.base.errors import TrainingError
from shadow_gnn.extract import NodeExtractor
from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.loading.loader import Loader
from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.tasks.task import node_task, split_targets
from shadow_gnn.training.checkpoint import Checkpoint, take_checkpoint
from shadow_gnn.training.evaluate import evaluate
from shadow_gnn.training.loop import Epoch, FitOptions, Silent, TrainingState, _Loop, fit, seed_step, stops_early
from shadow_gnn.training.run_setup import make_setup

GRAPH = communities()


class Recorder(Silent):
    """Notes what it is told, and keeps a checkpoint of each epoch."""

    def __init__(self):
        self.steps, self.checkpoints = [], []

    def on_step(self, step):
        self.steps.append(step)

    def on_epoch(self, state):
        taken = take_checkpoint(state.model, state.optimizer, {"history": [asdict(epoch) for epoch in state.history]})
        tensors = {name: tensor.clone() for name, tensor in taken.tensors.items()}
        self.checkpoints.append(Checkpoint(tensors, taken.content))


class Linear(nn.Module):
    """A user's own model: one linear map of the target's features, with dropout."""

    def __init__(self, out_dim=3):
        super().__init__()
        self.dropout, self.linear = nn.Dropout(0.3), nn.Linear(3, out_dim)
        with torch.no_grad():
            for number, weight in enumerate(self.parameters()):
                weight.copy_(torch.arange(weight.numel()).reshape(weight.shape) % (3 + number) - 1)

    def forward(self, batches):
        return self.linear(self.dropout(batches[0].x[batches[0].target_node[:, 0]]))


def loaders(graph=GRAPH, batch_size=16):
    return [Loader(graph, NodeExtractor(), split_targets(graph, "train"), batch_size=batch_size, shuffle=True, seed=5)]


def weights(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_equal(first, second):
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def without_times(history):
    return [replace(epoch, seconds=0.0, extraction_seconds=0.0, cpu_seconds=0.0) for epoch in history]


def run(recipe, graph=GRAPH, options=None, num_epochs=None):
    setup = make_setup(recipe, graph)
    valid = setup.evaluation_loaders(split_targets(graph, "valid"))
    options = replace(options or FitOptions(), validate=lambda model: evaluate(model, valid, setup.task))
    settings = recipe.training if num_epochs is None else recipe.training.model_copy(update={"num_epochs": num_epochs})
    return fit(setup.model, setup.training_loaders(), setup.task, settings, options)


class Weighted(Loader):
    """Batches whose targets count as many times as they have a class."""

    def epoch(self, number):
        for batch in super().epoch(number):
            yield replace(batch, target_weight=1 + batch.y.float())


def test_targets_count_by_their_weight():
    settings = TrainingRecipe(num_epochs=1, learning_rate=1e-9, batch_size=16)
    targets = split_targets(GRAPH, "train")
    model, y = Linear(), torch.from_numpy(GRAPH.y[targets])
    model.dropout.p = 0.0
    loader = Weighted(GRAPH, NodeExtractor(), targets, batch_size=16)
    loss = fit(model, [loader], node_task(GRAPH), settings).history[0].loss
    with torch.no_grad():
        logits = model.linear(torch.from_numpy(GRAPH.x.rows(targets)))
        each = nn.functional.cross_entropy(logits, y, reduction="none")
    assert loss == pytest.approx(float(((1 + y) * each).mean()), rel=1e-5)
    assert loss != pytest.approx(float(each.mean()), rel=1e-2)


def test_equals_a_loop_written_out_by_hand():
    settings = TrainingRecipe(num_epochs=3, learning_rate=0.05, clip_norm=0.5, weight_decay=0.01, schedule="cosine")
    model, (loader,) = Linear(), loaders()
    optimizer = torch.optim.Adam(model.parameters(), weight_decay=0.01, fused=True)
    losses = []
    for epoch in range(3):
        total = 0.0
        for step, batch in enumerate(loader.epoch(epoch)):
            torch.manual_seed(derive_seed(f"step {step}", 7, epoch))
            optimizer.param_groups[0]["lr"] = 0.05 * 0.5 * (1 + math.cos(math.pi * (epoch + step / 4) / 3))
            loss = nn.functional.cross_entropy(model([batch]), batch.y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            total += loss.item() * len(batch)
        losses.append(total / 60)
    fitted = Linear()
    state = fit(fitted, loaders(), node_task(GRAPH), settings, FitOptions(seed=7))
    assert_equal(weights(fitted), weights(model))
    assert [epoch.loss for epoch in state.history] == losses


@pytest.mark.parametrize(
    ("kind", "metric", "least"), [("classes", "accuracy", 0.8), ("multilabel", "micro_f1", 0.85), ("values", "mae", -4)]
)
def test_learns(kind, metric, least):
    graph = with_labels(GRAPH, kind)
    state = run(small_recipe(training__num_epochs=12, model__dropout=0.0, model__hidden_dim=16), graph)
    value = state.best.valid[metric]
    assert state.monitor == metric
    assert (-value if metric == "mae" else value) > least


@pytest.mark.parametrize(
    "extractor",
    [
        {"kind": "rwr", "topk": 10, "num_walks": 100},
        {"kind": "rwr", "topk": 10, "num_walks": 100, "resample": True},
        {"kind": "simrank", "topk": 20, "num_walks": 20},
        {"kind": "fire", "forward": 0.6, "max_nodes": 10},
    ],
)
def test_learns_from_scopes_by_walks(extractor):
    changes = {"training__num_epochs": 12, "model__dropout": 0.0, "model__hidden_dim": 16}
    first, second = (run(small_recipe(extractor=extractor, **changes)) for _ in range(2))
    assert first.best.valid["accuracy"] > 0.7
    assert without_times(first.history) == without_times(second.history)


@pytest.mark.parametrize("changes", [{"training__optimizer": "adamw", "training__weight_decay": 0.1}, {}])
def test_the_seed_decides_everything(changes):
    first, second = (run(small_recipe(seed=1, **changes), options=FitOptions(seed=1)) for _ in range(2))
    assert without_times(first.history) == without_times(second.history)
    assert_equal(weights(first.model), weights(second.model))
    other = run(small_recipe(seed=2, **changes), options=FitOptions(seed=2))
    assert without_times(other.history) != without_times(first.history)


@pytest.mark.parametrize("changes", [{}, {"training__schedule": "plateau", "training__decay_epochs": 1}])
@pytest.mark.parametrize("done", [1, 3])
def test_goes_on_from_a_checkpoint_as_if_never_stopped(done, changes):
    recipe = small_recipe(training__num_epochs=4, extractor={"kind": "khop", "fanout": 2}, **changes)
    whole = run(recipe, options=FitOptions(keep_best=False))
    recorder = Recorder()
    run(recipe, options=FitOptions(watcher=recorder, keep_best=False), num_epochs=done)
    torch.manual_seed(1234)
    resumed = run(recipe, options=FitOptions(checkpoint=recorder.checkpoints[-1], keep_best=False))
    assert without_times(resumed.history) == without_times(whole.history)
    assert_equal(weights(resumed.model), weights(whole.model))


def test_watchers_hear_of_every_step_and_epoch():
    recorder = Recorder()
    state = run(small_recipe(), options=FitOptions(watcher=recorder))
    assert [(step.epoch, step.number, step.num_steps) for step in recorder.steps] == [
        (epoch, step, 4) for epoch in range(3) for step in range(4)
    ]
    assert len(recorder.checkpoints) == 3
    first = state.history[0]
    assert first.loss == pytest.approx(
        sum(step.loss * n for step, n in zip(recorder.steps[:4], (16, 16, 16, 12), strict=True)) / 60
    )
    assert 0 <= first.extraction_seconds <= first.seconds
    assert first.cpu_seconds > 0
    assert set(first.train) == {"accuracy"}
    assert set(first.valid) == {"accuracy", "micro_f1", "macro_f1"}


def test_the_best_epoch_is_kept():
    scores = iter([0.5, 0.9, 0.7])
    seen = []

    def validate(model):
        seen.append(weights(model))
        return {"accuracy": next(scores)}

    model = Linear()
    state = fit(model, loaders(), node_task(GRAPH), TrainingRecipe(num_epochs=3), FitOptions(validate=validate))
    assert state.best.number == 1
    assert_equal(weights(model), seen[1])


def test_patience_ends_training():
    scores = iter([0.5, 0.6, 0.6, 0.5, 0.9])
    settings = TrainingRecipe(num_epochs=9, patience=2)
    options = FitOptions(validate=lambda model: {"accuracy": next(scores)})
    state = fit(Linear(), loaders(), node_task(GRAPH), settings, options)
    assert (len(state.history), state.best.number) == (4, 1)
    assert stops_early(state, settings)
    assert not stops_early(state, TrainingRecipe())


def test_validation_is_due_now_and_then_and_at_the_end():
    settings = TrainingRecipe(num_epochs=5, evaluate_every=2)
    options = FitOptions(validate=lambda model: {"accuracy": 1.0})
    state = fit(Linear(), loaders(), node_task(GRAPH), settings, options)
    assert [bool(epoch.valid) for epoch in state.history] == [False, True, False, True, True]
    assert state.best.number == 1


def test_without_validation_the_last_epoch_is_the_best():
    state = fit(Linear(), loaders(), node_task(GRAPH), TrainingRecipe(num_epochs=2, patience=1))
    assert state.best is state.history[-1]
    assert TrainingState(Linear(), None, (), "accuracy").best is None


class Breaking(Linear):
    """Gives what is not finite in one step: as a loss, or only as a gradient."""

    def __init__(self, at, how):
        super().__init__()
        self.at, self.how, self.count = at, how, 0

    def forward(self, batches):
        logits = super().forward(batches)
        self.count += 1
        if self.count != self.at:
            return logits
        return logits * math.nan if self.how == "loss" else logits + torch.sqrt(self.linear.weight.sum() * 0)


@pytest.mark.parametrize(
    ("how", "text"), [("loss", "loss must be finite, got nan"), ("gradient", "gradient must be finite, its norm is")]
)
def test_what_is_not_finite_stops_before_it_spoils_a_weight(how, text):
    recorder, model = Recorder(), Breaking(7, how)
    with pytest.raises(TrainingError, match=text) as caught:
        fit(model, loaders(), node_task(GRAPH), TrainingRecipe(num_epochs=9), FitOptions(watcher=recorder))
    message = str(caught.value)
    batch = list(loaders()[0].epoch(1))[2]
    assert "in epoch 2, step 3, targets " + ", ".join(map(str, batch.targets[:, 0].tolist())) in message
    assert len(recorder.steps) == 6
    assert all(torch.isfinite(weight).all() for weight in model.parameters())


def test_a_long_list_of_targets_is_cut():
    with pytest.raises(TrainingError, match=r"(\d+, ){19}\d+ and 40 more;"):
        fit(Breaking(1, "loss"), loaders(batch_size=60), node_task(GRAPH), TrainingRecipe(num_epochs=1))


def test_clipping_can_be_off():
    free, clipped = (
        fit(Linear(), loaders(), node_task(GRAPH), TrainingRecipe(num_epochs=1, clip_norm=norm)) for norm in (0.0, 1e-3)
    )
    huge = fit(Linear(), loaders(), node_task(GRAPH), TrainingRecipe(num_epochs=1, clip_norm=1e9))
    assert_equal(weights(free.model), weights(huge.model))
    assert weights(free.model)["linear.bias"].tolist() != weights(clipped.model)["linear.bias"].tolist()


def test_loaders_without_targets_or_labels_are_refused():
    task = node_task(GRAPH)
    empty = [Loader(GRAPH, NodeExtractor(), np.zeros(0, np.int64))]
    with pytest.raises(ValueError, match="loaders must give at least one batch"):
        fit(Linear(), empty, task)
    unlabeled = [Loader(replace(GRAPH, y=None), NodeExtractor(), [1, 2])]
    with pytest.raises(ValueError, match="batches must have labels"):
        fit(Linear(), unlabeled, task)


def test_losses_of_several_processes_count_by_their_targets():
    class Fabric:
        world_size, device = 3, torch.device("cpu")

        def all_reduce(self, tensor, reduce_op):
            assert reduce_op == "sum"
            return tensor + torch.tensor([7.0, 14.0])  # The other two have 14 targets of loss 0.5 between them.

    loop = _Loop(Fabric(), None, None, (), node_task(GRAPH), TrainingRecipe(), FitOptions())
    mean, count, factor = loop._everywhere(torch.tensor(0.5), 2)
    # A mean over three processes of loss * factor is the mean over all 16 targets.
    assert float(factor) == pytest.approx(2 * 3 / 16)
    assert (float(mean), float(count)) == (pytest.approx((2 * 0.5 + 7.0) / 16), 16)
    # Whatever the loss of a filler is, it adds nothing.
    mean, count, factor = loop._everywhere(torch.tensor(math.nan), 0)
    assert (float(mean), float(count), float(factor)) == (0.5, 14, 0)


def test_ranks_drop_out_differently():
    draws = []
    for rank in (0, 1, 0):
        seed_step(3, 1, 2, torch.device("cpu"), rank=rank)
        draws.append(torch.rand(4).tolist())
    assert draws[0] == draws[2] != draws[1]


def test_weights_of_twice_the_bits_have_a_loss_of_as_many():
    recipe = small_recipe(training__precision="float64", training__num_epochs=1)
    state = run(recipe)
    assert all(weight.dtype == torch.float64 for weight in state.model.parameters())
    setup = make_setup(recipe, GRAPH)
    (batch,) = (next(iter(loader.epoch(0))) for loader in setup.training_loaders())
    assert setup.task.loss(setup.model(batch), batch.y).dtype == torch.float64


def test_an_epoch_reads_back_from_what_it_is_written_as():
    epoch = Epoch(1, 0.5, 0.1, 1.0, 0.1, {"accuracy": 0.5}, {})
    assert Epoch(**asdict(epoch)) == epoch


@pytest.mark.slow
def test_anonymous_memory_is_flat_over_a_thousand_steps():
    def anonymous():
        with open("/proc/self/smaps_rollup") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous"))

    sizes = []

    class Watch(Silent):
        def on_epoch(self, state):
            sizes.append(anonymous())

    setup = make_setup(small_recipe(training__num_epochs=270, model__hidden_dim=32), GRAPH)
    fit(setup.model, setup.training_loaders(), setup.task, setup.recipe.training, FitOptions(watcher=Watch()))
    assert len(sizes) * 4 > 1000
    assert sizes[-1] < 1.01 * sizes[20]
