"""Predictor: one target at a time, many, and the loaders' way give the same; targets that do not fit are named."""

import numpy as np
import pytest
from tests.communities import communities, near_ring, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.errors import RunError
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.predictor import Predictor, open_predictor
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

BRANCHES = [{"extractor": {"topk": 5}}, {"extractor": {"kind": "khop", "num_hops": 1, "fanout": 3}}]
CASES = {
    "classes": (communities(), {}),
    "values": (with_labels(communities(), "values"), {}),
    "branches": (communities(), {"extractor": None, "branches": BRANCHES}),
    "inputs": (communities(), {"inputs__smooth": 1, "inputs__labels": True}),
    "normal": (communities(), {"extractor": None, "training__method": "full"}),
    "links": (near_ring(), {"task__kind": "link"}),
}


@pytest.fixture(scope="module", params=CASES)
def predictor(request, tmp_path_factory):
    graph, changes = CASES[request.param]
    folder = tmp_path_factory.mktemp("run") / request.param
    train_recipe(small_recipe(training__num_epochs=1, **changes), folder, options=RunOptions(graph=graph))
    return Predictor(read_model(folder), graph)


def targets_of(predictor, count):
    rng = np.random.default_rng(count)
    first = rng.integers(90, size=count)
    return np.stack((first, (first + 1 + rng.integers(80, size=count)) % 90), axis=1) if predictor.is_links else first


def test_one_target_at_a_time_equals_many(predictor):
    """Within the rounding of float32: a product over other rows may add up in another order."""
    targets = targets_of(predictor, 90)
    many = predictor.predict(targets, embedding=True)
    assert many.targets.tolist() == targets.tolist()
    for row in range(0, 90, 7):
        one = predictor.predict(targets[row : row + 1], embedding=True)
        np.testing.assert_allclose(one.logits[0], many.logits[row], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(one.embedding[0], many.embedding[row], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(one.scores[0], many.scores[row], rtol=1e-4, atol=1e-5)


def test_a_call_equals_the_loaders_to_the_bit_in_equal_shapes(predictor):
    targets = targets_of(predictor, 20)
    called = predictor.predict(targets)
    blocks = list(predictor.blocks(targets))
    assert len(blocks) == 1
    assert np.array_equal(called.logits, blocks[0].logits)
    assert np.array_equal(called.predicted, blocks[0].predicted)


def test_no_targets_are_no_fault(predictor):
    assert len(predictor.predict(targets_of(predictor, 3)[:0])) == 0


def test_rows_are_ready_for_json_and_reprs_are_short(predictor):
    import json

    found = predictor.predict(targets_of(predictor, 3))
    row = found.row(1)
    assert json.loads(json.dumps(row)) == row
    assert repr(found).startswith("Predictions(3 targets, ")
    assert found._repr_html_().count("<tr>") == 4
    assert len(repr(predictor)) < 120


def test_targets_of_another_kind_are_named(predictor):
    wrong = [0] if predictor.is_links else [[0, 1]]
    with pytest.raises(ValueError, match=r"predict: (targets must be pairs|model must be one that predicts links)"):
        predictor.predict(wrong)
    outside = [[0, 500]] if predictor.is_links else [500]
    with pytest.raises(ValueError, match="node ids from 0 to"):
        predictor.predict(outside)


def test_a_run_folder_opens_on_its_graph_and_notes_changes(tmp_path):
    save_graph(communities(), tmp_path / "g")
    run = train_recipe(small_recipe(graph=str(tmp_path / "g"), training__num_epochs=1), tmp_path / "r")
    notes = []
    found = open_predictor(run.folder, note=notes.append).predict([3])
    assert notes == []
    again = open_predictor(run.folder, open_graph(tmp_path / "g")).predict([3])
    assert np.array_equal(found.logits, again.logits)
    import shutil

    shutil.rmtree(tmp_path / "g")
    save_graph(communities(seed=3), tmp_path / "g")
    open_predictor(run.folder, note=notes.append)
    assert notes == [f"{tmp_path / 'g'} has changed since the model was trained on it"]
    (run.folder / "config.json").unlink()
    with pytest.raises(RunError, match="is not finished; continue with shadow resume"):
        open_predictor(run.folder)
