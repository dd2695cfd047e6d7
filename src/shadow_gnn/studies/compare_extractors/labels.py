"""Labels: the classes visible to a comparison.

Not for: statistics of them (contents.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shadow_gnn.extract.gather import array_rows
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.studies.compare_extractors.contents import UNKNOWN
from shadow_gnn.tasks.task import label_kind, split_targets

_BLOCK_NODES = 1 << 20


@dataclass(frozen=True, eq=False)
class SeenLabels:
    """The visible classes of a graph."""

    graph: Graph
    """The graph."""
    nodes: Ints | None
    """Nodes with a visible class, ascending; None for all known ones."""
    num_known: int
    """Number of visible classes."""

    def of(self, node_id: Ints) -> Ints:
        """Return the class of each node, UNKNOWN for hidden ones. [N]"""
        rows = array_rows(self.graph, "y", node_id)
        assert rows is not None
        label = np.where(rows < 0, UNKNOWN, rows).astype(np.int64)
        if self.nodes is not None:
            place = np.minimum(np.searchsorted(self.nodes, node_id), len(self.nodes) - 1)
            label[self.nodes[place] != node_id] = UNKNOWN
        return label


def seen_labels(graph: Graph) -> tuple[SeenLabels | None, str]:
    """Return the visible classes, or None, and a line about them: those of the training nodes, if the graph has splits.

    The classes of validation and test would leak the labels that judge the models.
    """
    if graph.y is None or label_kind(graph) != "classes":
        what = "no labels" if graph.y is None else "no classes"
        return None, f"homophily and entropy are missing: the graph has {what}"
    if graph.splits:
        if "train" not in graph.splits:
            return None, "homophily and entropy are missing: the graph has no split train"
        nodes = np.sort(split_targets(graph, "train"))
        return SeenLabels(graph, nodes, len(nodes)), (
            f"homophily and entropy see the classes of the {len(nodes):,} training nodes alone"
        )
    blocks = range(0, graph.num_nodes, _BLOCK_NODES)
    count = sum(int((np.asarray(graph.y[start : start + _BLOCK_NODES]) >= 0).sum()) for start in blocks)
    return SeenLabels(graph, None, count), f"homophily and entropy see the classes of all {count:,} labeled nodes"
