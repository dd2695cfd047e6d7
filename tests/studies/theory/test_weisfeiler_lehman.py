"""1-WL against a refinement written out by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.theory.weisfeiler_lehman import color_refinement


def slow_refinement(graph, num_rounds):
    color = [0] * graph.num_nodes
    for _ in range(num_rounds):
        lists = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]] for v in range(graph.num_nodes)]
        keys = [(color[v], tuple(sorted(color[u] for u in row))) for v, row in enumerate(lists)]
        names = {key: number for number, key in enumerate(sorted(set(keys)))}
        color = [names[key] for key in keys]
    return color


def partition(colors):
    """Return the colors renumbered in the order in which nodes meet them."""
    first = list(dict.fromkeys(list(colors)))
    return [first.index(color) for color in colors]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20), st.integers(0, 4))
def test_colors_are_those_of_the_slow_way(edges, num_rounds):
    src, dst = np.array(edges, np.int64).reshape(-1, 2).T
    graph = from_edges(src, dst, 9)
    found = color_refinement(graph.indptr, graph.indices, num_rounds)
    assert found.shape == (num_rounds + 1, 9)
    assert partition(found[-1].tolist()) == partition(slow_refinement(graph, num_rounds))


def test_path_is_refined_from_its_ends():
    path = from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])
    rounds = color_refinement(path.indptr, path.indices, 3)
    assert [len(set(colors)) for colors in rounds.tolist()] == [1, 2, 3, 3]
    assert partition(rounds[2].tolist()) == [0, 1, 2, 2, 1, 0]


def test_starts_from_given_colors():
    path = from_edges([0, 1], [1, 2])
    found = color_refinement(path.indptr, path.indices, 1, start=np.array([7, 7, 9]))
    assert partition(found[0].tolist()) == [0, 0, 1]
    assert len(set(found[1].tolist())) == 3
