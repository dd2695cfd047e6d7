"""Scope curve: the numbers of each point by a plain computation, its extractors, its command and its picture."""

import math

import numpy as np
import pytest
from tests.cli.called import fault, numbers, succeed
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.studies.scope_curve import curve_extractors, scope_curve
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = communities()
NORMAL = {"extractor": None, "training__method": "full", "training__num_epochs": 20}
SCOPES = {"ppr": [PprExtractor(topk=3), PprExtractor(topk=10)], "full": [FullExtractor(num_hops=2)]}


def trained(folder, graph=GRAPH, **changes):
    train_recipe(small_recipe(**changes), folder, options=RunOptions(graph=graph))
    return read_model(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("run") / "r", **NORMAL)


def test_points_equal_one_prediction_after_another(model):
    targets = GRAPH.splits["test"]
    curve = scope_curve(model, GRAPH, SCOPES, targets)
    exact = Predictor(model, GRAPH).predict(targets).predicted
    right = exact == GRAPH.y[targets]
    assert (curve.metric, curve.num_targets) == ("accuracy", 30)
    assert curve.exact.score == pytest.approx(right.mean())
    assert (curve.exact.agreement, curve.exact.deviation, curve.exact.num_nodes) == (1.0, 0.0, 120)
    each = [extractor for several in SCOPES.values() for extractor in several]
    for point, extractor in zip(curve.points, each, strict=True):
        predictor = Predictor(model, GRAPH, extractor=extractor)
        found = np.array([predictor.predict([node]).predicted[0] for node in targets])
        gained = (found == GRAPH.y[targets]).astype(float) - right
        assert point.score == pytest.approx(np.mean(found == GRAPH.y[targets]))
        assert point.agreement == pytest.approx(np.mean(found == exact))
        assert point.deviation == pytest.approx(gained.std() / math.sqrt(30))
        assert point.num_nodes == pytest.approx(np.mean([len(extractor(GRAPH, [node]).node_id) for node in targets]))
        assert point.cpu_ms > 0
    assert [point.name for point in curve.points] == ["ppr", "ppr", "full"]
    assert curve.points[2].agreement == 1.0


@pytest.mark.parametrize("kind", ["multilabel", "values"])
def test_other_labels_have_scores_too(tmp_path, kind):
    graph = with_labels(GRAPH, kind)
    curve = scope_curve(trained(tmp_path / "r", graph, **NORMAL), graph, SCOPES, graph.splits["valid"])
    assert curve.points[2].score == pytest.approx(curve.exact.score, rel=1e-3)
    assert math.isnan(curve.points[0].deviation)
    assert math.isnan(curve.points[0].agreement) == (kind == "values")


def test_a_model_on_scopes_is_compared_with_its_own(tmp_path):
    curve = scope_curve(trained(tmp_path / "r", training__num_epochs=1), GRAPH, SCOPES, GRAPH.splits["valid"])
    assert curve.exact.num_nodes == curve.points[1].num_nodes
    assert curve.points[1].agreement == 1.0


def test_no_targets_are_refused(model):
    with pytest.raises(ValueError, match="targets must be at least one node"):
        scope_curve(model, GRAPH, SCOPES, np.zeros(0, np.int64))


def test_extractors_come_in_all_sizes():
    found = curve_extractors(["ppr,node", "{kind='ppr', topk=7}", "{teleport=0.5}"], [5, 9])
    assert [extractor.topk for extractor in found["ppr"]] == [5, 9]
    assert len(found["node"]) == 1
    assert [extractor.topk for extractor in found["ppr topk=7"]] == [7]
    assert [(each.topk, each.teleport) for each in found["ppr teleport=0.5"]] == [(5, 0.5), (9, 0.5)]


def test_the_command_prints_and_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(GRAPH, "g")
    train_recipe(small_recipe(graph="g", **NORMAL), "r")
    arguments = ("scope-curve", "r", "--extractors", "ppr,node", "--sizes", "3,10", "--num-targets", "20")
    lines = succeed(*arguments, "--plot", "c.png").splitlines()
    assert lines[0].strip() == "valid, 20 targets"
    assert lines[1].split() == ["scopes", "nodes", "accuracy", "±", "agreement", "CPU", "ms"]
    assert [line.split()[0] for line in lines[2:]] == ["training", "ppr", "ppr", "node"]
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    found = numbers(*arguments)
    assert found["points"][0]["settings"]["topk"] == 3
    assert numbers(*arguments)["points"][2]["num_nodes"] == 1
    assert fault("scope-curve", "r", "--sizes", "3,x") == (
        "scope-curve: --sizes must be numbers from 1 to 100,000, got '3,x'"
    )
    assert fault("scope-curve", "r", "--extractors", "pbr").startswith("scope-curve: extractor: kind must be")
