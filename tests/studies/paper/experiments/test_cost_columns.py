"""The cost columns: the transcription is whole, rows are counted by the equations, real graphs have pinned values."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.studies.paper.measured import run_twice

from shadow_gnn.base.files import silent
from shadow_gnn.graph.store import open_graph
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.cost import ModelShape, normal_cost, shadow_cost
from shadow_gnn.studies.paper.experiments.cost_columns import (
    COST_COLUMNS,
    DATA,
    IN_DIM,
    ROWS,
    count_costs,
    row_recipe,
)
from shadow_gnn.training.build import build_extractor

REAL = Path(os.environ.get("SHADOW_DATA", "nowhere"))


def test_every_row_of_the_table_is_there_with_a_cost_for_every_dataset():
    assert len(ROWS) == 7 + 9 + 7
    for row in ROWS.values():
        assert len(row.printed) == len(DATA)
        assert all(cost >= 1 for cost in row.printed)
        texts = [row.printed_text(place) for place in range(len(DATA))]
        assert (row.kind == "ppr" and row.num_layers == 3) == (texts == ["(1)"] * 5)
        assert all(text == "(1)" or float(text) == cost for text, cost in zip(texts, row.printed, strict=True))
    assert len({row.key for row in ROWS.values()}) == len(ROWS)


def test_every_row_has_a_recipe_for_every_dataset():
    for row in ROWS.values():
        for name in DATA:
            recipe = row_recipe(name, row)
            assert recipe.graph == name
            assert recipe.model.layer == row.layer
            assert row.num_layers in (None, recipe.model.num_layers)
            assert recipe.is_normal == (row.kind == "normal")
            assert (recipe.model.readout != "center") == (row.kind == "pool")


def test_rows_are_counted_by_the_equations(data_folder):
    graph = open_graph(data_folder / "flickr")
    found = count_costs("flickr", graph, 1000, silent)
    targets = np.asarray(graph.splits["test"])
    assert found["num_targets"] == found["num_all"] == len(targets)
    by_name = {(row.method, row.num_layers): found["rows"][row.key] for row in ROWS.values()}
    network = ModelShape("gat", (IN_DIM["flickr"], *[256] * 5))
    normal = float(normal_cost(graph, targets, network).mean())
    assert by_name["GAT", 5]["macs"] == [normal] * 3
    assert by_name["GAT-SAINT", 5] == by_name["GAT", 5]
    extractor = build_extractor(paper_recipe("flickr-gat-5-ppr").extractor, training=False)
    unit = shadow_cost(extractor(graph, targets), ModelShape("gat", (IN_DIM["flickr"], *[256] * 3))).mean()
    assert by_name["GAT", 5]["ratio"] == pytest.approx([normal / unit] * 3)
    assert by_name["shaDow-GAT (PPR)", 3]["ratio"] == [1.0, 1.0, 1.0]
    assert by_name["shaDow-GAT (PPR) + pooling", None]["num_layers"] == 3
    assert by_name["GAT", 5]["full_batch_macs"] > 0
    assert by_name["shaDow-GAT (PPR)", 3]["full_batch_macs"] is None


def test_table_has_the_papers_values_next_to_ours(data_folder, tmp_path):
    outcome = run_twice(COST_COLUMNS, data_folder, tmp_path / "out")
    wide, long = outcome.finding.tables
    assert wide.columns[2:4] == ("flickr (paper)", "flickr (ours)")
    assert wide.rows[1][:3] == ("GCN", "5", "2E2")
    assert isinstance(wide.rows[1][3], float)
    assert wide.rows[1][5] is None  # Reddit is not there.
    assert len(long.rows) == 2 * len(ROWS)
    assert "reddit" in outcome.finding.text


PINNED = {
    "flickr": {
        "gcn-5-ppr-shaDow-GCN (PPR)": 1.506,
        "gcn-3-normal-GCN": 2.332,
        "gcn-5-normal-GCN": 156.3,
        "gcn-any-pool-shaDow-GCN (PPR) + pooling": 1.509,
        "sage-5-ppr-shaDow-SAGE (PPR)": 1.506,
        "sage-3-normal-GraphSAGE": 2.266,
        "sage-5-normal-GraphSAGE": 154.0,
        "sage-3-2hop-shaDow-SAGE (2-hop)": 0.5086,
        "sage-5-2hop-shaDow-SAGE (2-hop)": 0.766,
        "sage-any-pool-shaDow-SAGE (PPR) + pooling": 1.508,
        "gat-5-ppr-shaDow-GAT (PPR)": 1.511,
        "gat-3-normal-GAT": 38.19,
        "gat-5-normal-GAT": 450.5,
        "gat-any-pool-shaDow-GAT (PPR) + pooling": 1.005,
    },
    "ogbn-arxiv": {
        "gcn-5-ppr-shaDow-GCN (PPR)": 1.8,
        "gcn-3-normal-GCN": 9.62,
        "gcn-5-normal-GCN": 208.8,
        "gcn-any-pool-shaDow-GCN (PPR) + pooling": 1.813,
        "sage-5-ppr-shaDow-SAGE (PPR)": 1.8,
        "sage-3-normal-GraphSAGE": 9.197,
        "sage-5-normal-GraphSAGE": 204.4,
        "sage-3-2hop-shaDow-SAGE (2-hop)": 1.134,
        "sage-5-2hop-shaDow-SAGE (2-hop)": 2.041,
        "sage-any-pool-shaDow-SAGE (PPR) + pooling": 1.807,
        "gat-5-ppr-shaDow-GAT (PPR)": 1.777,
        "gat-3-normal-GAT": 57.32,
        "gat-5-normal-GAT": 442.7,
        "gat-any-pool-shaDow-GAT (PPR) + pooling": 1.789,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flickr", "ogbn-arxiv"])
def test_pinned_on_the_real_graphs(name):
    """Ratios of this code on the real topologies (SHADOW_DATA names the folder), which docs/cost.md explains."""
    if not (REAL / name / "graph.json").exists():
        pytest.skip(f"SHADOW_DATA must hold {name}")
    found = count_costs(name, open_graph(REAL / name), 4000, silent)["rows"]
    ratios = {row.key: found[row.key]["ratio"][0] for row in ROWS.values()}
    for key, value in PINNED[name].items():
        assert ratios[key] == pytest.approx(value, rel=5e-3), key
