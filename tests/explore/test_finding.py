"""Finding nodes while somebody types: the same as a search through all names."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn.explore.finding import find
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.graph.record import Graph, NodeNames

TEXTS = st.text(alphabet="abAB1é<", min_size=1, max_size=4)


def live_graph(names: list[str] | None, count: int = 0) -> LiveGraph:
    count = count if names is None else len(names)
    indptr = np.zeros(count + 1, np.int64)
    return LiveGraph(Graph(indptr, np.zeros(0, np.int32), node_name=None if names is None else NodeNames.of(names)))


@given(st.lists(TEXTS, min_size=1, max_size=20, unique=True), TEXTS)
def test_names_that_begin_with_a_text_are_found(names, text):
    found = [node["id"] for node in find(live_graph(names), text, 50)["nodes"]]
    folded = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    wanted = {
        number
        for number, name in enumerate(names)
        if "".join(letter.lower() if letter.isascii() else letter for letter in name).startswith(folded)
    }
    assert wanted <= set(found)
    if text in names:
        assert found[0] == names.index(text)
    if wanted:
        extra = {int(text)} if text.isdecimal() and int(text) < len(names) else set()
        assert set(found) == wanted | extra


@given(st.integers(1, 3000), st.integers(0, 4000))
def test_ids_of_a_graph_without_names_are_found_by_their_digits(count, number):
    found = [node["id"] for node in find(live_graph(None, count), str(number), 10_000)["nodes"]]
    wanted = [node for node in range(count) if str(node).startswith(str(number))]
    assert sorted(found) == wanted


def test_ids_and_misspelled_names_are_found():
    live = live_graph(["gimp", "gimp-data", "inkscape", "<img onerror=x>"])
    assert [node["name"] for node in find(live, "GIM", 20)["nodes"]] == ["gimp", "gimp-data"]
    assert [node["name"] for node in find(live, "inkscpae", 20)["nodes"]] == ["inkscape"]
    assert [node["id"] for node in find(live, "2", 20)["nodes"]] == [2]
    assert [node["name"] for node in find(live, "<img", 1)["nodes"]] == ["<img onerror=x>"]
    assert find(live, "  ", 20) == {"nodes": []}
    assert find(live, "zzzzzzzzzz", 20) == {"nodes": []}


def test_names_follow_updates():
    live = live_graph(["one", "other"])
    live.commit([Update(num_nodes=1, names=("third",)), Update(remove_nodes=(0,))])
    assert [node["name"] for node in find(live, "third", 20)["nodes"]] == ["third"]
    assert [node["name"] for node in find(live, "o", 20)["nodes"]] == ["other"]
