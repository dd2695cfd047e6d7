"""The Extractor protocol: the interface between extractors and loaders, models and caches.

Not for: options and their checks (options.py), or the shared base class (base_extractor.py).
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

Hide = Literal["none", "before", "after"]
"""How the edges between the two targets of a pair are treated, in both directions: none leaves them in the scope,
before chooses the scope as if they did not exist, after chooses it with them and removes them from the scope. Of more
than two targets, the first two are the pair; edges between the first and the others are removed from the scope."""


@runtime_checkable
class Extractor(Protocol):
    """Choose a scope for each target: (graph, targets, seed) -> Subgraphs.

    A scope depends only on the graph, the extractor's options, the seed and its own targets: never on the number of
    threads, on the other targets of the call or on their order.

    >>> isinstance(extract.PprExtractor(topk=4), extract.BaseExtractor)
    True
    >>> len(extract.PprExtractor(topk=4)(graph, [0, 7], seed=0))
    2
    """

    @property
    def deterministic(self) -> bool:
        """True if the seed does not matter; scopes can then be kept between epochs."""
        ...

    @property
    def key(self) -> str:
        """Name, version of the algorithm and all options that affect scopes; equal keys give equal scopes."""
        ...

    @property
    def reads_features(self) -> bool:
        """True if scopes depend on the features of the graph."""
        ...

    @property
    def edge_pos(self) -> bool:
        """True if scopes report the position of each edge in the graph."""
        ...

    @property
    def hide(self) -> Hide:
        """How the link between the ends of a pair is treated."""
        ...

    @property
    def num_threads(self) -> int:
        """Threads to use; 0 for every core of this process."""
        ...

    def edge_graph(self, graph: Graph) -> Graph:
        """Return the graph whose edges the scopes have: the given one, or another on the same nodes."""
        ...

    def with_common(
        self, *, edge_pos: bool | None = None, hide: Hide | None = None, num_threads: int | None = None
    ) -> Extractor:
        """Return the same extractor with other values of these three options; None keeps a value."""
        ...

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target; targets are [B] nodes or [B, T] groups that share a scope."""
        ...
