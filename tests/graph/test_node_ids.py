"""Nodes that are given by name, for extractors, loaders and predictors alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.names import NodeNames
from shadow_gnn.graph.node_ids import node_ids

PATH = replace(from_edges(np.array([0, 1]), np.array([1, 2])), node_name=NodeNames.of(["a", "b", "c"]))


def test_names_keep_their_shape_and_ids_stay() -> None:
    assert node_ids(PATH, ["c", "a"], "x").tolist() == [2, 0]
    assert node_ids(PATH, [["c", "a"]], "x").tolist() == [[2, 0]]
    assert node_ids(PATH, np.array(["b"], object), "x").tolist() == [1]
    assert node_ids(PATH, [1, 2], "x").tolist() == [1, 2]
    assert node_ids(PATH, [], "x").tolist() == []


def test_extractors_take_names() -> None:
    scopes = PprExtractor(topk=2)(PATH, ["b"])
    assert scopes.node_id.tolist() == PprExtractor(topk=2)(PATH, [1]).node_id.tolist()
    with pytest.raises(ValueError, match=r"targets must name a node of the graph, got 'd'"):
        PprExtractor(topk=2)(PATH, ["d"])
