"""Statistics of scopes on graphs small enough to count by hand."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor, PprExtractor, StochasticPprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.analysis import scopes
from shadow_gnn.studies.analysis.scope_plots import plot_scopes
from shadow_gnn.studies.analysis.scopes import describe_scopes, spread


@pytest.fixture
def path():
    """0 - 1 - 2 - 3, and 4 alone."""
    return Graph(np.array([0, 1, 3, 5, 6, 6]), np.array([1, 0, 2, 1, 3, 2], dtype=np.int32))


def test_counts_by_hand(path):
    report = describe_scopes(path, FullExtractor(num_hops=2), [0, 4])
    assert report.num_targets == 2
    assert (report.num_nodes.mean, report.num_nodes.max) == (2.0, 3.0)
    assert (report.num_messages.mean, report.num_messages.max) == (2.0, 4.0)
    assert (report.depth.mean, report.depth.max) == (1.0, 2.0)
    assert report.hop_share == (0.5, 0.25, 0.25)
    assert report.size_buckets == ((1.0, 2.0, 1), (2.0, 3.0, 0), (3.0, 4.0, 1))
    assert report.num_latency == 2
    assert 0 < report.latency_us.p50 <= report.latency_us.max
    assert report.cpu_us > 0
    assert report.wall_us > 0
    assert (report.recall, report.recall_note) == (None, "only for PPR")


def test_recall_is_full_where_the_component_fits(path):
    report = describe_scopes(path, PprExtractor(), [0, 1, 2, 3, 4], recall_sample=3)
    assert report.recall.num_targets == 3
    assert report.recall.recall.mean == 1.0
    assert report.recall.mass_share.p5 == pytest.approx(1.0)
    assert report.recall_note == ""


def test_recall_counts_only_what_threshold_and_cap_leave(path):
    whole = describe_scopes(path, PprExtractor(threshold=1.0), [0]).recall
    assert (whole.recall.mean, whole.mass_share.mean) == (1.0, 1.0)
    capped = describe_scopes(path, PprExtractor(max_nodes=2), [0]).recall
    assert capped.recall.mean == 1.0


def test_recall_is_left_out_with_a_reason(path, monkeypatch):
    assert describe_scopes(path, StochasticPprExtractor(), [0]).recall_note == "scopes are random, not the best"
    assert describe_scopes(path, PprExtractor(), [0], recall_sample=0).recall_note == "not requested"
    monkeypatch.setattr(scopes, "MAX_EXACT_EDGES", 5)
    note = describe_scopes(path, PprExtractor(), [0]).recall_note
    assert note == "the exact solve is for graphs of up to 5 CSR entries"


def test_chunks_join_to_the_same_numbers(path, monkeypatch):
    targets = [0, 1, 2, 3, 4] * 3
    whole = describe_scopes(path, KhopExtractor(), targets, seed=1)
    monkeypatch.setattr(scopes, "_CHUNK", 4)
    seen = []
    parts = describe_scopes(path, KhopExtractor(), targets, seed=1, progress=lambda *step: seen.append(step))
    for name in ("num_nodes", "num_messages", "depth", "hop_share", "edges_touched", "size_buckets"):
        assert getattr(parts, name) == getattr(whole, name)
    assert seen[:2] == [("extracting", 0, 15), ("extracting", 4, 15)]


def test_pairs_share_a_scope(path):
    report = describe_scopes(path, PprExtractor(), [[0, 3], [1, 4]])
    assert report.num_nodes.max == 5.0
    assert report.recall.recall.mean == 1.0


def test_report_is_json_and_png(path, tmp_path):
    report = describe_scopes(path, PprExtractor(), [0, 1, 4])
    assert json.loads(json.dumps(asdict(report)))["hop_share"] == list(report.hop_share)
    plot_scopes(report, "path", tmp_path / "scopes.png")
    assert (tmp_path / "scopes.png").read_bytes()[:4] == b"\x89PNG"


def test_plot_of_equal_sizes(path, tmp_path):
    plot_scopes(describe_scopes(path, NodeExtractor(), [0, 1]), "path", tmp_path / "scopes.png")
    assert (tmp_path / "scopes.png").exists()


def test_empty_targets_are_refused(path):
    with pytest.raises(ValueError, match="targets must not be empty"):
        describe_scopes(path, PprExtractor(), [])


def test_spread_of_one_value():
    assert asdict(spread(np.array([3]))) == {"mean": 3.0, "p5": 3.0, "p50": 3.0, "p99": 3.0, "max": 3.0}
