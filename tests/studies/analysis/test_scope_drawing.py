"""The picture of a scope: where nodes go, and that the file is a picture."""

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor, NodeExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.analysis.scope_drawing import draw_scope, ring_layout


@pytest.fixture
def graph():
    """Return 0 - 1 - 2 - 3, 0 - 4, and 5 alone."""
    return from_edges([0, 1, 2, 0], [1, 2, 3, 4], 6)


def test_nodes_lie_on_the_ring_of_their_hop(graph):
    scope = FullExtractor(num_hops=3)(graph, [0])[0]
    radius = np.hypot(*ring_layout(scope).T)
    assert radius[0] == 0
    assert np.rint(radius).astype(int).tolist() == scope.hop.tolist()


def test_better_scores_lie_further_in():
    # A star with a triangle: 1 and 2 know each other, so they score higher than 3.
    scope = PprExtractor()(from_edges([0, 0, 0, 1], [1, 2, 3, 2]), [0])[0]
    radius = np.hypot(*ring_layout(scope).T)
    order = np.argsort(-scope.score[1:], kind="stable") + 1
    assert (np.diff(radius[order]) > 0).all()


def test_two_targets_share_the_middle(graph):
    scope = PprExtractor()(graph, [[0, 2]])[0]
    place = ring_layout(scope)
    assert np.hypot(*place[:2].T).tolist() == pytest.approx([0.25, 0.25])
    assert place[0].tolist() == pytest.approx((-place[1]).tolist())


def test_layout_is_the_same_every_time(graph):
    scope = PprExtractor()(graph, [0])[0]
    assert ring_layout(scope).tolist() == ring_layout(scope).tolist()


@pytest.mark.parametrize("targets", [[0], [5], [[0, 3]]], ids=["node", "isolated", "pair"])
def test_picture_is_a_small_png(graph, targets, tmp_path):
    from PIL import Image

    scope = PprExtractor()(graph, targets)[0]
    path = tmp_path / "scope.png"
    draw_scope(scope, path, title="a scope", labels=[str(node) for node in scope.node_id])
    with Image.open(path) as image:
        assert (image.format, image.size) == ("PNG", (1280, 1360))
        colors = image.convert("RGB").getcolors(1 << 20)
    assert len(colors) > 10
    assert path.stat().st_size < 150_000


def test_hundreds_of_nodes_are_still_a_small_file(tmp_path):
    rng = np.random.default_rng(0)
    scope = FullExtractor(num_hops=4)(from_edges(*rng.integers(400, size=(2, 1500))), [0])[0]
    draw_scope(scope, tmp_path / "scope.png")
    assert (tmp_path / "scope.png").stat().st_size < 500_000


def test_wrong_arguments_are_named(graph, tmp_path):
    scopes = NodeExtractor()(graph, [0, 1])
    with pytest.raises(ValueError, match=r"draw_scope: scope must be a single one, got 2; take one as subgraphs\[0\]"):
        draw_scope(scopes, tmp_path / "scope.png")
    with pytest.raises(ValueError, match=r"draw_scope: labels must be one per node \(1\), got 2"):
        draw_scope(scopes[0], tmp_path / "scope.png", labels=["a", "b"])
    assert list(tmp_path.iterdir()) == []


def test_a_scope_too_large_to_draw_is_refused(tmp_path):
    star = from_edges(np.zeros(5000, np.int64), np.arange(1, 5001))
    with pytest.raises(ValueError, match="draw_scope: scope must have at most 5000 nodes, got 5001"):
        draw_scope(FullExtractor(1)(star, [0])[0], tmp_path / "scope.png")


def test_classes_have_a_color_each_and_the_rest_shares_one(graph, tmp_path):
    from shadow_gnn.studies.analysis.scope_drawing import _by_class
    from shadow_gnn.studies.figures import COLORS

    few = _by_class(["a", "b", "a"])
    assert [(name, color, nodes.tolist()) for name, color, nodes in few] == [
        ("a (2)", COLORS[0], [0, 2]),
        ("b (1)", COLORS[1], [1]),
    ]
    many = _by_class([str(number) for number in range(10)])
    assert (len(many), many[-1][0], many[-1][2].tolist()) == (8, "other (3)", [7, 8, 9])
    assert len({color for _, color, _ in many}) == 8
    with pytest.raises(ValueError, match="classes must be one per node"):
        draw_scope(PprExtractor()(graph, [0])[0], tmp_path / "scope.png", classes=["a"])


def test_rings_with_more_nodes_are_wider(graph):
    from shadow_gnn.studies.analysis.scope_drawing import _ring_edges, _warped

    scope = FullExtractor(num_hops=3)(graph, [0])[0]
    edges = _ring_edges(scope)
    place = _warped(ring_layout(scope), edges)
    assert np.searchsorted(edges, np.hypot(*place.T), side="left").tolist() == scope.hop.tolist()
    assert np.diff(edges)[0] > np.diff(edges)[1]
