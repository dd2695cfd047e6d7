"""Which baselines run, in which order."""

from dataclasses import replace

import pytest
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.studies.baselines import BASELINES, make_problem, run_baselines, what_runs


def test_all_run_in_their_order_whatever_the_order_asked_for():
    problem = make_problem(communities())
    assert what_runs(problem, ("lp", "raw")) == (["raw", "lp"], [])
    assert what_runs(problem, BASELINES) == (["raw", "smoothed", "sgc", "sign", "lp"], [])


def test_without_features_only_label_propagation_runs():
    problem = make_problem(replace(communities(), x=None))
    assert what_runs(problem, BASELINES) == (["lp"], ["raw", "smoothed", "sgc", "sign"])
    assert [results[0].name for results in run_baselines(problem)] == ["lp"]


def test_unknown_names_are_faults():
    with pytest.raises(ValueError, match=r"^baselines: only must name some of raw, .*, got 'gcn'$"):
        what_runs(make_problem(communities()), ("raw", "gcn"))


def test_every_baseline_gives_a_result():
    found = list(run_baselines(make_problem(communities()), repeat=2, powers=(1, 0, 0)))
    assert [[result.name for result in results] for results in found] == [
        ["raw"],
        ["smoothed"],
        ["sgc"],
        ["sign", "sign"],
        ["lp"],
    ]
    for results in found:
        for result in results:
            assert result.metric == "accuracy"
            assert 0 < result.valid <= 1
            assert 0 < result.test <= 1
            assert result.memory > 0


def test_repeat_must_be_positive():
    with pytest.raises(ValueError, match=r"^baselines: repeat must be at least 1, got 0$"):
        next(run_baselines(make_problem(communities()), repeat=0))


def test_what_does_not_fit_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr("shadow_gnn.studies.baselines.runs.available_memory", lambda: 10)
    with pytest.raises(ValueError, match=r"^memory: smoothed needs about .*, got 10 B; try fewer powers, or shadow"):
        next(run_baselines(make_problem(communities()), ["smoothed"]))
