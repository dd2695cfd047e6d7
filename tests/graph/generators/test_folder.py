"""Generated folders: equal to the graph built in memory, for any memory and threads, and taken up after a kill."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.work_folder import work_folder_of
from shadow_gnn.graph.generators.drawn import DrawnEdges, drawn_features, drawn_labels
from shadow_gnn.graph.generators.folder import generate_graph
from shadow_gnn.graph.generators.plan import GraphPlan, disk_need
from shadow_gnn.graph.importing.bounded import out_of_core
from shadow_gnn.graph.importing.build import build_graph
from shadow_gnn.graph.store import open_graph
from shadow_gnn.graph.verify import verify_graph


class Killed(BaseException):
    """Stands for the end of the process."""


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def plan_of(model="dcsbm", **changes) -> GraphPlan:
    return GraphPlan(**{"model": model, "num_nodes": 3000, "degree": 8, "num_columns": 6, "num_classes": 3, **changes})


@pytest.mark.parametrize("model", ["dcsbm", "rmat"])
def test_equals_the_graph_built_in_memory(tmp_path, model):
    plan = plan_of(model, seed=2)
    summary = generate_graph(plan, tmp_path / "g", memory_bytes=100_000)
    src, dst = next(DrawnEdges(plan).blocks(plan.num_edges))
    expected, expected_summary = build_graph(src, dst, plan.num_nodes)
    graph = open_graph(tmp_path / "g")
    np.testing.assert_array_equal(graph.indptr, expected.indptr)
    np.testing.assert_array_equal(graph.indices, expected.indices)
    np.testing.assert_array_equal(graph.x.matrix, drawn_features(plan)[:])
    np.testing.assert_array_equal(graph.y, drawn_labels(plan)[:])
    assert sorted(graph.splits) == ["test", "train", "valid"]
    assert summary == expected_summary
    verify_graph(tmp_path / "g")
    assert os.listdir(tmp_path) == ["g"]


def test_memory_and_threads_change_nothing_and_the_seed_does(tmp_path):
    for name, changes in {"a": {}, "b": {"memory_bytes": 60_000, "num_threads": 3}}.items():
        generate_graph(plan_of(), tmp_path / name, **changes)
    generate_graph(plan_of(seed=1), tmp_path / "other")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert (
        json.loads((tmp_path / "a" / "graph.json").read_text())["fingerprint"]
        != open_graph(tmp_path / "other").fingerprint
    )


@pytest.mark.parametrize(
    "changes", [{"num_nodes": 1, "degree": 0, "num_classes": 1}, {"degree": 0}, {"num_columns": 0}]
)
def test_degenerate_graphs(tmp_path, changes):
    generate_graph(plan_of(**changes), tmp_path / "g")
    verify_graph(tmp_path / "g")
    assert (open_graph(tmp_path / "g").x is None) == (changes.get("num_columns") == 0)


def test_a_call_that_is_killed_anywhere_is_taken_up(tmp_path, monkeypatch):
    monkeypatch.setattr(out_of_core, "CHECKPOINT_SECONDS", 0.0)
    plan, options = plan_of(num_nodes=1000), {"memory_bytes": 100_000}
    stages: list[str] = []
    generate_graph(plan, tmp_path / "whole", progress=lambda stage, done, total: stages.append(stage), **options)
    assert len(stages) > 20
    for last in range(1, len(stages), 3):
        seen: list[str] = []

        def killing(stage, done, total, last=last, seen=seen):
            seen.append(stage)
            if len(seen) == last:
                raise Killed

        folder = tmp_path / f"killed-{last}"
        with pytest.raises(Killed):
            generate_graph(plan, folder, progress=killing, **options)
        assert not folder.exists()
        again: list[str] = []
        generate_graph(plan, folder, progress=lambda stage, done, total, again=again: again.append(stage), **options)
        assert tree(folder) == tree(tmp_path / "whole")
        assert not work_folder_of(folder).exists()
        if seen[-1] == "sorting lists":
            assert "counting edges" not in again


def test_what_another_plan_left_is_not_used(tmp_path):
    def killing(stage, done, total):
        if stage == "sorting lists":
            raise Killed

    with pytest.raises(Killed):
        generate_graph(plan_of(seed=1), tmp_path / "g", progress=killing)
    assert work_folder_of(tmp_path / "g").exists()
    generate_graph(plan_of(seed=2), tmp_path / "g")
    generate_graph(plan_of(seed=2), tmp_path / "h")
    assert tree(tmp_path / "g") == tree(tmp_path / "h")


def test_too_small_a_disk_is_refused_before_anything_is_written(tmp_path):
    plan = GraphPlan("dcsbm", 2_000_000_000, 200)
    with pytest.raises(WriteError, match=rf"g: cannot be written \({disk_need(plan).largest} bytes needed\)"):
        generate_graph(plan, tmp_path / "g")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_there_is_kept(tmp_path):
    generate_graph(plan_of(), tmp_path / "g")
    with pytest.raises(WriteError, match="exists already"):
        generate_graph(plan_of(seed=1), tmp_path / "g")
    generate_graph(plan_of(seed=1), tmp_path / "g", overwrite=True)
    with pytest.raises(ValueError, match="num_threads must be at least 1, got 0"):
        generate_graph(plan_of(), tmp_path / "h", num_threads=0)


def test_too_little_memory_is_named(tmp_path):
    with pytest.raises(ValueError, match="memory_bytes must be at least"):
        generate_graph(plan_of(), tmp_path / "g", memory_bytes=1000)
    assert os.listdir(tmp_path) == []
