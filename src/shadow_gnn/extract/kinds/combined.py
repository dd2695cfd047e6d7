"""CombinedExtractor: the best nodes by a weighted sum of the scores of several extractors.

Not for: models that join several scopes of a target; those are branches of a recipe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.core_calls import resolve_threads
from shadow_gnn.extract.induce import induce
from shadow_gnn.extract.kinds.katz import KatzExtractor
from shadow_gnn.extract.kinds.ppr import PprExtractor
from shadow_gnn.extract.options import Topk, check_options
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """One term of a combined score.

    >>> extract.Part(extract.PprExtractor(topk=6), weight=2.0).weight
    2.0
    """

    extractor: BaseExtractor
    """Extractor of these scores; topk, if a recipe leaves it out, is that of the combination."""
    weight: Annotated[float, Gt(0), Le(1_000_000)] = 1.0
    """Factor of the part's scores, which are at most 1 except for the target's."""

    def __post_init__(self) -> None:
        """Check the options."""
        check_options(self)
        if not isinstance(self.extractor, BaseExtractor):
            raise TypeError(
                f"Part: extractor must be one of the kinds of extractors, got {type(self.extractor).__name__}; "
                "cache the scopes of the combination instead of its parts'"
            )


@dataclass(frozen=True)
class CombinedExtractor(BaseExtractor):
    """The best nodes by the weighted sum of several extractors' scores, each normalized for each target.

    Candidates are the nodes of the parts' scopes. A part's scores are divided by the best of them in the same scope
    that is not a target's; a node outside a part's scope gets nothing from it. A node with no path to a target inside
    the scope gives way to the next in rank. The parts have the combination's own hide and num_threads.

    >>> parts = (extract.Part(extract.PprExtractor(), weight=2.0), extract.Part(extract.KatzExtractor()))
    >>> sorted(extract.CombinedExtractor(parts, topk=5)(graph, [0])[0].node_id.tolist())
    [0, 1, 2, 38, 39]
    """

    kind = "combined"

    parts: tuple[Part, ...] = ()
    """Terms of the sum, each a table with weight and extractor; none: ppr and katz with the same weight and topk. A
    larger topk of the parts offers more candidates, and costs accordingly."""
    topk: Topk = 200

    def __post_init__(self) -> None:
        """Check the parts, and fill them in where there are none."""
        super().__post_init__()
        if not isinstance(self.parts, (tuple, list)) or not all(isinstance(part, Part) for part in self.parts):
            raise TypeError(f"CombinedExtractor: parts must be a tuple of Part(extractor, weight), got {self.parts!r}")
        parts = tuple(self.parts) or (Part(PprExtractor(self.topk)), Part(KatzExtractor(self.topk)))
        object.__setattr__(self, "parts", parts)

    @property
    def deterministic(self) -> bool:
        """Whether all parts are."""
        return all(part.extractor.deterministic for part in self.parts)

    @property
    def reads_features(self) -> bool:
        """Whether the choice of any part depends on the features."""
        return any(part.extractor.reads_features for part in self.parts)

    @property
    def reads_changes(self) -> bool:
        """Whether all parts can."""
        return self.scope_graph is None and all(part.extractor.reads_changes for part in self.parts)

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        parts = zip(self.parts, self._extractors, strict=True)
        return self._key_with(parts=" + ".join(f"{part.weight} * ({extractor.key})" for part, extractor in parts))

    def for_evaluation(self) -> CombinedExtractor:
        """Return the combination of the parts for evaluation."""
        return self._with_extractors([part.extractor.for_evaluation() for part in self.parts])

    def with_absolute_paths(self) -> CombinedExtractor:
        """Return the combination with absolute paths in its parts too."""
        located = self._with_extractors([part.extractor.with_absolute_paths() for part in self.parts])
        return super(CombinedExtractor, located).with_absolute_paths()

    def choose(self, graph: Graph, targets: Ints, seed: int) -> Subgraphs:
        """Take the nodes of the highest sum; every part has the same seed."""
        scopes = [extractor(graph, targets, seed=seed) for extractor in self._extractors]
        scores = [part.weight * _normalized(scope, targets) for part, scope in zip(self.parts, scopes, strict=True)]
        ptr, node_id, score = _core.combine_lists(
            [scope.ptr for scope in scopes],
            [scope.node_id for scope in scopes],
            [score.astype(np.float64) for score in scores],
            num_threads=resolve_threads(self.num_threads),
        )
        chosen = induce(graph, targets, ptr, node_id, score, topk=self.topk, **self.common)
        touched = {
            name: np.sum([getattr(scope, name) for scope in scopes], axis=0)
            for name in ("nodes_touched", "edges_touched")
        }
        return replace(chosen, **touched)

    @cached_property
    def _extractors(self) -> tuple[BaseExtractor, ...]:
        """The extractors of the parts, with the hide and num_threads of the combination."""
        shared = {**self.common, "edge_pos": False}
        return tuple(part.extractor.with_common(**shared) for part in self.parts)

    def _with_extractors(self, extractors: list[BaseExtractor]) -> CombinedExtractor:
        parts = zip(self.parts, extractors, strict=True)
        return replace(self, parts=tuple(Part(extractor, part.weight) for part, extractor in parts))


def _normalized(scopes: Subgraphs, groups: Ints) -> Floats:
    """Return the scores as shares of the best one of the same scope that is not a target's. [N]"""
    if len(scopes) == 0:
        return np.empty(0, np.float32)
    row = np.repeat(np.arange(len(scopes)), np.diff(scopes.ptr))
    is_target = (scopes.node_id[:, None] == groups[row]).any(axis=1)
    best = np.maximum.reduceat(np.where(is_target, np.float32(0), scopes.score), scopes.ptr[:-1])  # No scope is empty.
    shares: Floats = np.divide(scopes.score, np.where(best > 0, best, np.float32(1))[row], dtype=np.float32)
    return shares
