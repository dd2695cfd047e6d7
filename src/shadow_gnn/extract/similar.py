"""SimilarExtractor: of the nodes near the target in the graph, those nearest to it in features.

Not for: neighbours in features that the graph does not join to the target; see scope_graph.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base import (
    NO_CAP,
    Hide,
    check_common,
    check_int,
    check_share,
    check_targets,
    common_key,
    extract_by,
)
from shadow_gnn.extract.ppr import DEFAULT_TELEPORT
from shadow_gnn.extract.rows import plain
from shadow_gnn.extract.subgraphs import Subgraphs, offsets, stretches
from shadow_gnn.graph.record import DenseFeatures, Features, Graph

_PRECISION = 1.0
"""Candidates are only the field from which features choose: their order does not matter, nor a few at its border."""


@dataclass(frozen=True)
class SimilarExtractor:
    """The topk nodes whose features are most like the target's, among those with the highest personalised PageRank.

    The score of a node is (1 + c) / 2, where c is the cosine of the angle between its features and the target's; for
    several targets, the mean of c over them. Features that are all zero count as at a right angle to everything. Of
    equally alike nodes the one of higher PageRank comes first. A node with no path to a target inside the scope gives
    way to the next in rank.
    """

    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    candidates: int = 1000
    """Nodes of highest personalised PageRank that are compared; of several targets, as many for each."""
    teleport: float = DEFAULT_TELEPORT
    """Restart probability of the walk that chooses the candidates."""
    index: Graph | None = None
    """A graph of neighbours in features on the same nodes (diffused.py): the target's neighbours there are candidates
    too, wherever they are in the graph."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide)."""
    num_threads: int = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        owner = "SimilarExtractor"
        check_int(owner, "topk", self.topk, 1)
        check_int(owner, "candidates", self.candidates, 1)
        if self.candidates < self.topk:
            raise ValueError(f"{owner}: candidates must be at least topk ({self.topk}), got {self.candidates}")
        check_share(owner, "teleport", self.teleport)
        if self.index is not None and not isinstance(self.index, Graph):
            raise TypeError(f"{owner}: index must be a Graph or None, got {type(self.index).__name__}")
        check_common(self)

    @property
    def deterministic(self) -> bool:
        """The seed does not matter."""
        return True

    @property
    def reads_features(self) -> bool:
        """Scopes depend on the features too."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        index = None if self.index is None else self.index.fingerprint
        return (
            f"similar/1 topk={self.topk} candidates={self.candidates} teleport={self.teleport!r} index={index} "
            f"{common_key(self)}"
        )

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        groups = check_targets(graph, targets, "SimilarExtractor")
        if graph.x is None:
            raise ValueError("SimilarExtractor: graph must have features to compare, got one without")
        more_ptr, more_id = self._more(graph, groups)
        return extract_by(
            _core.extract_similar,
            self,
            graph,
            groups,
            seed=seed,
            features=_core_features(graph.x),
            topk=self.topk,
            candidates=self.candidates,
            teleport=self.teleport,
            precision=_PRECISION,
            more_ptr=more_ptr,
            more_id=more_id,
            max_nodes=NO_CAP,
        )

    def _more(
        self, graph: Graph, groups: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """Return the neighbours of each group in the index, one list after the other; none without an index."""
        index = self.index
        if index is None:
            return None, None
        if index.num_nodes != graph.num_nodes:
            raise ValueError(
                f"SimilarExtractor: index must have the graph's {graph.num_nodes} nodes, got {index.num_nodes}"
            )
        start = np.asarray(index.indptr[groups], dtype=np.int64)
        length = np.asarray(index.indptr[groups + 1], dtype=np.int64) - start
        joined = stretches(np.ascontiguousarray(index.indices), start.reshape(-1), length.reshape(-1))
        return offsets(length.sum(axis=1)), joined.astype(np.int64)


def _core_features(features: Features) -> Any:
    """Hand features to the core where they lie; only those made in memory may need a copy."""

    def ready(array: NDArray[Any]) -> NDArray[Any]:
        return array if plain(array) else np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))

    if isinstance(features, DenseFeatures):
        return _core.Features.dense(ready(features.matrix), None if features.scale is None else ready(features.scale))
    arrays = (ready(features.indptr), ready(features.indices), ready(features.data))
    return _core.Features.sparse(*arrays, features.num_columns)
