"""Advice on small graphs where the right one is known, and its parts against slow, obvious versions."""

from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, one_thread, with_labels  # noqa: F401

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.inference.evaluation import score_metrics, score_thresholds
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.studies.advise import AdviseOptions, advise, candidates
from shadow_gnn.studies.advise.choice import choose, unfinished_note
from shadow_gnn.studies.advise.clock import Clock, OutOfTime
from shadow_gnn.studies.advise.judge import gains, wilson
from shadow_gnn.studies.advise.plot import plot_advice
from shadow_gnn.studies.advise.record import Candidate

SHORT = AdviseOptions(minutes=0.2)
TINY = communities(60)


def families(found):
    return {row.name: row.family for row in found.rows}


def test_features_that_decide_alone_give_the_target_alone():
    graph, rng = communities(300), np.random.default_rng(0)
    y = rng.permutation(graph.y)  # Edges no longer say anything.
    x = 8 * np.eye(3)[y] + rng.normal(size=(300, 3))
    # Long enough for all candidates on a slow machine: nothing is cut short.
    found = advise(replace(graph, y=y, x=DenseFeatures(x.astype(np.float32))), AdviseOptions(minutes=5))
    assert found.recommended == "target alone"
    assert "adds nothing" in found.reason


def test_labels_in_the_features_of_neighbors_need_the_graph():
    found = advise(communities(400), SHORT)
    assert families(found)[found.recommended] != "alone"
    alone = next(row for row in found.rows if row.family == "alone")
    assert alone.behind_high < 0


def broad_stars(num_stars=240, num_leaves=800, shift=0.09, seed=0):
    """The class of a hub is the sign of a tiny shift of all its leaves: only the mean of very many shows it."""
    rng = np.random.default_rng(seed)
    hub = np.arange(num_stars)
    leaf = num_stars + np.arange(num_stars * num_leaves)
    y = np.full(num_stars + len(leaf), -1, np.int64)
    y[hub] = rng.integers(2, size=num_stars)
    x = rng.normal(size=(len(y), 1))
    x[hub] = 0
    x[leaf, 0] += shift * (2 * np.repeat(y[hub], num_leaves) - 1)
    graph = from_edges(np.repeat(hub, num_leaves), leaf, len(y))
    splits = {"train": hub[: num_stars // 2], "valid": hub[num_stars // 2 :]}
    return replace(graph, x=DenseFeatures(x.astype(np.float32)), y=y, splits=splits)


def test_the_normal_model_is_recommended_where_breadth_decides():
    found = advise(broad_stars(), replace(SHORT, num_layers=1))
    assert families(found)[found.recommended] in ("normal", "smoothed")
    scopes = [row for row in found.rows if row.family in ("scope", "served")]
    assert all(row.behind_high < 0 for row in scopes)


@pytest.fixture
def few_epochs(monkeypatch):
    """Let every candidate have few epochs, however fast the machine is."""
    monkeypatch.setattr(candidates, "epochs_that_fit", lambda recipe, seconds, one: 2)


@pytest.mark.usefixtures("few_epochs")
@pytest.mark.parametrize("kind", ["multilabel", "values"])
def test_other_labels_are_advised(kind):
    found = advise(with_labels(TINY, kind))
    assert found.metric == {"multilabel": "micro_f1", "values": "mae"}[kind]
    assert all(row.low <= row.score <= row.high for row in found.rows)
    assert any("smoothed" in note for note in found.notes) == (kind == "values")


@pytest.mark.usefixtures("few_epochs")
def test_test_targets_are_never_read():
    y = TINY.y.copy()
    y[TINY.splits["test"]] = 0
    first, second = (advise(each) for each in (TINY, replace(TINY, y=y)))
    assert first.num_valid == second.num_valid == len(TINY.splits["valid"])
    smoothed = [next(row.score for row in each.rows if row.family == "smoothed") for each in (first, second)]
    assert smoothed[0] == smoothed[1]


@pytest.mark.usefixtures("few_epochs")
def test_the_recommended_recipe_can_be_read_and_the_plot_is_drawn(tmp_path):
    found = advise(TINY)
    for name, text in found.recipes.items():
        (tmp_path / name).write_text(text)
        assert read_recipe(tmp_path / name).model.layer == "sage"
    plot_advice(found, tmp_path / "advice.png")
    assert (tmp_path / "advice.png").read_bytes()[:4] == b"\x89PNG"


def test_gains_have_the_metric_as_their_mean():
    rng = np.random.default_rng(0)
    scores, labels = rng.random((1, 50, 4)).astype(np.float32), (rng.random((50, 4)) < 0.4).astype(np.uint8)
    expected = score_metrics("multilabel", scores[0], labels, score_thresholds(scores[0], labels))["micro_f1"]
    assert gains("multilabel", scores, labels).mean() == pytest.approx(expected, abs=1e-6)
    classes = labels.argmax(axis=1)
    expected = score_metrics("classes", scores[0], classes)["accuracy"]
    assert gains("classes", scores, classes).mean() == pytest.approx(expected)


def test_wilson_stays_within_0_and_1():
    low, high = wilson(np.ones((1, 100)))
    assert low == pytest.approx(0.963, abs=1e-3)
    assert high == pytest.approx(1)


def candidate(name, family, ms):
    return Candidate(name, family, np.zeros((1, 1, 1), np.float32), 1.0, ms, 100 * ms)


def test_the_cheapest_of_equals_is_recommended():
    equal = np.tile([1.0, 0.0, 1.0, 1.0], 100)[None]
    place, _ = choose([candidate("a", "normal", 5.0), candidate("b", "scope", 1.0)], [equal, equal.copy()])
    assert place == 1


def test_breadth_is_named_when_no_scope_reaches_the_normal_model():
    good, bad = np.ones((1, 400)), np.tile([1.0, 0.0], 200)[None]
    each = [good, bad, bad.copy()]
    several = [candidate("n", "normal", 5.0), candidate("s", "scope", 1.0), candidate("v", "served", 1.0)]
    place, reason = choose(several, each)
    assert place == 0
    assert "breadth decides" in reason
    assert "breadth" not in choose(several, [good, bad, good.copy()])[1]


def test_networks_that_were_cut_short_are_named():
    whole, short = candidate("n", "normal", 5.0), replace(candidate("s", "scope", 1.0), note="1 of 28 epochs")
    assert unfinished_note([whole]) is None
    assert unfinished_note([whole, short]).startswith("not trained to the end: s; with more --minutes")


def test_the_hybrid_must_be_clearly_better():
    good, better = np.tile([1.0, 0.0, 1.0, 1.0], 100)[None], np.ones((1, 400))
    several = [candidate("n", "normal", 5.0), candidate("h", "hybrid", 6.0)]
    assert choose(several, [good, better])[0] == 1
    assert choose(several, [good, good.copy()])[0] == 0


def test_the_clock_gives_unused_time_to_later_steps():
    clock = Clock(100.0, {"a": 1.0, "b": 1.0})
    assert clock.start("a") == pytest.approx(50, abs=1)
    assert clock.start("b") == pytest.approx(100, abs=1)
    clock.check()
    late = Clock(0.0, {"a": 1.0})
    late.start("a")
    with pytest.raises(OutOfTime):
        late.check()


def test_links_are_refused_in_one_line():
    graph = replace(communities(60), y=None, pairs={"train": np.zeros((1, 2), np.int64)})
    with pytest.raises(ValueError, match="links have no adviser"):
        advise(graph)
