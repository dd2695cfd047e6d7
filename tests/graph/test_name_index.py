"""Node ids by name."""

from shadow_gnn.graph.name_index import NameIndex
from shadow_gnn.graph.record import NodeNames


def test_finds_names_and_follows_changes():
    index = NameIndex(NodeNames.of(["a", "bé", "a"]))
    assert (index.find("a"), index.find("bé"), index.find("c"), len(index)) == (0, 1, None, 2)
    index.add("c", 7)
    index.remove("bé")
    assert (index.find("c"), index.find("bé"), sorted(index)) == (7, None, ["a", "c"])
