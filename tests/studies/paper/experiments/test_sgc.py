"""SGC: classifiers side by side equal each by itself, and the figure has both models and all powers."""

import numpy as np
import pytest
import torch
from tests.communities import communities
from tests.studies.paper.measured import run_twice

from shadow_gnn.base.files import silent
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper.experiment import ReproduceOptions
from shadow_gnn.studies.paper.experiments import sgc
from shadow_gnn.studies.paper.experiments.sgc import DATA, KINDS, POWERS, PRINTED, SgcOversmoothing, propagate
from shadow_gnn.studies.paper.experiments.sgc_fit import FitSettings, fit_powers


def problem(num_powers: int):
    """Return inputs whose powers are the less telling the higher, and classes."""
    rng = np.random.default_rng(0)
    inputs, labels = {}, {}
    for split, count in (("train", 300), ("valid", 200), ("test", 200)):
        y = rng.integers(3, size=count)
        noise = rng.normal(size=(count, num_powers, 3)) * np.arange(num_powers)[:, None] * 3
        inputs[split] = (np.eye(3)[y][:, None] + noise).astype(np.float32)
        labels[split] = torch.from_numpy(y)
    return inputs, labels


def test_classifiers_learn_what_their_inputs_tell():
    found = fit_powers(*problem(3), FitSettings(3, num_epochs=20, batch_size=20, learning_rate=0.05))
    assert found["test"][0] > 0.99
    assert found["test"][0] > found["test"][1] > found["test"][2] - 0.1
    assert found["test"][2] < 0.6
    assert all(1 <= epoch <= 20 for epoch in found["best_epoch"])


def test_side_by_side_equals_one_after_the_other():
    inputs, labels = problem(2)
    settings = FitSettings(3, num_epochs=5, batch_size=32, learning_rate=0.01, dropout=0.0)
    together = fit_powers(inputs, labels, settings)
    # The first power draws the same first weights alone as it does next to others.
    alone = fit_powers({split: np.ascontiguousarray(x[:, :1]) for split, x in inputs.items()}, labels, settings)
    # Products of two powers and of one may round differently, and one target of 200 may tip over.
    assert together["valid"][0] == pytest.approx(alone["valid"][0], abs=0.006)
    assert together["test"][0] == pytest.approx(alone["test"][0], abs=0.006)


def test_seed_decides():
    inputs, labels = problem(2)
    settings = FitSettings(3, num_epochs=2)
    state = torch.get_rng_state()
    assert fit_powers(inputs, labels, settings) == fit_powers(inputs, labels, settings)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("kind", list(KINDS))
def test_inductive_training_sees_only_training_nodes(kind, tmp_path):
    graph, options = communities(120), ReproduceOptions(out=tmp_path)
    recipe = paper_recipe("flickr-sgc-40-ppr")
    inputs, labels = propagate(graph, recipe, kind, options, silent)
    changed = communities(120)
    others = np.concatenate((changed.splits["valid"], changed.splits["test"]))
    changed.x.matrix[others] += 100
    again, _ = propagate(changed, recipe, kind, options, silent)
    assert np.array_equal(inputs["train"], again["train"])
    assert not np.array_equal(inputs["valid"], again["valid"])
    assert labels["test"].tolist() == graph.y[graph.splits["test"]].tolist()


def test_paper_has_points_for_every_power():
    assert set(PRINTED) == set(DATA)
    assert all(len(points) == len(POWERS) for curves in PRINTED.values() for points in curves.values())


def test_figure_has_both_models_and_all_powers(data_folder, tmp_path):
    outcome = run_twice(SgcOversmoothing(), data_folder, tmp_path / "out")
    (table,) = outcome.finding.tables
    assert len(table.rows) == 2 * 2 * len(POWERS)
    assert table.rows[0][:4] == ("flickr", "SGC", 1, 0.4592)
    assert all(0 <= row[4] <= 1 for row in table.rows)


def test_seeds_share_one_propagation(data_folder, tmp_path, monkeypatch):
    calls = []
    true = sgc.propagate
    monkeypatch.setattr(sgc, "propagate", lambda *given: calls.append(given[2]) or true(*given))
    options = ReproduceOptions(data=data_folder / "ogbn-arxiv", repeat=2, fast=True, out=tmp_path)
    jobs = SgcOversmoothing().jobs(options)
    assert [job.key for job in jobs] == [f"ogbn-arxiv-{kind}-{seed}" for kind in KINDS for seed in (0, 1)]
    results = {job.key: job.run(silent) for job in jobs}
    assert calls == ["sgc", "shadow"]
    (table,) = SgcOversmoothing().finding(results, options).tables
    assert {row[6] for row in table.rows} == {2}
    assert all(row[5] is not None for row in table.rows)
