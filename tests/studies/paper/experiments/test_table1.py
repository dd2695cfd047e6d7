"""Table 1: every row has its recipe, costs and accuracies stand next to the printed ones."""

import pytest
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper.engine import reproduce
from shadow_gnn.studies.paper.experiment import ReproduceOptions, Spread
from shadow_gnn.studies.paper.experiments.table1 import MODELS, Table1
from shadow_gnn.studies.paper.paper_values import COSTS, TABLE_1

METHODS = ("full", "saint")


def recipe_of(name):
    layer, num_layers, kind = name.removeprefix("ogbn-").split("-")[1:4]
    changes = {"model__layer": layer, "model__num_layers": int(num_layers), "training__num_epochs": 1}
    if kind in METHODS:
        return small_recipe(extractor=None, training__method=kind, **changes)
    return small_recipe(**changes)


def test_every_row_has_a_recipe_of_the_paper():
    assert [len(models) for models in MODELS.values()] == [23] * 5
    for data, models in MODELS.items():
        for model in models:
            recipe = paper_recipe(model.line.row.recipe)
            assert recipe.graph == data
            assert recipe.model.layer == model.layer
            assert str(recipe.model.num_layers) == model.line.labels[1]
            assert (recipe.model.readout != "center") == (model.kind == "pooling")
            assert recipe.is_normal == (model.kind in METHODS)


def test_sums_of_the_transcribed_values():
    """Added up from the paper itself: a slip in one digit shows."""
    scores = [score for values in TABLE_1.values() for score in values.values() if score is not None]
    assert len(scores) == 104
    assert round(sum(score.mean for score in scores), 4) == 74.5993
    assert round(sum(score.deviation or 0 for score in scores), 4) == 0.1836
    assert sum(map(sum, COSTS.values())) == 38734 + 15  # (1) is printed 15 times.


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table1")
    save_graph(communities(), folder / "data" / "flickr")
    options = ReproduceOptions(data=folder / "data", repeat=1, out=folder / "out")
    return reproduce(Table1(recipe_of), options, only="*flickr*gcn*"), options


def test_jobs_are_costs_and_then_models(outcome):
    jobs = Table1(recipe_of).jobs(outcome[1])
    assert [job.key for job in jobs[:2]] == ["cost-flickr", "flickr-gcn-3-full-seed-0"]
    assert outcome[0].num_jobs == len(jobs) == 24
    assert outcome[0].num_done == 7


def test_accuracies_and_costs_stand_next_to_the_papers(outcome):
    first, options = outcome
    assert first.finding.tables[0].rows[0][-2] is None  # No costs yet.
    second = reproduce(Table1(recipe_of), options, only="cost-*")
    (table,) = second.finding.tables
    assert table.name == "table1-flickr"
    assert table.columns == (
        "data",
        "method",
        "layers",
        "runs",
        "test accuracy, ours",
        "paper",
        "ours - paper",
        "cost, ours",
        "cost, paper",
    )
    rows = {row[1:3]: row for row in table.rows}
    unit = rows["shaDow-GCN (PPR)", "3"]
    assert unit[5] == Spread(0.5234, 0.0009)
    assert unit[-2:] == (1.0, 1.0)
    assert rows["GCN", "3"][-2:] == (rows["GCN-SAINT", "3"][-2], 2.0)
    assert rows["shaDow-GCN (PPR)", "5"][-2] > 1
    assert rows["GAT", "5"][3:5] == (0, None)
    assert (options.out / "table1.png").read_bytes().startswith(b"\x89PNG")


def test_paper_without_memory_is_said(tmp_path, outcome):
    save_graph(communities(), tmp_path / "yelp")
    options = ReproduceOptions(data=tmp_path / "yelp", repeat=1, out=tmp_path / "out")
    found = reproduce(Table1(recipe_of), options, only="yelp-gcn-5-full-*").finding
    row = next(row for row in found.tables[0].rows if row[1:3] == ("GCN", "5"))
    assert row[3] == 1
    assert isinstance(row[4], Spread)
    assert row[5:7] == ("OOM", None)
