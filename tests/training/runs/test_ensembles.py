"""Ensembles: branches of any two kinds of extractors, or of one kind with two settings, train and predict."""

import itertools

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.rounding import ROUNDING

from shadow_gnn.extract import KINDS
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.nn.ensemble import AttentionEnsemble, MeanEnsemble
from shadow_gnn.studies.compare_extractors.sized import comparable_kinds, sized_table
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = communities()
NAMES = ["stochastic-ppr", *comparable_kinds()]
PAIRS = {
    **{f"{one} + {other}": (sized_table(one, 8), sized_table(other, 8)) for one, other in itertools.pairwise(NAMES)},
    **{
        f"{kind}, two sizes": (sized_table(kind, 8), sized_table(kind, 4))
        for kind in NAMES
        if len(sized_table(kind, 8)) > 1
    },
    "ppr, two teleports": ({"kind": "ppr", "topk": 8}, {"kind": "ppr", "topk": 8, "teleport": 0.6}),
    "khop, two radii": ({"kind": "khop", "num_hops": 1}, {"kind": "khop", "num_hops": 2, "fanout": 3}),
}
JOINED = {"attention": AttentionEnsemble, "mean": MeanEnsemble}


def train(extractors, ensemble, folder):
    branches = [{"extractor": extractor} for extractor in extractors]
    changes = {"extractor": None, "branches": branches, "model__ensemble": ensemble, "training__num_epochs": 2}
    return train_recipe(small_recipe(**changes), folder, options=RunOptions(graph=GRAPH))


def logits_of(trained, targets):
    return torch.cat([part.logits for part in Predictor(trained, GRAPH).outputs(targets)])


@pytest.mark.parametrize("number", range(len(PAIRS)), ids=list(PAIRS))
def test_any_two_extractors_train_and_predict(number, tmp_path):
    # By turns: every kind meets both ways of joining.
    ensemble = list(JOINED)[number % 2]
    extractors = list(PAIRS.values())[number]
    run = train(extractors, ensemble, tmp_path / "run")
    trained = read_model(tmp_path / "run")
    assert isinstance(trained.model.ensemble, JOINED[ensemble])
    assert [branch.extractor.kind for branch in trained.config.branches] == [table["kind"] for table in extractors]
    # What was evaluated while training is what the stored model gives.
    assert evaluate_split(Predictor(trained, GRAPH), "test").metrics["accuracy"] == pytest.approx(
        run.result["test"]["accuracy"]
    )
    targets = np.array([5, 0, 77])
    logits = logits_of(trained, targets)
    assert logits.shape == (3, 3)
    assert torch.isfinite(logits).all()
    torch.testing.assert_close(logits_of(trained, targets[:1]), logits[:1], **ROUNDING)


@pytest.mark.parametrize("ensemble", JOINED)
def test_three_branches_of_one_kind(ensemble, tmp_path):
    train([{"topk": size} for size in (3, 6, 12)], ensemble, tmp_path / "run")
    trained = read_model(tmp_path / "run")
    assert len(trained.model.branches) == 3
    assert evaluate_split(Predictor(trained, GRAPH), "test").metrics["accuracy"] > 0.5


def test_every_kind_that_a_size_is_enough_for_is_here():
    assert set(comparable_kinds()) <= set(NAMES) <= set(KINDS)
