"""Looks: outlines that fit into their circle, classes told apart by color and by shape, sizes by strength."""

import itertools

import numpy as np
import pytest

from shadow_gnn.studies.drawing.looks import OUTLINES, SHAPES, groups_of_classes, groups_of_hops, radii, size_factor
from shadow_gnn.studies.figures import COLORS


@pytest.mark.parametrize("shape", OUTLINES)
def test_outlines_end_at_the_circle_around_them(shape):
    reach = np.hypot(*OUTLINES[shape].T)
    assert reach.max() == pytest.approx(1)


def test_shapes_of_equal_size_differ_in_much_of_their_area():
    """Masks of any two shapes differ in more than 15 % of their joint area; circle and square come closest."""
    from matplotlib.path import Path

    grid = np.stack(np.meshgrid(*2 * [np.linspace(-1.3, 1.3, 60)]), axis=-1).reshape(-1, 2)
    masks = {"circle": np.hypot(*grid.T) < 1}
    for shape, corners in OUTLINES.items():
        masks[shape] = Path(corners * size_factor(shape)).contains_points(grid)
    for one, other in itertools.combinations(masks.values(), 2):
        assert (one ^ other).sum() / (one | other).sum() > 0.15


def test_sizes_follow_strength_and_targets_are_equal():
    is_target = np.array([True, False, False, False])
    found = radii(np.array([9.0, 4.0, 1.0, 0.0]), is_target, ["circle"] * 4) * 300
    assert found.tolist() == pytest.approx([17, 13.5, 9, 4.5])
    many = radii(np.ones(500), np.zeros(500, bool), ["circle"] * 500) * 300
    assert many.tolist() == pytest.approx([0.55 * 13.5] * 500)
    square = radii(np.array([9.0, 4.0]), np.array([True, False]), ["circle", "square"]) * 300
    assert square[1] == pytest.approx(13.5 * np.sqrt(np.pi / 2))


def test_classes_have_a_color_and_a_shape_each_and_the_rest_shares_one():
    few = groups_of_classes(["a", "b", "a"])
    assert [(one.name, one.color, one.shape, one.nodes.tolist()) for one in few] == [
        ("a (2)", COLORS[0], SHAPES[0], [0, 2]),
        ("b (1)", COLORS[1], SHAPES[1], [1]),
    ]
    many = groups_of_classes([str(number) for number in range(10)])
    assert (len(many), many[-1].name, many[-1].nodes.tolist()) == (8, "other (3)", [7, 8, 9])
    assert len({one.color for one in many}) == len({one.shape for one in many}) == 8
    assert groups_of_classes([str(number) for number in range(8)])[-1].name == "7 (1)"


def test_hops_have_a_color_each():
    groups = groups_of_hops(np.array([0, 1, 1, 2], np.int32))
    assert [(one.name, one.nodes.tolist()) for one in groups] == [
        ("target", [0]),
        ("1 hop (2)", [1, 2]),
        ("2 hops (1)", [3]),
    ]
    assert len({one.color for one in groups}) == 3
