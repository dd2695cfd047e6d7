"""McNemar's test against SciPy's binomial test and a count of every table."""

from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from shadow_gnn.studies.paired import mcnemar


def correctness(first_only: int, second_only: int, both: int = 5) -> tuple[np.ndarray, np.ndarray]:
    first = [1] * first_only + [0] * second_only + [1] * both + [0] * 3
    second = [0] * first_only + [1] * second_only + [1] * both + [0] * 3
    return np.array(first, bool), np.array(second, bool)


@pytest.mark.parametrize(("first_only", "second_only"), [(0, 0), (1, 0), (3, 3), (2, 9), (40, 17), (300, 350)])
def test_exact_p_is_the_binomial_test(first_only, second_only):
    found = mcnemar(*correctness(first_only, second_only), exact=True)
    assert (found.first_only, found.second_only) == (first_only, second_only)
    total = first_only + second_only
    assert found.p == pytest.approx(binomtest(first_only, total, 0.5).pvalue if total else 1.0)


@pytest.mark.parametrize(("first_only", "second_only"), [(1, 0), (3, 3), (2, 9), (40, 17)])
def test_mid_p_counts_equally_likely_tables_half(first_only, second_only):
    total = first_only + second_only
    share = [comb(total, count) / 2**total for count in range(total + 1)]
    observed = share[first_only]
    less_likely = sum(one for one in share if one < observed * (1 - 1e-9))
    equal = sum(one for one in share if abs(one - observed) <= observed * 1e-9)
    assert mcnemar(*correctness(first_only, second_only)).p == pytest.approx(less_likely + equal / 2 if
        first_only != second_only else 1.0)  # fmt: skip


def test_rows_of_different_nodes_are_refused():
    with pytest.raises(ValueError, match=r"mcnemar: second must be of shape \(2,\)"):
        mcnemar([True, False], [True])
