"""--targets: splits, ids and names of nodes, and files of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shadow_gnn.base.errors import SourceError
from shadow_gnn.cli.shared.targets import choose_targets
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.names import NodeNames
from shadow_gnn.graph.record import Graph


def named(*names: str) -> Graph:
    graph = from_edges(np.arange(len(names) - 1), np.arange(1, len(names)), num_nodes=len(names))
    return replace(graph, node_name=NodeNames.of(names), splits={"test": np.array([2])})


MODULES = named("torch", "torch.nn", "torch.nn.functional", "a,b")


def chosen(graph: Graph, text: str | Path) -> list[int]:
    found = choose_targets("predict", graph, str(text))
    assert not isinstance(found, int)
    return found.tolist()


def test_targets_are_names_ids_splits_or_all() -> None:
    assert chosen(MODULES, "torch.nn.functional") == [2]
    assert chosen(MODULES, "torch.nn, torch") == [1, 0]
    assert chosen(MODULES, "a,b") == [3]
    assert chosen(MODULES, "3,1") == [3, 1]
    assert chosen(MODULES, "test") == [2]
    assert choose_targets("predict", MODULES, "all") == 4


def test_unknown_names_are_one_line_with_the_nearest_and_the_splits() -> None:
    with pytest.raises(ValueError, match=r"^predict: --targets must name a node of the graph, got 'torch.nm'; "):
        chosen(MODULES, "torch.nm")
    with pytest.raises(ValueError, match=r"did you mean 'torch.nn'\?; splits: test$"):
        chosen(MODULES, "torch,torch.nm")


def test_files_hold_names_or_ids(tmp_path: Path) -> None:
    path = tmp_path / "nodes.txt"
    path.write_text("torch.nn\n\na,b\n")
    assert chosen(MODULES, path) == [1, 3]
    path.write_text("2\n0\n")
    assert chosen(MODULES, path) == [2, 0]
    path.write_text("torch\nnumpy\n")
    with pytest.raises(ValueError, match=r"nodes.txt: lines must name a node of the graph, got 'numpy'"):
        chosen(MODULES, path)


def test_a_number_that_is_an_id_and_another_nodes_name_is_refused(tmp_path: Path) -> None:
    numbered = named("7", "1", "0", "12")
    with pytest.raises(ValueError, match=r"must be clear, 0 is a node id and the name of node 2; give a file"):
        chosen(numbered, "0")
    assert chosen(numbered, "1") == [1]
    assert chosen(numbered, "3") == [3]
    assert chosen(numbered, "7,12") == [0, 3]
    path = tmp_path / "nodes.txt"
    path.write_text("node_name\n0\n7\n")
    assert chosen(numbered, path) == [2, 0]
    path.write_text("node_id\n0\n")
    assert chosen(numbered, path) == [0]
    path.write_text("node_id\nx\n")
    with pytest.raises(SourceError, match="line 2 must be one node id, got 'x'"):
        chosen(numbered, path)
