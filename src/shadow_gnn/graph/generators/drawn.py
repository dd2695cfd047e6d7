"""Drawn: the edges, features, labels and splits of a synthetic graph, any range of them on request.

Not for: files (folder.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shadow_gnn import _core
from shadow_gnn.base.files import LazyRows
from shadow_gnn.graph.generators.plan import GraphPlan
from shadow_gnn.graph.record import Array

_SPLIT_STRETCH = 1 << 18


def core_model(plan: GraphPlan) -> _core.GraphModel:
    """Return a plan as an object of the compiled core."""
    return _core.GraphModel(
        plan.model,
        num_nodes=plan.num_nodes,
        num_classes=plan.num_classes,
        num_communities=plan.num_communities,
        inside=plan.inside,
        seed=plan.seed,
    )


class DrawnEdges:
    """The edges of a plan in blocks, including self-loops and repetitions."""

    def __init__(self, plan: GraphPlan, num_threads: int = 1) -> None:
        """Keep the plan; edges are drawn by blocks()."""
        self._model, self._num_threads = core_model(plan), num_threads
        self.num_edges = plan.num_edges

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield (src, dst) of at most `size` edges at a time, from edge `start` on."""
        for at in range(start, self.num_edges, size):
            yield self._model.edges(at, min(size, self.num_edges - at), self._num_threads)

    def release(self) -> None:
        """Keep the model, which is small."""


def drawn_features(plan: GraphPlan, num_threads: int = 1) -> LazyRows:
    """Return the features as rows. [N, F]"""
    model, dtype = core_model(plan), np.dtype(plan.dtype)

    def read(start: int, stop: int) -> Array:
        return model.features(start, stop - start, plan.num_columns, num_threads).astype(dtype, copy=False)

    return LazyRows((plan.num_nodes, plan.num_columns), dtype, read)


def drawn_labels(plan: GraphPlan, num_threads: int = 1) -> LazyRows:
    """Return the classes as rows. [N]"""
    model = core_model(plan)
    shape, dtype = (plan.num_nodes,), np.dtype(np.int64)
    return LazyRows(shape, dtype, lambda start, stop: model.labels(start, stop - start, num_threads))


class _Splits:
    """The split of each node, and the number of nodes of each split before every stretch of nodes."""

    def __init__(self, plan: GraphPlan, num_threads: int) -> None:
        self._model, self._num_threads, self._num_nodes = core_model(plan), num_threads, plan.num_nodes
        # A share of 100 % must include every node, whatever the rounding.
        ends = [min(1 << 32, round(float(end) / 100 * (1 << 32))) for end in np.cumsum(plan.shares)]
        self._ends = (ends[0], ends[1], ends[2])
        starts = range(0, plan.num_nodes, _SPLIT_STRETCH)
        counts = np.array([np.bincount(self.codes(number), minlength=4) for number in range(len(starts))])
        self.before = np.concatenate((np.zeros((1, 4), np.int64), np.cumsum(counts, axis=0)))

    def codes(self, stretch: int) -> Array:
        """Return the code of each node of a stretch: 0, 1, 2 for train, valid and test, 3 for none."""
        start = stretch * _SPLIT_STRETCH
        count = min(_SPLIT_STRETCH, self._num_nodes - start)
        return self._model.splits(start, count, *self._ends, self._num_threads)

    def rows(self, code: int) -> LazyRows:
        """Return the node ids of one split as rows."""
        before = self.before[:, code]

        def read(start: int, stop: int) -> Array:
            if start >= stop:
                return np.zeros(0, np.int64)
            first = int(np.searchsorted(before, start, side="right")) - 1
            last = int(np.searchsorted(before, stop, side="left"))
            parts = [at * _SPLIT_STRETCH + np.flatnonzero(self.codes(at) == code) for at in range(first, last)]
            return np.concatenate(parts)[start - before[first] : stop - before[first]]

        return LazyRows((int(before[-1]),), np.dtype(np.int64), read)


def drawn_splits(plan: GraphPlan, num_threads: int = 1) -> dict[str, LazyRows]:
    """Return the ascending node ids of train, valid and test; a share of 0 gives no split."""
    splits = _Splits(plan, num_threads)
    shares = zip(("train", "valid", "test"), plan.shares, strict=True)
    return {name: splits.rows(number) for number, (name, share) in enumerate(shares) if share > 0}
