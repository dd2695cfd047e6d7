"""Line up: columns, classes, direction or a split other than in training are lined up, refused or warned of."""

from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, names, one_thread, small_recipe  # noqa: F401

from shadow_gnn import from_tables
from shadow_gnn.base.errors import FitWarning, RunError
from shadow_gnn.graph.record import DenseFeatures, SparseFeatures
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe
from shadow_gnn.training.trained_on import trained_on

PLAIN = communities()
NAMED = replace(PLAIN, class_name=names(["red", "green", "blue"]), column_names=("a", "b", "c"))
ORDER = np.array([2, 0, 1])


def trained(folder, graph):
    train_recipe(small_recipe(training__num_epochs=2), folder, options=RunOptions(graph=graph))
    return read_model(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("plain") / "r", PLAIN)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("named") / "r", NAMED)


def with_columns(graph, order, names=None):
    return replace(graph, x=DenseFeatures(np.ascontiguousarray(graph.x.matrix[:, order])), column_names=names)


def accuracy(model, graph):
    return evaluate_split(Predictor(model, graph)).metrics["accuracy"]


def test_columns_with_names_are_put_in_order(named):
    other = with_columns(NAMED, ORDER, tuple(np.array(["a", "b", "c"])[ORDER].tolist()))
    assert Predictor(named, other).graph.x.matrix.tolist() == NAMED.x.matrix.tolist()
    assert accuracy(named, other) == accuracy(named, NAMED)


def test_sparse_columns_with_names_are_put_in_order(named):
    dense = NAMED.x.matrix[:, ORDER]
    indptr = np.arange(0, dense.size + 1, 3, dtype=np.int64)
    sparse = SparseFeatures(indptr, np.tile(np.arange(3, dtype=np.int32), len(dense)), dense.reshape(-1).copy(), 3)
    found = Predictor(named, replace(NAMED, x=sparse, column_names=("c", "a", "b"))).graph.x
    assert found.rows(np.arange(120)).tolist() == NAMED.x.matrix.tolist()


def test_columns_without_names_in_another_order_are_refused(plain):
    with pytest.raises(ValueError, match="must be in the order of training, 3 are in another, the first is column 0"):
        Predictor(plain, with_columns(PLAIN, ORDER))


def test_a_missing_column_is_named(named):
    with pytest.raises(
        ValueError, match="must have the feature column 'b', as the model was trained on; it is missing"
    ):
        Predictor(named, replace(NAMED, column_names=("a", "x", "c")))


def test_an_unknown_column_is_named(named):
    wide = DenseFeatures(np.concatenate((NAMED.x.matrix, NAMED.x.matrix[:, :1]), axis=1))
    with pytest.raises(ValueError, match="the model does not know 'd'"):
        Predictor(named, replace(NAMED, x=wide, column_names=("a", "b", "c", "d")))


def test_classes_with_names_are_lined_up(named):
    place = np.argsort(ORDER)
    other = replace(NAMED, y=place[NAMED.y], class_name=names([("red", "green", "blue")[k] for k in ORDER]))
    assert Predictor(named, other).graph.y.tolist() == NAMED.y.tolist()
    assert accuracy(named, other) == accuracy(named, NAMED)


def test_classes_without_names_that_are_numbered_otherwise_are_refused(plain):
    with pytest.raises(ValueError, match=r"classes must be numbered as in training, node \d+ had class \d and has"):
        accuracy(plain, replace(PLAIN, y=ORDER[PLAIN.y]))


def test_a_class_that_the_model_does_not_know_is_warned_of(named):
    other = replace(NAMED, class_name=names(["red", "green", "pink"]))
    with pytest.warns(FitWarning, match="does not know the class 'pink'"):
        found = Predictor(named, other).graph.y
    assert found.tolist() == np.where(NAMED.y == 2, -1, NAMED.y).tolist()


def test_a_directed_graph_is_refused_by_a_model_of_an_undirected_one(plain):
    target = np.repeat(np.arange(120), np.diff(PLAIN.indptr))
    half = PLAIN.indices < target
    ptr = np.concatenate(([0], np.cumsum(np.bincount(target[half], minlength=120))))
    other = replace(PLAIN, indptr=ptr, indices=PLAIN.indices[half], directed=True, edge_id=None, fingerprint_hint=None)
    with pytest.raises(ValueError, match="must be undirected, as the model was trained on, got directed"):
        Predictor(plain, other)


def test_weights_are_refused_by_a_model_without(plain):
    with pytest.raises(ValueError, match="must have no edge weights"):
        Predictor(plain, replace(PLAIN, edge_weight=np.ones(PLAIN.num_edges, np.float32), fingerprint_hint=None))


def test_a_redrawn_split_is_warned_of(plain):
    train, test = PLAIN.splits["train"], PLAIN.splits["test"]
    redrawn = replace(PLAIN, splits={"train": test, "test": np.concatenate((train[:20], test[:5]))})
    with pytest.warns(FitWarning, match=r"20 of 25 evaluated nodes \(80.0%\) were trained on"):
        accuracy(plain, redrawn)
    accuracy(plain, PLAIN)


def test_a_column_that_moved_is_warned_of(plain):
    moved = PLAIN.x.matrix.copy()
    moved[:, 1] += 100
    with pytest.warns(FitWarning, match="the mean of 1 of 3 feature columns has moved .* first that of column 1"):
        Predictor(plain, replace(PLAIN, x=DenseFeatures(moved)))


@pytest.mark.parametrize("count", [1, 7, 8, 119, 120])
def test_training_targets_are_told_from_others(count):
    chosen = np.random.default_rng(count).permutation(120)[:count]
    facts = trained_on(PLAIN, chosen)
    assert np.flatnonzero(facts.trained_among(np.arange(200))).tolist() == np.sort(chosen).tolist()


def test_training_targets_are_known_by_name():
    named = replace(PLAIN, node_name=names([f"n{node}" for node in range(120)]))
    facts = trained_on(named, np.array([3, 7, 50]))
    assert facts.names_among(["n3", "n4", "n50", "x"]) == 2
    assert facts.names_among([]) == 0
    assert trained_on(PLAIN, np.array([3])).names_among(["3"]) == 0


def test_labels_with_names_are_put_in_order(tmp_path):
    y = np.eye(3, dtype=np.uint8)[PLAIN.y]
    graph = replace(PLAIN, y=y, class_name=names(["red", "green", "blue"]))
    model = trained(tmp_path / "r", graph)
    turned = replace(PLAIN, y=np.ascontiguousarray(y[:, ORDER]), class_name=names(["blue", "red", "green"]))
    assert Predictor(model, turned).graph.y.tolist() == y.tolist()
    fewer = replace(PLAIN, y=np.ascontiguousarray(y[:, :2]), class_name=names(["red", "green"]))
    with pytest.raises(
        ValueError, match="must have the label column 'blue', as the model was trained on; it is missing"
    ):
        Predictor(model, fewer)


def test_edge_columns_are_put_in_order_by_the_record(tmp_path):
    rng = np.random.default_rng(0)
    nodes = {"id": list(range(60)), "v": rng.normal(size=60).tolist(), "t": ["a", "b"] * 30}
    ends = {"u": rng.integers(0, 60, 200).tolist(), "w": rng.integers(0, 60, 200).tolist()}
    columns = {"size": rng.normal(size=200).tolist(), "kind": ["x", "y"] * 100}
    graph = from_tables(nodes, ends | columns, label="t", split=(60, 20, 20))
    model = trained(tmp_path / "r", graph)
    assert model.import_toml == graph.import_toml
    turned = from_tables(nodes, ends | dict(reversed(columns.items())), label="t", split=(60, 20, 20))
    assert turned.edge_attr.tolist() != graph.edge_attr.tolist()
    assert Predictor(model, turned).graph.edge_attr.tolist() == graph.edge_attr.tolist()
    fewer = from_tables(nodes, ends | {"size": columns["size"]}, label="t", split=(60, 20, 20))
    with pytest.raises(ValueError, match="must have the edge feature column 'kind=x'"):
        Predictor(model, fewer)


def test_a_damaged_record_of_a_model_is_named(tmp_path):
    graph = from_tables(
        {"id": list(range(60)), "v": list(range(60)), "t": ["a", "b"] * 30},
        {"u": [0], "w": [1]},
        label="t",
        split=(60, 20, 20),
    )
    trained(tmp_path / "r", graph)
    path = tmp_path / "r" / "import.toml"
    path.write_text(path.read_text() + "#")
    with pytest.raises(RunError, match=r"import.toml: was edited or damaged"):
        read_model(tmp_path / "r")
    path.unlink()
    with pytest.raises(RunError, match=r"import.toml: is missing"):
        read_model(tmp_path / "r")


def test_a_count_of_nodes_that_lies_costs_no_memory():
    facts = trained_on(PLAIN, np.array([3, 7])).model_copy(update={"num_nodes": 2**39})
    assert np.flatnonzero(facts.trained_among(np.arange(200))).tolist() == [3, 7]
    for flags in ("****", "AAAA"):
        with pytest.raises(RunError, match=r"trained_on\.train_nodes must be packed flags of nodes"):
            facts.model_copy(update={"train_nodes": flags}).trained_among(np.arange(9))
