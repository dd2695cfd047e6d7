"""ExtractorDouble: what a loader asks of an extractor beside its scopes, for extractors that tests make up."""

from __future__ import annotations

from typing import Self

from shadow_gnn.extract.protocol import Hide
from shadow_gnn.graph.record import Graph


class ExtractorDouble:
    """Everything of the protocol but the call."""

    deterministic = True
    key = "double"
    reads_features = False
    edge_pos = True
    hide: Hide = "none"
    num_threads = 0

    def edge_graph(self, graph: Graph) -> Graph:
        return graph

    def with_common(
        self, *, edge_pos: bool | None = None, hide: Hide | None = None, num_threads: int | None = None
    ) -> Self:
        return self
