"""Nodes touched by PPR: what the extractor reports, averaged, next to the 2-hop size."""

import numpy as np
import pytest
from tests.studies.paper.measured import run_twice

from shadow_gnn.base.files import silent
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.store import open_graph
from shadow_gnn.normal.hops import hop_counts
from shadow_gnn.studies.paper.experiments.ppr_touched import PPR_TOUCHED, PRINTED, measure_touched


def test_measures_what_the_extractor_touches(data_folder):
    graph = open_graph(data_folder / "ogbn-arxiv")
    targets = np.asarray(graph.splits["test"])
    found = measure_touched("ogbn-arxiv", graph, 1000, silent)
    fixed = PprExtractor(topk=200, threshold=0.01, tolerance=1e-6)(graph, targets).nodes_touched.mean()
    refined = PprExtractor(topk=200, threshold=0.01)(graph, targets).nodes_touched.mean()
    assert found["touched"] == pytest.approx([fixed] * 3)
    assert found["refined"] == pytest.approx(refined)
    assert found["two_hop"] == pytest.approx(hop_counts(graph, targets, 2).num_nodes[:, 2].mean())
    assert (found["tolerance"], found["num_targets"]) == (1e-6, len(targets))


def test_table_has_the_papers_values_where_it_prints_some(data_folder, tmp_path):
    (data_folder / "flickr").rename(data_folder / "yelp")
    (table,) = run_twice(PPR_TOUCHED, data_folder, tmp_path / "out").finding.tables
    assert table.rows[0][0] == "yelp"
    assert (table.rows[0][1], table.rows[0][3]) == PRINTED["yelp"]
    assert table.rows[1][0] == "ogbn-arxiv"
    assert table.rows[1][1] is None
