"""Sizes: shares of a split."""

import pytest

from shadow_gnn.cli.shared.sizes import shares


@pytest.mark.parametrize("text", ["60/20/20", "0.6/0.2/0.2"])
def test_percentages_and_parts_of_one_mean_the_same(text):
    assert shares(text, "t") == pytest.approx((60, 20, 20))


def test_other_texts_are_refused():
    with pytest.raises(ValueError, match="t must be three percentages"):
        shares("60/40", "t")
