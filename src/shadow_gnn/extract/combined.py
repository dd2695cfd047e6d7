"""CombinedExtractor: the best nodes by a weighted sum of the scores of several extractors.

Not for: models that join several scopes of a target; those are branches of a recipe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.base import (
    Extractor,
    Hide,
    check_common,
    check_int,
    check_targets,
    common_key,
    core_hide,
    reads_features,
    resolve_threads,
)
from shadow_gnn.extract.given import induce
from shadow_gnn.extract.katz import KatzExtractor
from shadow_gnn.extract.ppr import PprExtractor
from shadow_gnn.extract.scope_graph import ScopeGraphExtractor
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Parts = tuple[tuple[float, Extractor], ...]

_DEFAULT_PARTS: Parts = ((1.0, PprExtractor()), (1.0, KatzExtractor()))


@dataclass(frozen=True)
class CombinedExtractor:
    """The topk best nodes by the weighted sum of several extractors' scores, each normalised for each target.

    Candidates are the nodes of the parts' scopes. A part's scores are divided by the best of them in the same scope
    that is not a target's; a node outside a part's scope has nothing from it. A node with no path to a target inside
    the scope gives way to the next in rank.
    """

    parts: Parts = _DEFAULT_PARTS
    """(weight, extractor) of each part. The candidates are what is in any part's scope: give the extractors a larger
    topk where what is second best for all of them is to be among them; it costs accordingly."""
    topk: int = 200
    """Most nodes of a scope, the target included; of a scope with several targets, as many for each."""
    edge_pos: bool = False
    """Report where each edge stands in the graph, to look up its id, weight and features."""
    hide: Hide = "none"
    """What becomes of the link between the ends of a pair (see base.Hide), in all parts alike."""
    num_threads: int = 0
    """Threads to use, in all parts alike; 0 for every core of this process."""

    def __post_init__(self) -> None:
        check_int("CombinedExtractor", "topk", self.topk, 1)
        check_common(self)
        object.__setattr__(self, "parts", _checked_parts(self.parts))

    @property
    def deterministic(self) -> bool:
        """Whether all parts are."""
        return all(part.deterministic for _, part in self.parts)

    @property
    def reads_features(self) -> bool:
        """Whether the choice of any part depends on the features."""
        return any(reads_features(part) for _, part in self.parts)

    @property
    def key(self) -> str:
        """Everything that decides a scope."""
        parts = " + ".join(f"{weight!r} * ({part.key})" for weight, part in self._alike())
        return f"combined/1 topk={self.topk} {common_key(self)} {parts}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target; every part has the same seed."""
        groups = check_targets(graph, targets, "CombinedExtractor")
        core_hide("CombinedExtractor", self.hide, groups)
        scopes = [part(graph, groups, seed=seed) for _, part in self._alike()]
        scores = [weight * _normalised(scope, groups) for (weight, _), scope in zip(self.parts, scopes, strict=True)]
        ptr, node_id, score = _core.combine_lists(
            [scope.ptr for scope in scopes],
            [scope.node_id for scope in scopes],
            [score.astype(np.float64) for score in scores],
            num_threads=resolve_threads(self.num_threads),
        )
        chosen = induce(
            graph,
            groups,
            ptr,
            node_id,
            score,
            topk=self.topk,
            edge_pos=self.edge_pos,
            hide=self.hide,
            num_threads=self.num_threads,
        )
        return replace(
            chosen,
            nodes_touched=_total([scope.nodes_touched for scope in scopes]),
            edges_touched=_total([scope.edges_touched for scope in scopes]),
        )

    def _alike(self) -> Parts:
        """Return the parts with this extractor's own ways to hide and to use threads."""
        options = {"hide": self.hide, "num_threads": self.num_threads, "edge_pos": False}
        return tuple((weight, _with_options(part, options)) for weight, part in self.parts)


def _checked_parts(parts: Sequence[tuple[float, Extractor]]) -> Parts:
    if not isinstance(parts, Sequence) or not parts:
        raise ValueError(f"CombinedExtractor: parts must be at least one (weight, extractor), got {parts!r}")
    for part in parts:
        if not isinstance(part, Sequence) or len(part) != 2 or not isinstance(part[1], Extractor):
            raise TypeError(f"CombinedExtractor: parts must be pairs (weight, extractor), got {part!r}")
        if not isinstance(part[0], (int, float)) or not 0 < part[0] < math.inf:
            raise ValueError(f"CombinedExtractor: weight of a part must be above 0, got {part[0]!r}")
        own: Any = part[1].extractor if isinstance(part[1], ScopeGraphExtractor) else part[1]
        if not is_dataclass(own) or "hide" not in (field.name for field in fields(own)):
            raise TypeError(
                "CombinedExtractor: extractor of a part must have an option hide, "
                f"got {type(part[1]).__name__}; keep the scopes of the combination instead of its parts'"
            )
    return tuple((float(weight), extractor) for weight, extractor in parts)


def _with_options(part: Extractor, options: dict[str, Any]) -> Extractor:
    if isinstance(part, ScopeGraphExtractor):
        return replace(part, extractor=_with_options(part.extractor, options))
    assert is_dataclass(part)
    known = {field.name for field in fields(part)}
    changed: Any = replace(part, **{name: value for name, value in options.items() if name in known})
    found: Extractor = changed
    return found


def _normalised(scopes: Subgraphs, groups: Ints) -> Floats:
    """Return the scores as shares of the best one of the same scope that is not a target's. [N]"""
    if len(scopes) == 0:
        return np.empty(0, np.float32)
    row = np.repeat(np.arange(len(scopes)), np.diff(scopes.ptr))
    is_target = (scopes.node_id[:, None] == groups[row]).any(axis=1)
    best = np.maximum.reduceat(np.where(is_target, np.float32(0), scopes.score), scopes.ptr[:-1])  # No scope is empty.
    shares: Floats = np.divide(scopes.score, np.where(best > 0, best, np.float32(1))[row], dtype=np.float32)
    return shares


def _total(counts: list[Ints]) -> Ints:
    added: Ints = np.sum(counts, axis=0)
    return added
