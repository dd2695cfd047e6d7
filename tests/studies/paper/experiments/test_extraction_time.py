"""Extraction time: every part is timed, and stands next to the paper's bars."""

from tests.studies.paper.measured import run_twice

from shadow_gnn.recipe.named import paper_recipe_names
from shadow_gnn.studies.paper.experiments.extraction_time import DATA, PARTS, PRINTED, ExtractionTime


def test_paper_has_bars_for_every_dataset():
    assert set(PRINTED) == set(DATA)
    assert all(set(bars) == set(PARTS) for bars in PRINTED.values())


def test_every_dataset_has_recipes():
    from shadow_gnn.studies.paper.experiments.extraction_time import _recipes

    assert {recipe for name in DATA for recipe in _recipes(name).values()} <= set(paper_recipe_names())


def test_all_parts_are_timed(data_folder, tmp_path):
    (table,) = run_twice(ExtractionTime(), data_folder, tmp_path / "out").finding.tables
    flickr = {row[1]: row for row in table.rows if row[0] == "flickr"}
    assert flickr["PPR"][2] == 0.9
    assert flickr["shaDow-GAT"][2] == 1.98
    assert flickr["PPR, refined tolerance"][2] is None
    assert len(flickr) == 6
    assert all(row[3] > 0 and row[5] == 50 for row in flickr.values())
