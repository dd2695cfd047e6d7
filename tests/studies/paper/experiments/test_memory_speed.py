"""Memory and speed: measured in processes of their own, next to the paper's points."""

import sys

import pytest

from shadow_gnn.graph.store import open_graph
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.paper.engine import reproduce
from shadow_gnn.studies.paper.experiment import ReproduceOptions
from shadow_gnn.studies.paper.experiments.memory_speed import BATCH_SIZES, DATA, PRINTED, MemorySpeed, measure_steps


def result(size: int, wall: float, memory: int | None) -> dict:
    return {"machine": "here", "batch_size": size, "memory": memory, "wall": wall, "cpu": 2 * wall}


def test_speed_is_over_that_of_the_smallest_batches(tmp_path):
    results = {f"ogbn-products-{size}": result(size, 8 / size, size * 10**7) for size in BATCH_SIZES}
    finding = MemorySpeed().finding({**results, "flickr-64": result(64, 1.0, None)}, ReproduceOptions())
    (table,) = finding.tables
    assert [row[:6] for row in table.rows[:3]] == [
        ("ogbn-products", 32, 2.3, 1.0, 0.32, 1.0),
        ("ogbn-products", 64, 4.2, 1.257, 0.64, 2.0),
        ("ogbn-products", 128, 9.5, 1.1364, 1.28, 4.0),
    ]
    assert table.rows[3][:6] == ("flickr", 64, None, None, None, None)
    finding.draw(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"


def test_paper_has_a_point_for_every_batch_size():
    assert set(PRINTED) <= set(DATA)
    assert all(len(points) == len(BATCH_SIZES) for points in PRINTED.values())


def test_steps_train_and_are_timed(data_folder):
    recipe = paper_recipe("flickr-gat-5-ppr", ["model.hidden_dim=8", "extractor.topk=5"])
    found = measure_steps(recipe, open_graph(data_folder / "flickr"), 16, 40, 1)
    assert found["wall"] > 0
    assert (found["memory"] is None) == (not sys.platform.startswith("linux"))


@pytest.mark.slow
def test_every_batch_size_is_measured_in_a_process_of_its_own(data_folder, tmp_path):
    options = ReproduceOptions(data=data_folder / "flickr", fast=True, out=tmp_path)
    outcome = reproduce(MemorySpeed(), options)
    assert outcome.faults == {}
    assert outcome.num_done == len(BATCH_SIZES)
