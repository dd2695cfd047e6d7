"""Estimators: the same weights as the command line, folders that go both ways, PyG's Data, scikit-learn's contract."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from tests.cli.called import run as shadow
from tests.communities import communities, names, near_ring, one_thread, with_labels  # noqa: F401

from shadow_gnn.base.errors import RunError, ShadowError, WriteError
from shadow_gnn.extract import HeatExtractor, KhopExtractor, PprExtractor, StochasticPprExtractor
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.estimators import LinkPredictor, NodeClassifier, NodeRegressor
from shadow_gnn.recipe.file import write_recipe

GRAPH = replace(communities(), class_name=names(["red", "green", "blue"]))
SMALL = {"hidden_dim": 8, "num_layers": 2, "num_epochs": 2, "batch_size": 16, "extractor": PprExtractor(topk=10)}


@pytest.fixture(scope="module")
def fitted():
    return NodeClassifier(**SMALL).fit(GRAPH, progress=False)


def test_weights_equal_those_of_the_command_line(tmp_path):
    save_graph(GRAPH, tmp_path / "g")
    ours = NodeClassifier(**SMALL, dropout=0.2, seed=3).fit(open_graph(tmp_path / "g"), progress=False)
    (tmp_path / "recipe.toml").write_text(write_recipe(ours.run_.recipe))
    result = shadow("train", tmp_path / "recipe.toml", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.exception
    theirs = NodeClassifier.load(tmp_path / "run")
    mine, other = (part.predictor(GRAPH).trained.model.state_dict() for part in (ours, theirs))
    assert list(mine) == list(other)
    assert all(torch.equal(mine[name], other[name]) for name in mine)
    assert theirs.score(GRAPH) == ours.score(GRAPH)


def test_a_saved_estimator_is_a_run_folder(tmp_path, fitted):
    save_graph(GRAPH, tmp_path / "g")
    folder = fitted.save(tmp_path / "saved")
    result = shadow("predict", folder, "--graph", tmp_path / "g", "--targets", "test", "--out", tmp_path / "p.parquet")
    assert result.exit_code == 0, result.exception
    table = pq.read_table(tmp_path / "p.parquet").to_pydict()
    test = GRAPH.splits["test"]
    assert table["class_name"] == fitted.predict(GRAPH, test).tolist()
    np.testing.assert_allclose(table["probability"], fitted.predict_proba(GRAPH, test), rtol=1e-5, atol=1e-7)
    again = NodeClassifier.load(folder)
    assert np.array_equal(again.predict_proba(GRAPH), fitted.predict_proba(GRAPH))
    assert again.fit(GRAPH, progress=False).run_.recipe.model == fitted.run_.recipe.model
    with pytest.raises(WriteError, match="exists already"):
        fitted.save(folder)
    with pytest.raises(RunError, match="must hold a model that predicts links for LinkPredictor, it predicts classes"):
        LinkPredictor.load(folder)


def test_pyg_data_with_masks_is_a_graph(fitted):
    from torch_geometric.data import Data

    receiver = np.repeat(np.arange(120), np.diff(GRAPH.indptr))
    masks = {}
    for split, key in (("train", "train_mask"), ("valid", "val_mask"), ("test", "test_mask")):
        masks[key] = torch.zeros(120, dtype=torch.bool)
        masks[key][torch.from_numpy(GRAPH.splits[split])] = True
    data = Data(
        x=torch.from_numpy(GRAPH.x.matrix),
        y=torch.from_numpy(GRAPH.y),
        edge_index=torch.from_numpy(np.stack((GRAPH.indices, receiver)).astype(np.int64)),
        **masks,
    )
    theirs = NodeClassifier(**SMALL).fit(data, progress=False)
    assert theirs.predict(data, [3, 17]).dtype.kind == "i"
    np.testing.assert_allclose(theirs.predict_proba(data), fitted.predict_proba(GRAPH), rtol=1e-5, atol=1e-7)


def test_targets_and_names_have_sensible_defaults(fitted):
    assert fitted.classes_.tolist() == ["red", "green", "blue"]
    assert fitted.predict(GRAPH).shape == (120,)
    assert set(fitted.predict(GRAPH)) <= {"red", "green", "blue"}
    assert fitted.predict_proba(GRAPH, 3).shape == (1, 3)
    test = GRAPH.splits["test"]
    right = fitted.predict(GRAPH, test) == fitted.classes_[GRAPH.y[test]]
    assert fitted.score(GRAPH) == pytest.approx(right.mean())
    assert fitted.score(GRAPH, test[:10]) == pytest.approx(right[:10].mean())
    assert fitted.predictor(GRAPH) is fitted.predictor(GRAPH)


def test_values_and_links_have_estimators_too():
    graph = with_labels(communities(), "values")
    values = NodeRegressor(**SMALL).fit(graph, progress=False)
    assert values.predict(graph).dtype == np.float32
    assert values.score(graph) == values.evaluate(graph).metrics["r2"]
    ring = near_ring()
    links = LinkPredictor(**SMALL).fit(ring, progress=False)
    found = links.predict_proba(ring, [[0, 1], [0, 45]])
    assert found.shape == (2,)
    assert links.predict(ring, [[0, 1], [0, 45]]).tolist() == (found > 0.5).tolist()
    assert len(links.recommend(ring, 0, top=3).node_id) == 3
    assert 0 <= links.score(ring) <= 1


def test_normal_gnns_are_a_method():
    small = {name: value for name, value in SMALL.items() if name != "extractor"}
    found = NodeClassifier(**small, method="full").fit(GRAPH, progress=False)
    assert found.run_.recipe.training.method == "full"
    assert found.predict(GRAPH, [1, 2]).shape == (2,)


def test_progress_tells_epochs_and_losses():
    seen = []
    NodeClassifier(**SMALL).fit(GRAPH, progress=lambda *shown: seen.append(shown))
    assert seen[0][0].startswith("epoch 1/2, loss ")
    assert "best valid accuracy" in seen[-1][0]
    assert seen[-1][1:] == (8, 8)


def test_nothing_is_printed_where_nobody_watches(capfd):
    NodeClassifier(**SMALL).fit(GRAPH).predict(GRAPH)
    assert capfd.readouterr() == ("", "")


def test_faults_are_one_line(fitted):
    with pytest.raises(ValueError, match=r"NodeClassifier: must be fitted first; call fit\(graph\)"):
        NodeClassifier().predict(GRAPH)
    with pytest.raises(ShadowError, match="NodeRegressor: labels must be values, the graph has classes"):
        NodeRegressor(**SMALL).fit(GRAPH)
    with pytest.raises(ValueError, match="num_layers"):
        NodeClassifier(num_layers=0).fit(GRAPH)


@pytest.mark.parametrize("made", [PprExtractor(topk=7), StochasticPprExtractor(), HeatExtractor(), KhopExtractor()])
def test_extractors_become_tables(made):
    from shadow_gnn.recipe import Recipe
    from shadow_gnn.training.build import build_extractor

    recipe = Recipe.model_validate({"graph": "g", "extractor": made})
    assert build_extractor(recipe.extractor, training=True).key == made.key


def test_parameters_can_be_read_set_and_cloned(fitted):
    params = fitted.get_params()
    assert params["hidden_dim"] == 8
    copy = NodeClassifier(**params)
    assert copy.get_params() == params
    assert copy.set_params(num_layers=4).num_layers == 4
    assert repr(NodeClassifier(num_layers=5)) == "NodeClassifier(num_layers=5)"
    with pytest.raises(ValueError, match=r"parameter must be one of .* got 'depth'"):
        copy.set_params(depth=3)


def test_scikit_learn_clones_an_estimator(fitted):
    base = pytest.importorskip("sklearn.base")
    copy = base.clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not copy.__sklearn_is_fitted__()


def test_frames_and_reports_on_demand(fitted):
    named = replace(GRAPH, node_name=names([f"n{node}" for node in range(120)]))
    table = fitted.predict(named, ["n3", "n17"], as_frame=True)
    assert table["node_id"].tolist() == [3, 17]
    assert table["class_name"].tolist() == fitted.predict(named, [3, 17]).tolist()
    np.testing.assert_array_equal(table["probability_red"], fitted.predict_proba(named, [3, 17])[:, 0])
    report = fitted.evaluate(named, report=True).report
    assert report.class_names == ("red", "green", "blue")
    some = fitted.evaluate(named, ["n3", "n17"], report=True, most_errors=1).report
    assert some.num_targets == 2
    with pytest.raises(ValueError, match=r"targets must name a node of the graph, got 'n999'"):
        fitted.predict(named, ["n999"])
