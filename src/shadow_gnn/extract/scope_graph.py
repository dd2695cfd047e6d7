"""ScopeGraphExtractor: nodes and scores from another graph on the same nodes, edges from either.

Not for: making the other graph (diffused.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from shadow_gnn.extract.base import Extractor, Hide, check_targets, core_hide, reads_features
from shadow_gnn.extract.given import induce
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

ScopeEdges = Literal["graph", "scope_graph"]
"""Whose edges a scope has."""


@dataclass(frozen=True)
class ScopeGraphExtractor:
    """Let an extractor choose nodes in `scope_graph`, whose nodes are those of the graph.

    With the edges of the graph, a node that no path in the graph joins to a target inside the scope falls out. With
    those of `scope_graph` all chosen nodes stay; positions of edges are then positions in it. Features and labels are
    the graph's in both cases. A link that the extractor hides is hidden in both.
    """

    extractor: Extractor
    """How nodes are chosen; edge_pos, hide and num_threads are what it says of them."""
    scope_graph: Graph
    """Where nodes are chosen and scored."""
    scope_edges: ScopeEdges = "graph"
    """Whose edges a scope has."""

    def __post_init__(self) -> None:
        if self.scope_edges not in get_args(ScopeEdges):
            raise ValueError(
                f"ScopeGraphExtractor: scope_edges must be one of {', '.join(get_args(ScopeEdges))}, "
                f"got {self.scope_edges!r}"
            )

    @property
    def deterministic(self) -> bool:
        """True if the seed does not matter to the extractor."""
        return self.extractor.deterministic

    @property
    def reads_features(self) -> bool:
        """True if the extractor's choice depends on the features, which are the graph's."""
        return reads_features(self.extractor)

    @property
    def edge_pos(self) -> bool:
        """Whether scopes report where each edge stands, in the graph whose edges they have."""
        return bool(getattr(self.extractor, "edge_pos", False))

    @property
    def edge_graph(self) -> Graph | None:
        """Whose edges the scopes have, if not those of the graph."""
        return self.scope_graph if self.scope_edges == "scope_graph" else None

    @property
    def key(self) -> str:
        """Everything that decides a scope beside the graph."""
        other = f"{self.scope_graph.fingerprint} directed={self.scope_graph.directed}"
        return f"{self.extractor.key} scope_graph/1={other} scope_edges={self.scope_edges}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        groups = check_targets(graph, targets, "ScopeGraphExtractor")
        check_scope_graph(self.scope_graph, graph)
        scope_graph = replace(self.scope_graph, x=graph.x) if self.reads_features else self.scope_graph
        scopes = self.extractor(scope_graph, groups, seed=seed)
        if self.scope_edges == "scope_graph":
            return scopes
        return self._on_graph(graph, scopes)

    def _on_graph(self, graph: Graph, scopes: Subgraphs) -> Subgraphs:
        """Induce the chosen nodes on the graph, best first."""
        hide: Hide = getattr(self.extractor, "hide", "none")
        core_hide("ScopeGraphExtractor", hide, scopes.targets)
        scope = np.repeat(np.arange(len(scopes)), np.diff(scopes.ptr))
        order = np.lexsort((-scopes.score, scope))
        induced = induce(
            graph,
            scopes.targets,
            scopes.ptr,
            scopes.node_id[order],
            scopes.score[order],
            edge_pos=self.edge_pos,
            hide=hide,
            num_threads=getattr(self.extractor, "num_threads", 0),
        )
        return replace(induced, nodes_touched=scopes.nodes_touched, edges_touched=scopes.edges_touched)


def check_scope_graph(scope_graph: Graph, graph: Graph) -> None:
    """Raise unless the two graphs have as many nodes and are both directed or both not."""
    name = scope_graph.path or "graph in memory"
    if scope_graph.num_nodes != graph.num_nodes:
        raise ValueError(
            f"{name}: scope_graph must have the {graph.num_nodes} nodes of the graph, got {scope_graph.num_nodes}"
        )
    if scope_graph.directed != graph.directed:
        wanted, got = ("directed" if one.directed else "undirected" for one in (graph, scope_graph))
        raise ValueError(f"{name}: scope_graph must be {wanted} as the graph is, got one that is {got}")
