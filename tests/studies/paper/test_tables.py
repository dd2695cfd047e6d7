"""The tables of trained models: every recipe is there, and a fast run on small graphs writes page, CSV and figure."""

import csv
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.named import paper_recipe, paper_recipe_names
from shadow_gnn.studies.paper import paper_values
from shadow_gnn.studies.paper.engine import reproduce
from shadow_gnn.studies.paper.experiment import ReproduceOptions, Spread
from shadow_gnn.studies.paper.experiments.leaderboards import COLLAB, PAPERS100M
from shadow_gnn.studies.paper.experiments.score_tables import ENSEMBLE, JK_GIN, POOLING
from shadow_gnn.studies.paper.registry import experiments, find_experiment
from shadow_gnn.tasks.links.negatives import uniform_negatives
from shadow_gnn.tasks.links.pairs import links_of, without_links


def recipe_of(name):
    """Return a small stand-in with what the name says."""
    parts = name.removeprefix("ogbn-").removeprefix("ogbl-").split("-")
    changes = {"model__readout": parts[4]} if len(parts) > 4 else {}
    if "full" in parts:
        return small_recipe(
            extractor=None, training__method="full", training__num_epochs=1, model__num_layers=int(parts[2])
        )
    return small_recipe(training__num_epochs=1, model__num_layers=int(parts[2]), **changes)


@pytest.fixture
def data(tmp_path):
    for seed, name in enumerate(("flickr", "ogbn-arxiv", "ogbn-papers100M", "ogbl-collab")):
        save_graph(communities(seed=seed), tmp_path / "data" / name)
    return tmp_path / "data"


def read_csv(path):
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize("table", [POOLING, JK_GIN, ENSEMBLE], ids=lambda table: table.name)
def test_every_line_has_a_recipe_of_the_paper_on_its_dataset(table):
    for line in table.lines:
        assert paper_recipe(line.row.recipe).graph == line.row.data


def test_number_of_lines_is_that_of_the_papers_tables():
    assert tuple(len(table.lines) for table in (POOLING, JK_GIN, ENSEMBLE)) == (8, 24, 10)
    assert (len(paper_values.COLLAB), len(paper_values.PAPERS100M)) == (4, 5)


def test_sums_of_the_transcribed_values():
    """Added up from the paper itself: a slip in one digit shows."""
    assert round(sum(value.mean for values in paper_values.POOLING.values() for value in values.values()), 4) == 5.0676
    assert round(sum(value.mean for values in paper_values.ENSEMBLE.values() for value in values.values()), 4) == 6.5380
    assert round(sum(value.mean for values in paper_values.JK_GIN.values() for value in values.values()), 4) == 17.2890


def test_pooling_writes_our_values_next_to_the_papers(data, tmp_path):
    options = ReproduceOptions(data=data, repeat=2, out=tmp_path / "out")
    outcome = reproduce(replace(POOLING, recipe_of=recipe_of), options)
    assert outcome.num_done == outcome.num_jobs == 16
    assert [file.name for file in outcome.files] == ["pooling.md", "pooling.csv", "pooling.png"]
    assert (tmp_path / "out" / "pooling.png").read_bytes().startswith(b"\x89PNG")
    rows = read_csv(tmp_path / "out" / "pooling.csv")
    assert [(row["data"], row["readout"], row["paper"], row["runs"]) for row in rows[:2]] == [
        ("flickr", "center", "0.5351", "2"),
        ("flickr", "mean", "0.5361", "2"),
    ]
    page = (tmp_path / "out" / "pooling.md").read_text()
    assert "trained with 2 seeds" in page
    assert "NOT the paper's data" in page
    table = outcome.finding.tables[0]
    ours = table.rows[0][3]
    assert isinstance(ours, Spread)
    assert ours.deviation is not None
    assert f"| flickr | center | 2 | {ours.mean:.4f} ± {ours.deviation:.4f} | 0.5351 ± 0.0026 |" in page
    assert mean(float(row["test accuracy, ours"]) for row in rows) > 0.3


def test_partial_table_has_gaps(data, tmp_path):
    options = ReproduceOptions(data=data, repeat=1, out=tmp_path / "out")
    outcome = reproduce(replace(JK_GIN, recipe_of=recipe_of), options, only="flickr-gin-3-*")
    assert (outcome.num_done, outcome.num_jobs) == (2, 16)
    rows = {tuple(row[:4]): row[4:] for row in outcome.finding.tables[0].rows}
    assert len(rows) == 16  # reddit is not there.
    assert rows["flickr", "GIN", "3", "shaDow"][0] == 1
    assert rows["flickr", "GIN", "5", "shaDow"][:2] == (0, None)
    assert "- not available: reddit" in outcome.finding.text


def test_ensemble_uses_the_data_that_is_there(data, tmp_path):
    options = ReproduceOptions(data=data / "flickr", fast=True, out=tmp_path / "out")
    outcome = reproduce(ENSEMBLE, options, only="*-ensemble-*")
    assert outcome.num_jobs == 5
    assert [row[0] for row in outcome.finding.tables[0].rows] == ["flickr"] * 5
    assert "With `--fast` every model has width 32" in outcome.finding.text


def test_papers100m_measures_scopes(data, tmp_path):
    options = ReproduceOptions(data=data, repeat=1, out=tmp_path / "out")
    outcome = reproduce(replace(PAPERS100M, recipe_of=recipe_of), options)
    (table,) = outcome.finding.tables
    assert table.rows[0] == (
        "GraphSAGE+incep",
        None,
        None,
        Spread(0.6706, 0.0017),
        None,
        Spread(0.7032, 0.0011),
        None,
        "4E5",
    )
    method, runs, _, _, _, _, num_nodes, printed = table.rows[4]
    assert (method, runs, printed) == ("shaDow-GAT 400", 1, "3E2")
    assert 5 < num_nodes <= 10  # small_recipe has topk 10


def test_collab_is_scored_by_what_its_recipe_monitors(data, tmp_path):
    outcome = reproduce(
        replace(COLLAB, recipe_of=recipe_of),
        ReproduceOptions(data=data / "ogbl-collab", repeat=1, out=tmp_path / "out"),
    )
    (table,) = outcome.finding.tables
    assert table.columns[2] == "test Hits@50, ours"
    assert [row[1] for row in table.rows] == [None, None, None, 1]


def test_collab_trains_on_pairs(tmp_path):
    graph = communities()
    links = links_of(graph)
    order = np.random.default_rng(0).permutation(len(links))
    valid, test, train = links[order[:60]], links[order[60:120]], links[order[120:]]
    negative = {split: uniform_negatives(graph, 60, seed=seed) for seed, split in enumerate(("valid", "test"))}
    pairs = {"train_pos": train, "valid_pos": valid, "test_pos": test}
    pairs |= {f"{split}_neg": found for split, found in negative.items()}
    held = replace(without_links(graph, np.concatenate((valid, test))), y=None, splits={}, x=graph.x, pairs=pairs)
    save_graph(held, tmp_path / "ogbl-collab")
    outcome = reproduce(COLLAB, ReproduceOptions(data=tmp_path, fast=True, out=tmp_path / "out"))
    row = outcome.finding.tables[0].rows[3]
    assert row[:2] == ("shaDow-SAGE", 1)
    assert isinstance(row[2], Spread)
    assert 0 < row[2].mean <= 1
    assert "positive pairs of all splits must be 1,285,465, got" in outcome.finding.text
    (job,) = COLLAB.jobs(ReproduceOptions(data=tmp_path, fast=True, out=tmp_path / "out"))
    assert job.settings["targets"]["train_pos"] == len(train)


def test_missing_data_is_named_before_any_work(tmp_path):
    with pytest.raises(SourceError, match=r"flickr: .*shadow data get flickr"):
        POOLING.jobs(ReproduceOptions(data=tmp_path))
    save_graph(communities(), tmp_path / "cora")
    with pytest.raises(SourceError, match="must have the name of a dataset, flickr, ogbn-arxiv"):
        POOLING.jobs(ReproduceOptions(data=tmp_path / "cora"))


def test_names_lead_to_experiments():
    for name, experiment in experiments().items():
        assert experiment.name == name
        assert find_experiment(name).summary == experiment.summary
        assert len(experiment.summary) < 100
    with pytest.raises(ValueError, match=r"NAME must be one of .*, got 'poolin'; did you mean pooling\?"):
        find_experiment("poolin")


def test_recipes_of_the_tables_are_all_there():
    names = {line.row.recipe for table in (POOLING, JK_GIN, ENSEMBLE) for line in table.lines}
    assert names <= set(paper_recipe_names())
