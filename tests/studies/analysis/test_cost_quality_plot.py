"""Points of cost and quality as a picture."""

import pytest

from shadow_gnn.studies.analysis.cost_quality_plot import plot_comparison


def test_draws_a_png(tmp_path):
    plot_comparison({"one": (1e6, 0.7), "two": (1e9, 0.8)}, tmp_path / "c.png", title="t")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("points", [{}, {"free": (0.0, 0.5)}])
def test_refuses_what_has_no_place_on_a_log_scale(points, tmp_path):
    with pytest.raises(ValueError, match="must be at least one, with costs above 0"):
        plot_comparison(points, tmp_path / "c.png")
    assert not (tmp_path / "c.png").exists()
