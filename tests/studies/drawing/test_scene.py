"""Pictures of scopes: no nodes that touch, no names that overlap, captions on rings, a legend with shapes."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.analysis.scope_drawing import draw_scope
from shadow_gnn.studies.figures import boxes_meet


def picture_of(num_nodes):
    """Return a picture of a scope with hubs, long names and many classes, and the names."""
    rng = np.random.default_rng(1)
    ends = (rng.pareto(1.0, (2, 8 * num_nodes)) * 10).astype(np.int64) % (2 * num_nodes)
    scope = PprExtractor(topk=num_nodes)(from_edges(*ends, 2 * num_nodes), [3])[0]
    names = [f"package-{node}" for node in scope.node_id]
    figure = draw_scope(scope, title="a scope", labels=names, classes=[f"class {node % 12}" for node in scope.node_id])
    return figure, scope, names


@pytest.mark.parametrize("num_nodes", [20, 60, 200])
def test_nothing_touches_or_overlaps(num_nodes):
    figure, scope, names = picture_of(num_nodes)
    (axes,) = figure.axes
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (nodes,) = (found for found in axes.collections if isinstance(found, PatchCollection))
    outlines = [path.transformed(axes.transData) for path in nodes.get_paths()]
    assert len(outlines) == len(scope.node_id)
    # The circle around each outline, in pixels.
    corners = [path.to_polygons()[0] for path in outlines]
    middles = axes.transData.transform(np.zeros((1, 2)))
    centers = np.array([(points.min(axis=0) + points.max(axis=0)) / 2 for points in corners])
    assert np.abs(centers[0] - middles[0]).max() < 8
    for (one, first), (other, second) in itertools.combinations(zip(outlines, centers, strict=True), 2):
        if np.hypot(*(first - second)) < 100:
            assert not one.intersects_path(other)
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
    boxes = [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    assert not any(boxes_meet(one, other) for one, other in itertools.combinations(boxes, 2))
    for points in corners:
        # A corner of a box around a circle is outside of it.
        (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
        assert not any(boxes_meet(box, (left, bottom, right, top)) for box in boxes)
    written = [text.get_text() for text in axes.texts]
    captions = [text for text in written if text.startswith("hop ")]
    assert captions == [f"hop {hop}" for hop in range(1, int(scope.hop.max()) + 1)]
    named = [text for text in written if not text.startswith("hop ")]
    best = np.lexsort((np.arange(len(names)), -scope.score, scope.hop > 0))[:25]
    assert 4 <= len(named) <= 25
    assert set(named) <= {names[node] for node in best}


def test_the_target_is_in_the_middle_and_classes_are_told_by_shape():
    figure, scope, _ = picture_of(60)
    (axes,) = figure.axes
    (nodes,) = (found for found in axes.collections if isinstance(found, PatchCollection))
    star = nodes.get_paths()[0].to_polygons()[0]
    assert len(star) == 11
    assert np.abs(star[:-1].mean(axis=0)).max() < 1e-9
    assert scope.hop[0] == 0
    (legend,) = figure.legends
    entries = [text.get_text() for text in legend.get_texts()]
    assert entries[0] == "target"
    assert sum(int(entry.rsplit("(", 1)[1][:-1]) for entry in entries[1:]) == len(scope.node_id)
    markers = [handle.get_marker() for handle in legend.legend_handles]
    shapes = {"o" if isinstance(marker, str) else marker.vertices.tobytes() for marker in markers}
    assert len(shapes) == len(entries) == 9


def test_dollars_in_names_are_no_formula():
    scope = PprExtractor()(from_edges([0, 0], [1, 2]), [0])[0]
    figure = draw_scope(scope, title="$x^$", labels=["$a^$", "b$", "$_$"], classes=["$c^$", "d", "$c^$"])
    FigureCanvasAgg(figure).draw()
    assert {"$a^$", "b$", "$_$"} <= {text.get_text() for text in figure.axes[0].texts}
