"""Statistics: the paper's table, and a line for each thing in which a graph differs from it."""

from dataclasses import replace

import numpy as np
import pytest

from shadow_gnn.graph.datasets.statistics import (
    PAPER,
    PYG,
    Statistics,
    dataset_differences,
    dataset_statistics,
    entry_range,
    listing_differences,
)
from shadow_gnn.graph.importing.build import build_graph
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures

# Nodes, edges, features, classes, shares: Table "Dataset statistics" of the paper, row by row.
TABLE = """
flickr 89250 899756 500 7 0.50 0.25 0.25
reddit 232965 11606919 602 41 0.66 0.10 0.24
yelp 716847 6977410 300 100 0.75 0.10 0.15
ogbn-arxiv 169343 1166243 128 40 0.54 0.18 0.29
ogbn-products 2449029 61859140 100 47 0.10 0.02 0.88
ogbn-papers100M 111059956 1615685872 128 172 0.78 0.08 0.14
ogbl-collab 235868 1285465 128 - 0.92 0.04 0.04
"""
PRINTED = {name: row for name, *row in map(str.split, TABLE.strip().split("\n"))}

SPLITS = {"train": np.array([0, 1]), "valid": np.array([2]), "test": np.array([3])}
GRAPH = replace(
    from_edges([0, 1, 2], [1, 2, 3]),
    x=DenseFeatures(np.ones((4, 2), np.float32)),
    y=np.array([0, 1, 2, 0]),
    splits=SPLITS,
)
EXPECTED = Statistics(4, 3, "undirected", 2, 3, sizes=(2, 1, 1), entries=6)


def test_the_table_is_the_papers():
    assert list(PAPER) == list(PRINTED)
    for name, (nodes, edges, columns, classes, *_) in PRINTED.items():
        known = PAPER[name]
        assert [known.num_nodes, known.edges, known.num_columns] == [int(nodes), int(edges), int(columns)]
        assert known.num_classes == (None if classes == "-" else int(classes))


@pytest.mark.parametrize("name", PAPER)
def test_sizes_of_splits_fit_the_printed_shares(name):
    known = PAPER[name]
    total = known.edges if known.counting == "pairs" else sum(size or 0 for size in known.sizes)
    for size, share in zip(known.sizes, map(float, PRINTED[name][4:]), strict=True):
        if size is None or None in known.sizes:
            continue
        # The paper's shares of products are not those of the split that OGB publishes.
        assert abs(size / total - share) < (0.03 if name == "ogbn-products" else 0.008)
    if name != "ogbn-papers100M" and known.counting != "pairs" and None not in known.sizes:
        assert total == known.num_nodes


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("flickr", 899_756),
        ("reddit", 2 * 11_606_919),
        ("yelp", 2 * 6_977_410 - 1),
        ("ogbn-arxiv", 1_166_243),
        ("ogbn-products", 61_859_140),
        ("ogbn-papers100M", 1_615_685_872),
        ("ogbl-collab", 1_285_465 - 60_084 - 46_329),
    ],
)
def test_each_convention_says_what_the_raw_files_list(name, listed):
    assert PAPER[name].listed == listed


@pytest.mark.parametrize(
    ("counting", "expected"),
    [("both ways", (90, 100)), ("undirected", (180, 200)), ("links", (90, 200)), ("pairs", (1, 200))],
)
def test_a_convention_allows_a_range_of_entries(counting, expected):
    assert entry_range(Statistics(10, 100, counting, 1, 1)) == expected
    assert entry_range(Statistics(10, 100, counting, 1, 1, entries=95)) == (95, 95)


@pytest.mark.parametrize("name", [*PAPER, *PYG])
def test_counted_entries_fit_the_published_number(name):
    known = dataset_statistics(name)
    least, most = entry_range(replace(known, entries=None))
    assert known.entries is None or least <= known.entries <= most


def test_an_equal_graph_has_no_difference():
    assert dataset_differences("flickr", GRAPH, expected=EXPECTED) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"num_nodes": 1_005}, "nodes must be 1,005, got 4"),
        ({"entries": 8}, "edges must be 8 counting both directions, got 6 (undirected)"),
        ({"entries": None, "edges": 20}, "edges must be 32 to 40 counting both directions, got 6 (undirected)"),
        ({"num_columns": 500}, "feature columns must be 500, got 2"),
        ({"num_classes": 7}, "classes must be 7, got 3"),
        ({"multi_label": True}, "yes/no labels per node must be 3, got none"),
        ({"sizes": (2, 3, None)}, "valid nodes must be 3, got 1"),
    ],
)
def test_each_difference_is_one_line(changes, line):
    assert dataset_differences("flickr", GRAPH, expected=replace(EXPECTED, **changes)) == [line]


def test_parts_that_are_missing_differ():
    bare = replace(GRAPH, x=None, y=None, splits={})
    assert dataset_differences("flickr", bare, expected=EXPECTED) == [
        "feature columns must be 2, got 0",
        "classes must be 3, got none",
        "train nodes must be 2, got 0",
        "valid nodes must be 1, got 0",
        "test nodes must be 1, got 0",
    ]


def test_a_directed_graph_differs():
    directed = from_edges([0, 1, 2, 0, 1, 0], [1, 2, 3, 2, 3, 3], undirected=False)
    lines = dataset_differences(
        "flickr", directed, expected=replace(EXPECTED, num_columns=0, num_classes=None, sizes=None)
    )
    assert lines == ["edges must be 6 counting both directions, got 6 (directed)"]


def test_pairs_count_all_positive_links():
    pairs = {"train_pos": np.array([[0, 1], [1, 2], [2, 3], [0, 1]]), "valid_pos": np.array([[0, 2]])}
    pairs |= {"valid_neg": np.array([[0, 3]]), "test_pos": np.array([[1, 3]])}
    graph = replace(GRAPH, y=None, splits={}, pairs=pairs)
    wanted = Statistics(4, 6, "pairs", 2, None, sizes=(4, 1, 1))
    assert dataset_differences("ogbl-collab", graph, expected=wanted) == []
    assert dataset_differences("ogbl-collab", graph, expected=replace(wanted, edges=7, sizes=(4, 2, 1))) == [
        "positive pairs of all splits must be 7, got 6",
        "valid pairs must be 2, got 1",
    ]


def test_the_listing_of_the_raw_files_is_compared():
    _, summary = build_graph([0, 1, 1], [1, 0, 1], 2)
    assert listing_differences("flickr", summary, expected=replace(EXPECTED, listed=3)) == []
    assert listing_differences("flickr", summary, expected=EXPECTED) == []
    assert listing_differences("flickr", summary) == ["edges listed in the raw files must be 899,756, got 3"]


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"statistics: name must be one of flickr, .*, got 'flicker'"):
        dataset_statistics("flicker")
