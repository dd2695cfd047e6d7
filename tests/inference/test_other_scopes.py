"""Other scopes: full scopes give a normal GNN's exact predictions; any extractor works, and differences are told."""

from dataclasses import replace

import numpy as np
import pytest
from tests.cli.called import fault, numbers, succeed
from tests.communities import communities, near_ring, one_thread, small_recipe  # noqa: F401
from tests.rounding import ROUNDING

from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference.estimators import NodeClassifier
from shadow_gnn.inference.predictor import Predictor, open_predictor
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = communities()
NORMAL = {"extractor": None, "training__num_epochs": 2, "training__precision": "float64"}
EXACT = {"rtol": 1e-5, "atol": 1e-6}  # Computed in float64, given in float32.


def trained(folder, graph=GRAPH, **changes):
    train_recipe(small_recipe(**changes), folder, options=RunOptions(graph=graph))
    return read_model(folder)


@pytest.mark.parametrize("method", ["full", "saint", "neighbor"])
def test_scopes_of_all_hops_give_exact_predictions(tmp_path, method):
    model = trained(tmp_path / "r", **NORMAL, training__method=method)
    exact = Predictor(model, GRAPH).predict(np.arange(120))
    scopes = Predictor(model, GRAPH, extractor=FullExtractor(num_hops=2)).predict(np.arange(120))
    np.testing.assert_allclose(scopes.logits, exact.logits, **EXACT)
    narrow = Predictor(model, GRAPH, extractor={"topk": 3}).predict(np.arange(120))
    assert np.abs(narrow.logits - exact.logits).max() > 0.01


@pytest.mark.parametrize(("layer", "num_hops"), [("gcn", 3), ("gat", 2), ("gin", 2)])
def test_a_layer_that_reads_degrees_of_senders_needs_one_more_hop(tmp_path, layer, num_hops):
    weight = np.random.default_rng(0).uniform(0.5, 2, GRAPH.num_edges).astype(np.float32)
    graph = GRAPH if layer != "gcn" else replace(GRAPH, edge_weight=_symmetric(GRAPH, weight))
    model = trained(tmp_path / "r", graph, **NORMAL, training__method="full", model__layer=layer)
    exact = Predictor(model, graph).predict(np.arange(120))
    scopes = Predictor(model, graph, extractor=FullExtractor(num_hops=num_hops)).predict(np.arange(120))
    np.testing.assert_allclose(scopes.logits, exact.logits, **EXACT)


def _symmetric(graph, weight):
    """Give both directions of an edge one weight."""
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    both = {frozenset(pair): value for *pair, value in zip(rows, graph.indices, weight, strict=True)}
    return np.array([both[frozenset(pair)] for pair in zip(rows, graph.indices, strict=True)], np.float32)


def test_labels_as_inputs_and_smoothed_features_stay_what_they_are(tmp_path):
    changes = {"inputs__labels": True, "inputs__smooth": 1, "training__method": "full"}
    model, test = trained(tmp_path / "r", **NORMAL, **changes), GRAPH.splits["test"]
    exact = Predictor(model, GRAPH).predict(test)
    scopes = Predictor(model, GRAPH, extractor=FullExtractor(num_hops=2)).predict(test)
    np.testing.assert_allclose(scopes.logits, exact.logits, **EXACT)


def test_the_extractor_of_training_changes_nothing(tmp_path):
    graph = near_ring()
    model = trained(tmp_path / "r", graph, task__kind="link", training__num_epochs=1)
    pairs = [[0, 1], [4, 40]]
    same = Predictor(model, graph, extractor=PprExtractor(topk=10)).predict(pairs)
    assert np.array_equal(same.logits, Predictor(model, graph).predict(pairs).logits)


def test_notes_name_both_kinds_of_scopes(tmp_path):
    notes = []
    trained(tmp_path / "normal", **NORMAL, training__method="full")
    trained(tmp_path / "shadow", training__num_epochs=1)
    for name in ("normal", "shadow"):
        open_predictor(tmp_path / name, GRAPH, extractor={"kind": "full", "num_hops": 1}, note=notes.append)
    open_predictor(tmp_path / "shadow", GRAPH, extractor={"topk": 10}, note=notes.append)
    assert len(notes) == 2
    assert notes[0] == (
        'predicts on scopes of {kind = "full", num_hops = 1}; the model was trained on the whole graph, without scopes'
    )
    assert 'trained on {kind = "ppr", topk = 10' in notes[1]


def test_extractors_that_do_not_fit_are_one_line(tmp_path):
    branches = [{"extractor": {"topk": 5}}, {"extractor": {"kind": "node"}}]
    joined = trained(tmp_path / "b", extractor=None, branches=branches, training__num_epochs=1)
    with pytest.raises(ValueError, match="must be left out for an ensemble of 2 branches"):
        Predictor(joined, GRAPH, extractor=PprExtractor())
    heavy = replace(GRAPH, edge_weight=np.ones(GRAPH.num_edges, np.float32))
    model = trained(tmp_path / "w", heavy, **NORMAL, training__method="full")
    save_graph(GRAPH, tmp_path / "light")
    other = PprExtractor(scope_graph=tmp_path / "light", scope_edges="scope_graph")
    with pytest.raises(ValueError, match="scopes must have edges as in training"):
        Predictor(model, heavy, extractor=other)


def test_estimators_predict_on_other_scopes(tmp_path):
    normal = NodeClassifier(method="full", hidden_dim=8, num_layers=2, num_epochs=2).fit(GRAPH, progress=False)
    wide, narrow = (normal.on_scopes({"kind": "full", "num_hops": hops}) for hops in (2, 1))
    exact = normal.predict_proba(GRAPH)
    np.testing.assert_allclose(wide.predict_proba(GRAPH), exact, **ROUNDING)
    assert np.abs(narrow.predict_proba(GRAPH) - exact).max() > 0.01
    assert np.array_equal(normal.predict_proba(GRAPH), exact)
    del normal
    assert narrow.save(tmp_path / "saved").exists()


def test_commands_take_an_extractor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(GRAPH, "g")
    recipe = small_recipe(graph="g", **NORMAL, training__method="full")
    (tmp_path / "recipe.toml").write_text(write_recipe(recipe))
    succeed("train", "recipe.toml", "--out", "r")
    exact = numbers("evaluate", "r")
    assert numbers("evaluate", "r", "--extractor", "{kind='full', num_hops=2}")["metrics"] == exact["metrics"]
    table = ("--targets", "test", "--out", "p.csv")
    assert "30 predictions" in succeed("predict", "r", "--extractor", "{topk=5}", *table)
    assert fault("predict", "r", "--extractor", "{topc=5}", *table).startswith("predict: extractor.topc: unknown key")
    assert fault("evaluate", "r", "--extractor", "{").startswith("evaluate: --extractor must be a kind or a TOML")
