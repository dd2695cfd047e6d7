"""Describe: the numbers of drawn graphs, and of random ones against NetworkX."""

import networkx as nx
import numpy as np
import pytest

from shadow_gnn.graph.homophily import edge_homophily
from shadow_gnn.graph.importing.in_memory import from_edges, from_networkx
from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures
from shadow_gnn.studies.analysis import describe as module
from shadow_gnn.studies.analysis.describe import components, degrees, describe
from shadow_gnn.studies.analysis.plots import bucket_label, plot_degrees


def replaced(graph, **changes):
    return Graph(graph.indptr, graph.indices, graph.directed, **changes)


def test_drawn_graph():
    # A star around 0 with three leaves, the edge 4-5, and 6 alone.
    star = from_edges([0, 0, 0, 4], [1, 2, 3, 5], 7)
    found = describe(
        replaced(
            star,
            x=DenseFeatures(np.array([[0, 2]] * 7, np.float32)),
            y=np.array([0, 0, 1, -1, 2, 2, 0]),
            splits={"train": np.array([0, 1])},
        )
    )
    assert (found.num_nodes, found.num_edges, found.directed) == (7, 4, False)
    assert found.degrees.buckets == ((0, 0, 1), (1, 1, 5), (2, 3, 1))
    assert (found.degrees.largest, found.degrees.isolated, found.degrees.median) == (3, 1, 1)
    assert found.degrees.mean == pytest.approx(8 / 7)
    assert (found.components.count, found.components.largest) == (3, 4)
    assert (found.labels.kind, found.labels.num_classes, found.labels.unknown) == ("class", 3, 1)
    assert found.labels.homophily == pytest.approx(2 / 3)
    features = found.features
    assert (features.mean, features.deviation, features.zero_share) == (1, 1, 0.5)
    assert (features.least, features.greatest, features.rows_sampled) == (0, 2, 7)
    assert found.splits == {"train": 2}


def test_random_graph_equals_networkx(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    drawn = nx.gnp_random_graph(60, 0.03, seed=3)
    y = np.arange(60) % 3
    graph = replaced(from_networkx(drawn), y=y)
    found = components(graph)
    parts = list(nx.connected_components(drawn))
    assert (found.count, found.largest) == (len(parts), max(map(len, parts)))
    same = [y[u] == y[v] for u, v in drawn.edges]
    assert edge_homophily(graph) == pytest.approx(np.mean(same))
    degree = [d for _, d in drawn.degree]
    assert degrees(graph).mean == pytest.approx(np.mean(degree))
    assert sum(count for _, _, count in degrees(graph).buckets) == 60


def test_directed_components_are_weak():
    graph = from_edges([0, 2], [1, 1], 4, undirected=False)
    assert components(graph) == module.Components(2, 3)
    assert describe(graph).num_edges == 2


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 8, 1023, 1024])
def test_every_degree_is_in_its_bucket(degree):
    graph = from_edges(np.zeros(degree, np.int64), np.arange(1, degree + 1), undirected=True)
    low, high, count = degrees(graph).buckets[-1]
    assert low <= degree <= high
    assert count >= 1


def test_empty_and_edgeless_graphs():
    empty = describe(from_edges([], []))
    assert (empty.num_nodes, empty.degrees.buckets, empty.components.count) == (0, (), 0)
    alone = describe(replaced(from_edges([], [], 2), y=np.array([0, 1])))
    assert alone.labels.homophily is None
    assert alone.components.count == 2


def test_other_labels_and_sparse_features(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS", 2)
    graph = from_edges([0], [1], 3)
    x = SparseFeatures(np.array([0, 1, 1, 2]), np.array([0, 3], np.int32), np.array([4, -4], np.float32), 4)
    found = describe(replaced(graph, x=x, y=np.zeros((3, 5), np.uint8)))
    assert (found.labels.kind, found.labels.num_classes) == ("multi", 5)
    assert (found.features.rows_sampled, found.features.least, found.features.zero_share) == (2, -4, 0.75)
    assert describe(replaced(graph, y=np.zeros(3, np.float32))).labels.kind == "value"


def test_plot_is_a_png(tmp_path):
    plot_degrees(degrees(from_edges([0, 0], [1, 2], 4)), "drawn", tmp_path / "d.png")
    assert (tmp_path / "d.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    plot_degrees(degrees(from_edges([], [])), "empty", tmp_path / "d.png")
    assert bucket_label(1024, 2047) == "1,024-2,047"
