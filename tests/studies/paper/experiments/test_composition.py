"""Composition: shares counted by hand, both conventions, and the paper's bars next to them."""

import numpy as np
import pytest
from tests.extract.reference import graph_of
from tests.studies.paper.measured import run_twice

from shadow_gnn.base.files import silent
from shadow_gnn.extract import FullExtractor
from shadow_gnn.studies.paper.experiments import composition
from shadow_gnn.studies.paper.experiments.composition import COMPOSITION, DATA, PRINTED, closest, scope_hops

# 0 - 1 - 2 - 3 - 4 - 5 - 6: a path.
PATH = graph_of(7, [(node, node + 1) for node in range(6)])


def test_nodes_of_scopes_by_hop_with_the_far_ones_in_the_last():
    counts = scope_hops(PATH, FullExtractor(num_hops=6), np.array([0, 3]), silent)
    assert counts.tolist() == [[1, 1, 1, 3], [2, 2, 2, 0]]


def test_blocks_do_not_matter(monkeypatch):
    targets = np.arange(7)
    whole = scope_hops(PATH, FullExtractor(num_hops=2), targets, silent)
    monkeypatch.setattr(composition, "_BLOCK_TARGETS", 2)
    assert np.array_equal(scope_hops(PATH, FullExtractor(num_hops=2), targets, silent), whole)


def test_conventions_by_hand():
    both = composition._both(np.array([[1, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
    assert both["ratio of totals"] == [2 / 5, 3 / 5, 0, 0]
    assert both["mean of ratios"] == [(1 / 4 + 1) / 2, 3 / 8, 0, 0]
    with pytest.raises(ValueError, match="targets must have neighbors"):
        composition._both(np.zeros((2, 4), np.int64))


def test_paper_has_bars_for_every_dataset():
    assert set(PRINTED) == set(DATA)
    for normal, ppr in PRINTED.values():
        assert sum(normal) == pytest.approx(1, abs=0.01)
        assert 0.95 < sum(ppr) < 1.2


def test_nearest_convention_is_chosen():
    off = {"ratio of totals": [0.25] * 4, "mean of ratios": [0.25] * 4}
    near = {**off, "mean of ratios": list(PRINTED["yelp"][0])}
    assert closest({"valid": {"normal": off}, "test": {"normal": near}}, "yelp", "normal") == ("test", "mean of ratios")


def test_shares_add_up_and_stand_next_to_the_papers(data_folder, tmp_path):
    outcome = run_twice(COMPOSITION, data_folder, tmp_path / "out")
    shares, sizes = outcome.finding.tables
    assert len(shares.rows) == 2 * 2 * 4
    assert shares.rows[3][:4] == ("flickr", "4-layer GNN", 4, 0.819)
    for column in range(4, 8):
        assert sum(row[column] for row in shares.rows[:4]) == pytest.approx(1)
    assert sizes.rows[0][:3] == ("flickr", "valid", 50)
