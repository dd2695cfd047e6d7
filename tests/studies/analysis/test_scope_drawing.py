"""The picture of a scope as a file, and wrong arguments."""

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor, NodeExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.analysis.scope_drawing import draw_scope


@pytest.fixture
def graph():
    """Return 0 - 1 - 2 - 3, 0 - 4, and 5 alone."""
    return from_edges([0, 1, 2, 0], [1, 2, 3, 4], 6)


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


def test_classes_must_be_one_per_node(graph, tmp_path):
    with pytest.raises(ValueError, match="classes must be one per node"):
        draw_scope(PprExtractor()(graph, [0])[0], tmp_path / "scope.png", classes=["a"])
