"""Names: the sorted order, look-ups in it, prefixes, the nearest names, and the order in a graph folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.names import NodeNames
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import contents_of, open_graph, save_contents, save_graph
from shadow_gnn.graph.verify import verify_graph

SHORT = st.text("abAB.é", max_size=4)
TEXTS = st.lists(SHORT, max_size=30)


def folded(text: str) -> bytes:
    return bytes(letter + 32 if 65 <= letter <= 90 else letter for letter in text.encode())


def plain_order(texts: list[str]) -> list[int]:
    return sorted(range(len(texts)), key=lambda node: (folded(texts[node]), texts[node].encode(), node))


def plain_edits(left: bytes, right: bytes) -> int:
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, start=1):
        above, row[0] = row[:], i
        for j, other in enumerate(right, start=1):
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
    return row[-1]


def named(texts: list[str]) -> Graph:
    graph = from_edges(np.array([0]), np.array([1]), num_nodes=len(texts))
    return Graph(graph.indptr, graph.indices, node_name=NodeNames.of(texts))


@given(TEXTS)
def test_order_is_that_of_a_plain_sort(texts: list[str]) -> None:
    assert NodeNames.of(texts).order.tolist() == plain_order(texts)


@given(TEXTS, TEXTS)
def test_lookup_finds_what_a_scan_finds(texts: list[str], wanted: list[str]) -> None:
    ids, counts = NodeNames.of(texts).lookup(wanted)
    assert ids.tolist() == [texts.index(name) if name in texts else -1 for name in wanted]
    assert counts.tolist() == [texts.count(name) for name in wanted]


@given(TEXTS, SHORT, st.integers(1, 5))
def test_prefix_gives_the_first_names_by_the_alphabet_in_either_case(texts: list[str], prefix: str, most: int) -> None:
    expected = [node for node in plain_order(texts) if folded(texts[node]).startswith(folded(prefix))]
    assert NodeNames.of(texts).with_prefix(prefix, most).tolist() == expected[:most]


@given(TEXTS, st.text("abAB.é", min_size=1, max_size=6), st.integers(0, 5), st.integers(1, 4))
def test_nearest_names_have_the_fewest_edits(texts: list[str], text: str, limit: int, most: int) -> None:
    names = NodeNames.of(texts)
    query = np.frombuffer(text.encode(), np.uint8)
    distance = [plain_edits(folded(name), folded(text)) for name in texts]
    near = sorted((each, node) for node, each in enumerate(distance) if each <= limit)[:most]
    assert _core.nearest_names(names.ptr, names.text, query, most, limit).tolist() == [node for _, node in near]


def test_long_shared_beginnings_are_sorted() -> None:
    texts = [f"http://example.org/resource/{number:05}" for number in np.random.default_rng(0).permutation(3000)]
    names = NodeNames.of(texts)
    assert [texts[node] for node in names.order] == sorted(texts)
    assert names.indices(texts).tolist() == list(range(3000))


def test_index_of_one_name() -> None:
    names = NodeNames.of(["torch", "torch.nn", "torch.nn.functional"])
    assert names.index("torch.nn") == 1
    assert "torch" in names
    assert "Torch" not in names
    assert 3 not in names
    assert repr(names) == "NodeNames(3: 'torch', 'torch.nn', 'torch.nn.functional')"


def test_unknown_name_is_one_line_with_the_nearest_names() -> None:
    names = NodeNames.of(["numpy", "torch.nn", "torch.nn.functional"])
    with pytest.raises(ValueError, match=r"^node_name: name must name a node of the graph, got 'torch.nn.functionl'; "):
        names.index("torch.nn.functionl")
    for text, near in (("torch.nn.fnctional", 2), ("NUMPY", 0), ("torch.nn.fu", 2)):
        with pytest.raises(ValueError, match=rf"did you mean '{names[near]}'\?$"):
            names.index(text)
    with pytest.raises(ValueError, match=r"got 'zzzzzz'$"):
        names.index("zzzzzz")


def test_name_of_several_nodes_is_refused() -> None:
    names = NodeNames.of(["a", "b", "a"])
    with pytest.raises(ValueError, match=r"^predict must name one node, 'a' is the name of 2, first of node 0"):
        names.indices(["b", "a"], owner="predict")


def test_folder_keeps_the_order(tmp_path: Path) -> None:
    texts = ["pear", "Apple", "fig"]
    save_graph(named(texts), tmp_path / "graph")
    opened = open_graph(tmp_path / "graph")
    assert opened.node_name is not None
    assert opened.node_name.order_hint is not None
    assert opened.node_name.order_hint.tolist() == [1, 2, 0]
    assert opened.node_name.index("fig") == 2
    verify_graph(tmp_path / "graph")
    save_graph(opened, tmp_path / "copy")
    assert (tmp_path / "copy" / "node_name_order.npy").read_bytes() == (
        tmp_path / "graph" / "node_name_order.npy"
    ).read_bytes()


def test_folder_without_order_is_sorted_at_the_first_lookup(tmp_path: Path) -> None:
    save_contents(replace(contents_of(named(["pear", "fig"])), sort_bytes=10), tmp_path / "graph")
    assert not (tmp_path / "graph" / "node_name_order.npy").exists()
    names = open_graph(tmp_path / "graph").node_name
    assert names is not None
    assert names.order_hint is None
    assert names.index("fig") == 1


def test_wrong_order_is_found(tmp_path: Path) -> None:
    graph = named(["pear", "fig", "plum"])
    contents = contents_of(graph)
    wrong = np.array([1, 2, 0], np.int32)
    save_contents(replace(contents, arrays={**contents.arrays, "node_name_order": wrong}), tmp_path / "graph")
    with pytest.raises(FolderError, match=r"node_name_order.npy: must sort the names, place 2 is not in order"):
        verify_graph(tmp_path / "graph")


@pytest.mark.parametrize("order", [[0, 7], [-1, 0]])
def test_order_outside_the_graph_is_a_fault_of_the_folder(order: list[int]) -> None:
    good = NodeNames.of(["a", "b"])
    names = NodeNames(good.ptr, good.text, np.array(order, np.int32), Path("my-graph"))
    with pytest.raises(FolderError, match=r"^my-graph: node_name_order holds"):
        names.lookup(["a", "b"])


def test_order_must_have_one_id_per_name() -> None:
    good = NodeNames.of(["a", "b"])
    with pytest.raises(ValueError, match="order must have one id per name"):
        NodeNames(good.ptr, good.text, np.array([0], np.int32))
