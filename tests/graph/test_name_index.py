"""Node ids by name."""

from shadow_gnn.graph.name_index import NameIndex
from shadow_gnn.graph.record import NodeNames


def test_finds_names_and_follows_changes():
    index = NameIndex(NodeNames.of(["a", "bé", "a", ""]))
    assert [index.find(name) for name in ("a", "bé", "c", "")] == [0, 1, None, None]
    index.add("c", 7)
    index.remove("bé")
    assert [index.find(name) for name in ("c", "bé")] == [7, None]
    index.add("bé", 8)
    assert index.find("bé") == 8
    index.remove("bé")
    assert index.find("bé") is None
