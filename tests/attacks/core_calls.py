"""Hostile calls: sizes that wrap, loops without end, weights that are none, arrays that lie about a graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.attacks.attempt import Attack

from shadow_gnn import _core
from shadow_gnn.extract import HeatExtractor, KhopExtractor, PprExtractor, RwrExtractor
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph.record import DenseFeatures, Graph, SparseFeatures
from shadow_gnn.normal.saint_samplers import WalkSampler

RING = np.arange(9), np.arange(8, dtype=np.int32)
"""Offsets and ids of 8 self-loops."""
NONE = np.zeros(0, np.int32)


def calling(use: Callable[[], object]) -> Callable[[Path], Callable[[], object]]:
    """Return an attack that needs no files."""
    return lambda _: use


def triangle(*weights: float) -> Graph:
    """Return a triangle with weights of its three edges."""
    weight = np.array([weights[0], weights[1], weights[0], weights[2], weights[1], weights[2]], np.float32)
    return Graph(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32), edge_weight=weight)


def lying(indptr: list[int], indices: list[int]) -> Any:
    """Return a view of a graph whose values changed after it was made, as a file's do."""
    offsets, ids = np.zeros(len(indptr), np.int64), np.zeros(len(indices), np.int32)
    offsets[-1] = len(ids)
    view = _core.GraphView(offsets, ids, None, True)
    offsets[:], ids[:] = indptr, indices
    return view


def khop(view: Any, targets: Any, **options: Any) -> object:
    """Call the core directly."""
    given = {"num_hops": 2, "fanout": -1, "replace": False, "max_nodes": 10, "positions": False, "seed": 0}
    return _core.extract_khop(view, targets, **given | {"num_threads": 1} | options)


def outside() -> object:
    """Ask for rows with a column that does not exist."""
    x = SparseFeatures(*RING, np.ones(8, np.float32), 7)
    return feature_rows(Graph(*RING, True, x=x), np.arange(8))


def at_odd_address() -> Any:
    """Return an array of int64 that begins at an odd address."""
    return np.zeros(8 * 3 + 1, np.uint8)[1:].view(np.int64)


ATTACKS = {
    "column_count_that_wraps": Attack(
        calling(lambda: SparseFeatures(np.arange(9), np.arange(8, dtype=np.int32), np.ones(8, np.float32), 2**61)),
        "SparseFeatures: num_columns must be from 0 to below 2^31, got 2305843009213693952",
    ),
    "columns_out_of_range": Attack(calling(outside), "graph in memory: x_indices holds a column outside the matrix"),
    "teleport_of_almost_nothing": Attack(
        calling(lambda: PprExtractor(teleport=1e-17)), "PprExtractor: teleport must be at least 0.001, got 1e-17"
    ),
    "tolerance_of_almost_nothing": Attack(
        calling(lambda: PprExtractor(tolerance=5e-324)), "PprExtractor: tolerance must be at least 1e-15, got 5e-324"
    ),
    "walks_of_two_billion_steps": Attack(
        calling(lambda: WalkSampler(10, 2**31 - 1)), "WalkSampler: walk_length must be from 0 to 1000, got 2147483647"
    ),
    "negative_weights": Attack(
        calling(lambda: PprExtractor()(triangle(3, -2, 1), [0])),
        "Graph: edge_weight must be positive and finite, got -2.0 in row 1",
    ),
    "infinite_weights": Attack(
        calling(lambda: HeatExtractor()(triangle(3, float("inf"), 1), [0])),
        "Graph: edge_weight must be positive and finite, got inf in row 1",
    ),
    "weights_that_are_no_numbers": Attack(
        calling(lambda: PprExtractor()(triangle(3, float("nan"), 1), [0])),
        "Graph: edge_weight must be positive and finite, got nan in row 1",
    ),
    "weights_of_zero": Attack(
        calling(lambda: RwrExtractor()(triangle(3, 0, 1), [0])),
        "Graph: edge_weight must be positive and finite, got 0.0 in row 1",
    ),
    "directed_of_zero": Attack(
        calling(lambda: Graph(*RING, directed=0)), "Graph: directed must be True or False, got 0"
    ),  # type: ignore[arg-type]
    "target_out_of_range": Attack(
        calling(lambda: PprExtractor()(triangle(1, 1, 1), [3])),
        "PprExtractor: targets must be node ids from 0 to 2, got 3",
    ),
    "target_that_is_negative": Attack(
        calling(lambda: PprExtractor()(triangle(1, 1, 1), [-1])),
        "PprExtractor: targets must be node ids from 0 to 2, got -1",
    ),
    "targets_of_floats": Attack(
        calling(lambda: PprExtractor()(triangle(1, 1, 1), [0.5])), "PprExtractor: targets must be integers, got float64"
    ),
    "targets_of_three_dimensions": Attack(
        calling(lambda: PprExtractor()(triangle(1, 1, 1), [[[0]]])),
        "PprExtractor: targets must be [B] or [B, T], got shape [1, 1, 1]",
    ),
    "fanout_of_2_to_40": Attack(
        calling(lambda: KhopExtractor(2, 2**40)), "KhopExtractor: fanout must be at most 100000000, got 1099511627776"
    ),
    "offsets_that_fall": Attack(
        calling(lambda: khop(lying([0, 9, 2, 3], [0, 1, 2]), np.array([[0]]))),
        "indptr of node 0 is not a range of indices",
    ),
    "ids_out_of_range": Attack(
        calling(lambda: khop(lying([0, 1, 2, 3], [9, 1, 2]), np.array([[0]]))),
        "indices holds 9, not a node of a graph of 3",
    ),
    "ids_that_are_negative": Attack(
        calling(lambda: khop(lying([0, 1, 2, 3], [-9, 1, 2]), np.array([[0]]))),
        "indices holds -9, not a node of a graph of 3",
    ),
    "targets_at_an_odd_address": Attack(
        calling(lambda: khop(lying([0, 1, 2, 3], [0, 1, 2]), at_odd_address().reshape(-1, 1))),
        "an array must begin at a multiple of the size of its values",
    ),
    "offsets_at_an_odd_address": Attack(
        calling(lambda: khop(_core.GraphView(at_odd_address(), NONE, None, True), np.array([[0]]))),
        "an array must begin at a multiple of the size of its values",
    ),
    "hops_that_are_negative": Attack(
        calling(lambda: khop(lying([0, 1], [0]), np.array([[0]]), num_hops=-1)), "num_hops must not be negative"
    ),
    "threads_of_minus_one": Attack(
        calling(lambda: khop(lying([0, 1], [0]), np.array([[0]]), num_threads=-1)), "num_threads must be from 1 to 1024"
    ),
    "matrix_of_text": Attack(
        calling(lambda: DenseFeatures(np.array([["a"]]))),
        "DenseFeatures: matrix must be 2-D float32, float16 or int8, got 2-D <U1",
    ),
    "rows_out_of_range": Attack(
        calling(lambda: _core.gather_float(np.ones((5, 3), np.float32), np.array([5]), None, None)),
        "row must be from 0 to below 5, got 5",
    ),
}
