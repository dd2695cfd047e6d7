"""Detect: the right reader by looking at the source."""

import numpy as np
import pytest

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.detect import detect, read_source
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.importing.options import EdgeListOptions, ImportOptions
from shadow_gnn.graph.store import save_graph


def test_formats_are_told_apart(tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n")
    np.savez(tmp_path / "a.npz", indptr=np.zeros(1))
    for folder, name in (("saint", "adj_full.npz"), ("ogb", "raw/edge.csv.gz")):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True)
        path.touch()
    found = [detect(tmp_path / name) for name in ("e.csv", "a.npz", "saint", "ogb", "ogb/raw")]
    assert found == ["edge list", "npz", "GraphSAINT", "OGB", "OGB"]


def test_what_is_no_source_is_said(tmp_path):
    with pytest.raises(SourceError, match="does not exist"):
        detect(tmp_path / "none")
    with pytest.raises(SourceError, match="must hold"):
        detect(tmp_path)
    save_graph(from_edges([0], [1]), tmp_path / "g")
    with pytest.raises(SourceError, match="is already a graph folder"):
        detect(tmp_path / "g")
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(SourceError, match=r"one \.npy array"):
        detect(tmp_path / "x.npy")
    (tmp_path / "data.pt").write_bytes(b"PK\x03\x04....")
    with pytest.raises(SourceError, match="zip archive"):
        detect(tmp_path / "data.pt")


def test_edge_list_options_are_refused_elsewhere(tmp_path):
    np.savez(tmp_path / "a.npz", indptr=np.zeros(1, int), indices=np.zeros(0, int))
    with pytest.raises(SourceError, match="no meaning"):
        read_source(tmp_path / "a.npz", ImportOptions(edge_list=EdgeListOptions(weight="w")))
