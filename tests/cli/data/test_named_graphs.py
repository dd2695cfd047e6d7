"""Built-in graphs and downloaded datasets by name, in every command that takes a graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.called import fault, numbers

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.store import open_graph, save_graph


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHADOW_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    ring = np.arange(12)
    save_graph(from_edges(ring, (ring + 1) % 12), tmp_path / "cora")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def test_a_dataset_is_found_by_its_name(data: Path) -> None:
    assert numbers("data", "info", "cora")["num_nodes"] == 12
    assert numbers("extract", "cora", "--extractor", "{topk = 3}", "--recall-sample", 0)["num_targets"] == 12
    assert numbers("data", "diffuse", "cora", "near", "--topk", 3)["num_nodes"] == 12
    assert open_graph("near").num_nodes == 12


def test_the_built_in_graph_is_found_by_its_name() -> None:
    assert numbers("extract", "debian", "--targets", "gimp", "--recall-sample", 0)["num_targets"] == 1
    assert "did you mean" in fault("extract", "debian", "--targets", "gimpp", "--recall-sample", 0)


@pytest.mark.parametrize("command", ["extract coraa", "data info coraa", "data diffuse coraa x"])
def test_an_unknown_name_is_one_line_with_the_nearest(data: Path, command: str) -> None:
    assert "coraa must be a graph folder or one of debian" in fault(*command.split())
    assert fault(*command.split()).endswith("did you mean cora?")
