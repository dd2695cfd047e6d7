"""Figures: formats by ending, labels that meet nothing, legends outside of the axes, colors for everyone."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shadow_gnn.studies.figures import COLORS, DPI, boxes_meet, legend_below, panels, picture, place_labels

STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "PNG": b"\x89PNG"}


@pytest.mark.parametrize(("ending", "start"), list(STARTS.items()))
def test_the_ending_names_the_format(tmp_path, ending, start):
    with picture(tmp_path / f"p.{ending}", (2, 1)) as figure:
        figure.subplots().plot([0, 1], [0, 1])
    assert (tmp_path / f"p.{ending}").read_bytes().startswith(start)


def test_another_ending_is_refused_before_drawing(tmp_path):
    fault = r"^picture: path must end in .png, .svg or .pdf, got p.gif$"
    with pytest.raises(ValueError, match=fault), picture(tmp_path / "p.gif", (2, 1)):
        raise AssertionError
    assert not list(tmp_path.iterdir())


def test_a_png_has_200_dots_per_inch(tmp_path):
    from PIL import Image

    with picture(tmp_path / "p.png", (3, 2)) as figure:
        figure.subplots()
    with Image.open(tmp_path / "p.png") as image:
        assert image.size == (3 * DPI, 2 * DPI) == (600, 400)
        assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)


def test_compared_panels_share_their_axis(tmp_path):
    with panels(tmp_path / "p.png", (4, 2), 2, share_y=True) as (one, other):
        one.plot([0, 1])
        other.plot([0, 5])
        assert one.get_ylim() == other.get_ylim()


def drawn(points):
    """Return axes with points, on a figure with a canvas."""
    figure = Figure(figsize=(4, 4), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    axes.scatter(*np.transpose(points))
    return figure, axes


def extents(figure, artists):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [artist.get_window_extent(canvas.get_renderer()) for artist in artists]
    return [(box.x0, box.y0, box.x1, box.y1) for box in boxes]


@pytest.mark.parametrize("seed", range(3))
def test_labels_meet_neither_each_other_nor_points(seed):
    points = np.random.default_rng(seed).random((40, 2))
    figure, axes = drawn(points)
    count = place_labels(axes, [f"node {number}" for number in range(40)], points.tolist())
    boxes = extents(figure, axes.texts)
    assert count == len(boxes) >= 10
    assert not any(boxes_meet(one, other) for one, other in itertools.combinations(boxes, 2))
    at = axes.transData.transform(points)
    assert not any(box[0] < x < box[2] and box[1] < y < box[3] for box in boxes for x, y in at)
    assert all(box[0] >= 0 and box[2] <= 4 * DPI and box[1] >= 0 and box[3] <= 4 * DPI for box in boxes)


def test_the_first_labels_have_precedence():
    points = [(0.5, 0.5)] * 30
    _, axes = drawn(points)
    count = place_labels(axes, [f"number {number}" for number in range(30)], points)
    assert 0 < count < 30
    assert [text.get_text() for text in axes.texts] == [f"number {number}" for number in range(count)]


def test_a_lonely_label_is_next_to_its_point():
    figure, axes = drawn([(0.3, 0.6)])
    assert place_labels(axes, ["here"], [(0.3, 0.6)]) == 1
    (box,), (at,) = extents(figure, axes.texts), axes.transData.transform([(0.3, 0.6)])
    assert abs((box[0] + box[2]) / 2 - at[0]) < 60
    assert abs((box[1] + box[3]) / 2 - at[1]) < 60


@pytest.mark.parametrize("count", [1, 2])
def test_a_legend_covers_no_axes(count):
    figure = Figure(figsize=(5, 3), dpi=DPI, layout="constrained")
    all_axes = figure.subplots(1, count, squeeze=False)[0]
    for axes in all_axes:
        for name in ("one", "two"):
            axes.plot([0, 1], [0, 1], label=name)
    legend_below(figure)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]
    box, *others = extents(figure, [legend, *all_axes])
    assert not any(boxes_meet(box, other) for other in others)


def test_a_figure_without_names_has_no_legend():
    figure = Figure()
    figure.subplots().plot([0, 1])
    legend_below(figure)
    assert figure.legends == []


def linear(color):
    """Return the linear red, green and blue of a color."""
    value = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


# Viénot, Brettel and Mollon (1999): how a dichromat sees linear colors.
PROTANOPIA = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])


@pytest.mark.parametrize("seen", [np.eye(3), PROTANOPIA, DEUTERANOPIA], ids=["usual", "protanopia", "deuteranopia"])
def test_colors_differ_for_people_who_see_no_red_or_no_green(seen):
    colors = [np.cbrt(np.clip(seen @ linear(color), 0, 1)) for color in COLORS]
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(colors, 2)) > 0.15


def test_plots_return_their_figure_and_write_only_to_a_path(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    from shadow_gnn import draw_scope, from_edges, plot_comparison
    from shadow_gnn.extract import PprExtractor

    monkeypatch.chdir(tmp_path)
    scope = PprExtractor(topk=3)(from_edges([0, 1], [1, 2]), [0])[0]
    assert isinstance(draw_scope(scope), Figure)
    assert isinstance(plot_comparison({"a": (1, 0.5)}), Figure)
    assert list(tmp_path.iterdir()) == []
    assert isinstance(draw_scope(scope, "scope.svg"), Figure)
    assert [path.name for path in tmp_path.iterdir()] == ["scope.svg"]
