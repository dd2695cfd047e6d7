"""From a builder's result to a graph folder."""

import json

import numpy as np
import study_graph
from study_graph import StudyGraph, classes, features, label_sets, splits, widespread

from shadow_gnn import open_graph, verify_graph


def small(y, class_names):
    return StudyGraph(
        node_names=["a", "b", "c"],
        edges=np.array([[0, 1], [1, 0], [2, 2], [1, 2]]),
        x=np.eye(3, dtype=np.float16),
        y=y,
        class_names=class_names,
        groups=["g", "g", "h"],
        source={"version": "1"},
    )


def test_rare_classes_are_unknown():
    y, kept = classes(["red", None, "blue", "red", "blue", "green"], 2)
    assert kept == ["blue", "red"]
    assert y.tolist() == [1, -1, 0, 1, 0, -1]


def test_labels_of_few_groups_are_unknown():
    labels, groups = ["a", "a", "b", "b", None], ["one", "two", "one", "one", "one"]
    assert widespread(labels, groups, 2) == ["a", "a", None, None, None]


def test_label_sets_keep_frequent_labels_once_a_node():
    y, kept = label_sets([["a", "b", "b"], [], ["a", "c"], {"c"}], 2)
    assert kept == ["a", "c"]
    assert y.tolist() == [[1, 0], [0, 0], [1, 1], [0, 1]]


def test_groups_are_never_split_and_unlabelled_nodes_are_no_targets():
    groups = [f"group-{node // 4}" for node in range(2000)]
    y = np.arange(2000) % 3 - 1
    found = splits(y, groups)
    where = {groups[node]: name for name, nodes in found.items() for node in nodes}
    assert all(where[groups[node]] == name for name, nodes in found.items() for node in nodes)
    assert sorted(np.concatenate(list(found.values()))) == np.flatnonzero(y >= 0).tolist()


def test_rows_without_labels_are_no_targets():
    found = splits(np.array([[1, 0], [0, 0], [0, 1]], np.uint8), ["a", "b", "c"])
    assert sorted(np.concatenate(list(found.values()))) == [0, 2]


def test_features_have_a_first_column_of_deviation_one():
    bags = [["a", "b"], ["a", "c"], ["b", "c"], ["c", "d"], ["a", "d"]]
    np.testing.assert_allclose(features(bags, 2, 1)[:, 0].astype(float).std(), 1, atol=1e-3)


def test_written_folder_is_whole_and_has_a_record_of_its_sources(tmp_path):
    for y, names in ((np.array([0, 1, -1]), ["no", "yes"]), (np.array([[1, 0], [1, 1], [0, 0]], np.uint8), ["p", "q"])):
        study_graph.write("small", lambda _, y=y, names=names: small(y, names), tmp_path, tmp_path / "cache")
        verify_graph(tmp_path / "small")
        graph = open_graph(tmp_path / "small")
        assert graph.indices.tolist() == [1, 0, 2, 1]  # Each edge in both directions, no loop.
        assert [graph.node_name[node] for node in range(3)] == ["a", "b", "c"]
        assert graph.class_name[1] == names[1]
        assert sum(map(len, graph.splits.values())) == 2
        assert json.loads((tmp_path / "small.json").read_text()) == {"version": "1"}
