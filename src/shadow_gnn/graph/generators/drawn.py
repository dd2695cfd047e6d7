"""Drawn: the edges, features, labels and splits of a made-up graph, any stretch of them when it is asked for.

Not for: files (folder.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.base.files import Rows
from shadow_gnn.graph.generators.plan import GraphPlan

Array = NDArray[Any]

_SPLIT_STRETCH = 1 << 18


def core_model(plan: GraphPlan) -> _core.GraphModel:
    """Return the compiled core's view of a plan."""
    return _core.GraphModel(
        plan.model,
        num_nodes=plan.num_nodes,
        num_classes=plan.num_classes,
        num_communities=plan.num_communities,
        inside=plan.inside,
        seed=plan.seed,
    )


class DrawnEdges:
    """The edges of a plan in blocks; self-loops and repetitions are among them."""

    def __init__(self, plan: GraphPlan, num_threads: int = 1) -> None:
        """Draw nothing yet."""
        self._model, self._num_threads = core_model(plan), num_threads
        self.num_edges = plan.num_edges

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Give (src, dst) of at most `size` edges at a time, from edge `start` on."""
        for at in range(start, self.num_edges, size):
            yield self._model.edges(at, min(size, self.num_edges - at), self._num_threads)

    def release(self) -> None:
        """Keep the model: it is small."""


class DrawnFeatures:
    """Features [N, F] as rows."""

    def __init__(self, plan: GraphPlan, num_threads: int = 1) -> None:
        """Draw nothing yet."""
        self._model, self._num_threads = core_model(plan), num_threads
        self.dtype: np.dtype[Any] = np.dtype(plan.dtype)
        self.shape: tuple[int, ...] = (plan.num_nodes, plan.num_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        drawn = self._model.features(start, max(stop - start, 0), self.shape[1], self._num_threads)
        return drawn.astype(self.dtype, copy=False)


class DrawnLabels:
    """Classes [N] as rows."""

    def __init__(self, plan: GraphPlan, num_threads: int = 1) -> None:
        """Draw nothing yet."""
        self._model, self._num_threads = core_model(plan), num_threads
        self.dtype: np.dtype[Any] = np.dtype(np.int64)
        self.shape: tuple[int, ...] = (plan.num_nodes,)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        return self._model.labels(start, max(stop - start, 0), self._num_threads)


class _Splits:
    """Which split each node belongs to, and how many nodes of each lie before every stretch of nodes."""

    def __init__(self, plan: GraphPlan, num_threads: int) -> None:
        self._model, self._num_threads, self._num_nodes = core_model(plan), num_threads, plan.num_nodes
        # A share of 100 % must leave nobody out, whatever the rounding.
        ends = [min(1 << 32, round(float(end) / 100 * (1 << 32))) for end in np.cumsum(plan.shares)]
        self._ends = (ends[0], ends[1], ends[2])
        starts = range(0, plan.num_nodes, _SPLIT_STRETCH)
        counts = np.array([np.bincount(self.codes(number), minlength=4) for number in range(len(starts))])
        self.before = np.concatenate((np.zeros((1, 4), np.int64), np.cumsum(counts, axis=0)))

    def codes(self, stretch: int) -> Array:
        """Return 0, 1, 2 for train, valid and test and 3 for none of the nodes of a stretch."""
        start = stretch * _SPLIT_STRETCH
        count = min(_SPLIT_STRETCH, self._num_nodes - start)
        return self._model.splits(start, count, *self._ends, self._num_threads)


class _SplitRows:
    """Ascending node ids of one split as rows."""

    def __init__(self, splits: _Splits, number: int) -> None:
        self._splits, self._number = splits, number
        self.dtype: np.dtype[Any] = np.dtype(np.int64)
        self.shape: tuple[int, ...] = (int(splits.before[-1, number]),)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        before = self._splits.before[:, self._number]
        if start >= stop:
            return np.zeros(0, np.int64)
        first = int(np.searchsorted(before, start, side="right")) - 1
        last = int(np.searchsorted(before, stop, side="left"))
        parts = [
            number * _SPLIT_STRETCH + np.flatnonzero(self._splits.codes(number) == self._number)
            for number in range(first, last)
        ]
        return np.concatenate(parts)[start - before[first] : stop - before[first]]


def drawn_splits(plan: GraphPlan, num_threads: int = 1) -> dict[str, Rows]:
    """Return the node ids of train, valid and test; a share of 0 gives no split."""
    splits = _Splits(plan, num_threads)
    return {
        name: _SplitRows(splits, number)
        for number, name in enumerate(("train", "valid", "test"))
        if plan.shares[number] > 0
    }
