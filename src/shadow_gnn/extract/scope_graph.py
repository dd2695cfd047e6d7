"""Scope graph: nodes chosen in another graph on the same nodes, with the edges of the graph.

Not for: making the other graph (diffused/), or the option that names it (base_extractor.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shadow_gnn.extract.induce import induce
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


def on_graph(graph: Graph, scopes: Subgraphs, common: dict[str, Any]) -> Subgraphs:
    """Induce nodes chosen in another graph on this one, best first; common: the extractor's common options.

    A node with no path to a target inside the scope is dropped. A hidden link is hidden here too.
    """
    scope = np.repeat(np.arange(len(scopes)), np.diff(scopes.ptr))
    order = np.lexsort((-scopes.score, scope))
    induced = induce(graph, scopes.targets, scopes.ptr, scopes.node_id[order], scopes.score[order], **common)
    return replace(induced, nodes_touched=scopes.nodes_touched, edges_touched=scopes.edges_touched)


def check_scope_graph(scope_graph: Graph, graph: Graph) -> None:
    """Raise unless both graphs have the same number of nodes and are both directed or both undirected."""
    name = scope_graph.path or "graph in memory"
    if scope_graph.num_nodes != graph.num_nodes:
        raise ValueError(
            f"{name}: scope_graph must have the {graph.num_nodes} nodes of the graph, got {scope_graph.num_nodes}"
        )
    if scope_graph.directed != graph.directed:
        wanted, got = ("directed" if one.directed else "undirected" for one in (graph, scope_graph))
        raise ValueError(f"{name}: scope_graph must be {wanted} as the graph is, got one that is {got}")
