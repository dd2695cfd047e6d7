"""Figures of a graph, compared with counts by hand."""

import numpy as np
import pytest
from describe_study_graphs import constant_score, homophily, label_rows, micro_f1

from shadow_gnn import Graph, from_edges


def labelled(y):
    edges = from_edges([0, 1, 2, 3], [1, 2, 3, 4], 5)
    splits = {"train": np.array([0, 1, 2]), "valid": np.array([], np.int64), "test": np.array([3])}
    return Graph(edges.indptr, edges.indices, y=y, splits=splits)


def test_homophily_counts_edges_of_labelled_nodes():
    graph = labelled(np.array([0, 0, 1, 1, -1]))
    common, by_chance = homophily(graph, label_rows(graph.y, 2))
    assert common == pytest.approx(2 / 3)  # 0-1 and 2-3, not 1-2; 4 has no label.
    assert by_chance == pytest.approx(1 / 3, abs=0.01)


def test_constant_score_is_accuracy_of_the_largest_training_class():
    graph = labelled(np.array([0, 1, 1, 1, -1]))
    assert constant_score(graph, label_rows(graph.y, 2)) == 1


def test_constant_score_of_several_labels_is_the_best_set_in_training():
    y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 0, 0]], np.uint8)
    # Both frequent labels: 5 of 6 predictions right in training, then 1 of 2 with one label there.
    assert constant_score(labelled(y), y) == pytest.approx(2 / 3)
    assert micro_f1(y[:3], np.array([0, 1])) == pytest.approx(2 * 5 / (6 + 6))
