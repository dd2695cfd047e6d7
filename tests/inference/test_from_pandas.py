"""Estimators on pandas tables: columns are recognized for training and encoded in the same way afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn import NodeClassifier
from shadow_gnn.extract import PprExtractor

SMALL = {"hidden_dim": 8, "num_layers": 2, "num_epochs": 1, "batch_size": 16, "extractor": PprExtractor(topk=10)}


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    graph = communities()
    assert graph.x is not None
    assert graph.y is not None
    names = np.array([f"n{node}" for node in range(120)])
    columns = {f"x{number}": column for number, column in enumerate(graph.x.rows(np.arange(120)).T)}
    color = np.array(["red", "green", "blue"])[graph.y]
    nodes = pd.DataFrame({"name": names, "kind": np.where(np.arange(120) % 2, "a", "b"), **columns, "color": color})
    receiver = np.repeat(np.arange(120), np.diff(graph.indptr))
    return nodes, pd.DataFrame({"src": names[graph.indices], "dst": names[receiver]})


def test_tables_become_graphs_for_training_and_later(tmp_path: Path) -> None:
    nodes, edges = tables()
    model = NodeClassifier(**SMALL)
    graph = model.from_pandas(nodes, edges, label="color")
    assert {name: len(ids) for name, ids in graph.splits.items()} == {"train": 72, "valid": 24, "test": 24}
    model.fit(graph, progress=False)
    frame = model.predict(graph, ["n5", "n7"], as_frame=True)
    assert frame["node_name"].tolist() == ["n5", "n7"]
    assert set(frame["class_name"]) <= {"red", "green", "blue"}
    model.save(tmp_path / "run")
    again = NodeClassifier.load(tmp_path / "run")
    # Other rows, columns in another order, and without the label.
    part = nodes.drop(columns="color").iloc[::-1, ::-1].head(60)
    inside = edges["src"].isin(part["name"]) & edges["dst"].isin(part["name"])
    other = again.from_pandas(part, edges[inside])
    assert other.column_names == graph.column_names
    assert other.x is not None
    assert graph.x is not None
    np.testing.assert_array_equal(other.x.rows(np.arange(60)), graph.x.rows(np.arange(119, 59, -1)))
    assert len(again.predict(other, as_frame=True)) == 60


def test_an_estimator_of_another_graph_does_not_know_how_to_encode() -> None:
    model = NodeClassifier(**SMALL).fit(communities(), progress=False)
    with pytest.raises(ValueError, match=r"^NodeClassifier: from_pandas must be of an estimator fitted on tables"):
        model.from_pandas(*tables())
