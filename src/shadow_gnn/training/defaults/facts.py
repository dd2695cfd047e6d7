"""Facts: the numbers of a graph that the default recipe depends on.

Not for: a full description of a graph (studies/analysis/describe.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.homophily import edge_homophily
from shadow_gnn.graph.record import Graph
from shadow_gnn.tasks.task import Target, label_kind, split_targets

_MOST_EDGES = 50_000_000


@dataclass(frozen=True)
class GraphFacts:
    """A graph in the numbers that matter for its default recipe."""

    kind: Target
    """Kind of label."""
    num_train: int
    """Training targets with known labels."""
    homophily: float | None
    """Share of the edges between training targets that join equal classes; None if there are none, or no classes."""
    degree: float
    """Mean number of neighbors of a node."""


def graph_facts(graph: Graph) -> GraphFacts:
    """Collect the facts; only the labels of training targets are read."""
    kind, train = label_kind(graph), split_targets(graph, "train")
    homophily = None
    if kind == "classes" and graph.num_edges <= _MOST_EDGES:
        classes = np.full(graph.num_nodes, -1, np.int64)
        labels = array_rows(graph, "y", train)
        assert labels is not None
        classes[train] = labels
        homophily = edge_homophily(graph, classes)
    return GraphFacts(kind, len(train), homophily, graph.num_edges / graph.num_nodes)
