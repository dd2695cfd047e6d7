"""SimilarExtractor: of the nodes near the target in the graph, those nearest to it in features.

Not for: neighbors in features that the graph does not join to the target (option scope_graph).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor, OtherGraph, fingerprint_of, opened
from shadow_gnn.extract.core_calls import run_core
from shadow_gnn.extract.gather import plain
from shadow_gnn.extract.options import DEFAULT_TELEPORT, NO_CAP, Count, Teleport, Topk
from shadow_gnn.extract.subgraphs import Subgraphs, offsets, stretches
from shadow_gnn.graph.record import DenseFeatures, Features, Graph

_PRECISION = 1.0
"""Coarse is enough: features rank the candidates, so neither their order nor a few at the border matter."""


@dataclass(frozen=True)
class SimilarExtractor(BaseExtractor):
    """The nodes whose features are most like the target's, among those with the highest personalized PageRank.

    The score of a node is (1 + c) / 2, where c is the cosine of the angle between its features and the target's; for
    several targets, the mean of c over them. Features that are all zero count as at a right angle to everything. Of
    equally alike nodes the one of higher PageRank comes first. A node with no path to a target inside the scope gives
    way to the next in rank.

    >>> sorted(extract.SimilarExtractor(topk=5, candidates=10)(graph, [0])[0].node_id.tolist())
    [0, 1, 2, 38, 39]
    """

    kind = "similar"

    topk: Topk = 200
    candidates: Count = 1000
    """Nodes of highest personalized PageRank that are compared with the target, at least topk; as many for each end of
    a pair."""
    teleport: Teleport = DEFAULT_TELEPORT
    index: OtherGraph = None
    """Graph folder of neighbors in features (`shadow data diffuse --kind features`): the target's neighbors there are
    compared too, wherever they are in the graph."""

    def __post_init__(self) -> None:
        """Check that there are enough candidates."""
        super().__post_init__()
        if self.candidates < self.topk:
            raise ValueError(f"SimilarExtractor: candidates must be at least topk, {self.topk}, got {self.candidates}")
        if self.index is not None and not isinstance(self.index, (Graph, str)):
            raise TypeError(
                f"SimilarExtractor: index must be a Graph, its folder or None, got {type(self.index).__name__}"
            )

    @property
    def reads_features(self) -> bool:
        """Scopes depend on the features."""
        return True

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        return self._key_with(index=fingerprint_of(self._index))

    @cached_property
    def _index(self) -> Graph | None:
        return opened("index", self.index)

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Take the candidates that are most like the target."""
        if graph.x is None:
            raise ValueError("SimilarExtractor: graph must have features to compare, got one without")
        more_ptr, more_id = self._more(graph, targets)
        return run_core(
            _core.extract_similar,
            graph,
            targets,
            seed=seed,
            **self.common,
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
        """Return the neighbors of each group in the index, one list after the other; none without an index."""
        index = self._index
        if index is None:
            return None, None
        if index.num_nodes != graph.num_nodes:
            raise ValueError(
                f"SimilarExtractor: index must have the graph's {graph.num_nodes} nodes, got {index.num_nodes}"
            )
        start, stop = index.list_bounds(groups)
        length = stop - start
        joined = stretches(np.ascontiguousarray(index.indices), start.reshape(-1), length.reshape(-1))
        return offsets(length.sum(axis=1)), joined.astype(np.int64)


def _core_features(features: Features) -> Any:
    """Pass features to the core without a copy, except for some made in memory."""

    def ready(array: NDArray[Any]) -> NDArray[Any]:
        return array if plain(array) else np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))

    if isinstance(features, DenseFeatures):
        return _core.Features.dense(ready(features.matrix), None if features.scale is None else ready(features.scale))
    arrays = (ready(features.indptr), ready(features.indices), ready(features.data))
    return _core.Features.sparse(*arrays, features.num_columns)
