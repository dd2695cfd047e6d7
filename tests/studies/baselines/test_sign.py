"""SIGN: its network, its training, and what is chosen."""

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, with_labels  # noqa: F401

from shadow_gnn.studies.baselines import sign as room
from shadow_gnn.studies.baselines.operators import operator_names
from shadow_gnn.studies.baselines.problem import make_problem
from shadow_gnn.studies.baselines.sign import SignNetwork, SignOptions, sign, sign_inputs, train_sign

QUICK = SignOptions(powers=(1, 1, 0), hidden_dim=8, num_steps=20, round_steps=4)


def test_network_is_the_papers_equation():
    network = SignNetwork(3, 2, 2, SignOptions(hidden_dim=4, dropout=0.5)).eval()
    x = torch.randn(2, 5, 3)
    parts = [part @ linear.weight.T + linear.bias for part, linear in zip(x, network.inner, strict=True)]
    z = torch.cat(parts, dim=1)
    z = torch.where(z > 0, z, network.activation.weight * z)
    torch.testing.assert_close(network(list(x)), z @ network.outer.weight.T + network.outer.bias)


def test_inputs_are_the_rows_of_the_targets():
    graph = communities()
    problem = make_problem(graph)
    inputs = sign_inputs(problem, (1, 1, 1))
    assert list(inputs) == operator_names((1, 1, 1))
    assert [part["valid"].shape for part in inputs.values()] == [(len(graph.splits["valid"]), 3)] * 4


@pytest.mark.parametrize("kind", ["classes", "multilabel"])
def test_learns_from_the_graph(kind):
    problem = make_problem(with_labels(communities(400), kind))
    (found,) = sign(problem, powers=(2, 0, 0))
    assert found.name == "sign"
    assert found.test > 0.65
    assert found.settings["powers"] == [2, 0, 0]
    assert found.settings["dropout"] in room.DROPOUTS
    assert found.seed == 0


def test_seed_decides_everything_and_leaves_torchs_own_generator_alone():
    problem = make_problem(communities())
    inputs = sign_inputs(problem, QUICK.powers)
    before = torch.get_rng_state()
    first, again, other = (train_sign(problem, inputs, QUICK, seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert (first.valid, first.test, first.settings) == (again.valid, again.test, again.settings)
    assert (first.valid, first.test) != (other.valid, other.test)


def test_scores_are_of_the_best_epoch(monkeypatch):
    problem = make_problem(communities())
    inputs = sign_inputs(problem, QUICK.powers)
    seen = []
    original = type(problem).score

    def score(self, split, logits):
        seen.append((split, original(self, split, logits)))
        return seen[-1][1]

    monkeypatch.setattr(type(problem), "score", score)
    found = train_sign(problem, inputs, QUICK, 0)
    valid = [value for split, value in seen if split == "valid"]
    assert found.valid == max(valid)
    assert found.settings["steps"] == 4 * (1 + int(np.argmax(valid)))
    assert len(valid) == 5
    assert [split for split, _ in seen].count("test") == 1


def test_patience_ends_training(monkeypatch):
    problem = make_problem(communities())
    monkeypatch.setattr(type(problem), "score", lambda self, split, logits: 0.5)
    stages = []
    options = SignOptions(powers=(1, 0, 0), hidden_dim=4, patience=30)
    train_sign(problem, sign_inputs(problem, (1, 0, 0)), options, 0, lambda *stage: stages.append(stage))
    assert len(stages) == 4


def test_more_seeds_use_what_the_first_one_chose(monkeypatch):
    monkeypatch.setattr(room, "POWERS", ((1, 0, 0), (1, 1, 0)))
    problem = make_problem(communities())
    results = sign(problem, num_seeds=3)
    assert [result.seed for result in results] == [0, 1, 2]
    assert len({(tuple(result.settings["powers"]), result.settings["dropout"]) for result in results}) == 1
    more = sign(problem, powers=(1, 1, 0))[0].memory - sign(problem, powers=(1, 0, 0))[0].memory
    assert more == sum(map(len, problem.targets.values())) * 3 * 4
