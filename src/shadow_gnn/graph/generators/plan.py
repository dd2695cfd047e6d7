"""Plan: the description of a synthetic graph, and its disk need.

Not for: drawing it (drawn.py) or writing it (folder.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shadow_gnn.graph.importing.bounded.out_of_core import MAX_NODES, disk_bytes

Model = Literal["dcsbm", "rmat"]
FeatureDtype = Literal["float16", "float32"]

COMMUNITY_NODES = 10_000
"""Nodes of a community in large graphs: the same at every size, so that neighborhoods are similar."""
_MAX_EDGES = 1 << 40
_ITEM_BYTES = {"float16": 2, "float32": 4}


@dataclass(frozen=True)
class GraphPlan:
    """A synthetic graph; equal plans give equal folders, bit for bit.

    >>> plan = sg.GraphPlan("dcsbm", num_nodes=1000, degree=8, num_columns=4)
    >>> plan.num_classes
    16
    """

    model: Model
    """dcsbm: communities and power-law degrees (degree-corrected stochastic block model); rmat: recursive quadrants."""
    num_nodes: int
    """N."""
    degree: float
    """Mean number of neighbors before self-loops and repetitions, a few percent, are removed."""
    num_columns: int = 128
    """Feature columns F; 0 for none."""
    num_classes: int = 16
    """Classes C of the labels."""
    dtype: FeatureDtype = "float16"
    """Storage of features."""
    inside: float = 0.8
    """Share of edges that stay in their community; for dcsbm only."""
    shares: tuple[float, float, float] = (60.0, 20.0, 20.0)
    """Percentages of nodes for train, valid and test."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        if self.model not in ("dcsbm", "rmat"):
            raise ValueError(f"GraphPlan: model must be dcsbm or rmat, got {self.model!r}")
        if not 1 <= self.num_nodes <= MAX_NODES:
            raise ValueError(f"GraphPlan: num_nodes must be from 1 to {MAX_NODES}, got {self.num_nodes}")
        if not (0 <= self.degree <= self.num_nodes - 1 and self.degree * self.num_nodes / 2 <= _MAX_EDGES):
            raise ValueError(f"GraphPlan: degree must be from 0 to {self.num_nodes - 1}, got {self.degree}")
        if not 0 <= self.num_columns <= 1 << 16:
            raise ValueError(f"GraphPlan: num_columns must be from 0 to 65536, got {self.num_columns}")
        if not 1 <= self.num_classes <= min(self.num_nodes, 4096):
            most = min(self.num_nodes, 4096)
            raise ValueError(f"GraphPlan: num_classes must be from 1 to {most}, got {self.num_classes}")
        if self.dtype not in _ITEM_BYTES:
            raise ValueError(f"GraphPlan: dtype must be float16 or float32, got {self.dtype!r}")
        if not 0 <= self.inside <= 1:
            raise ValueError(f"GraphPlan: inside must be from 0 to 1, got {self.inside}")
        if min(self.shares) < 0 or not sum(self.shares) <= 100:
            raise ValueError(f"GraphPlan: shares must be percentages that sum to at most 100, got {self.shares}")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"GraphPlan: seed must be from 0 to 2^64 - 1, got {self.seed}")

    @property
    def num_edges(self) -> int:
        """Number of undirected edges drawn."""
        return round(self.num_nodes * self.degree / 2)

    @property
    def num_communities(self) -> int:
        """Number of communities of the block model, each of one class."""
        return min(self.num_nodes, max(self.num_classes, round(self.num_nodes / COMMUNITY_NODES)))


@dataclass(frozen=True)
class DiskNeed:
    """Bytes of a synthetic graph on disk, rounded up."""

    topology: int
    """Neighbor lists, if no edge were drawn twice."""
    features: int
    """Features."""
    others: int
    """Labels and splits."""
    largest: int
    """Peak while the folder is made."""

    @property
    def total(self) -> int:
        """The finished folder."""
        return self.topology + self.features + self.others


def disk_need(plan: GraphPlan) -> DiskNeed:
    """Return the disk need of a plan.

    >>> need = sg.disk_need(sg.GraphPlan("rmat", num_nodes=1024, degree=8, num_columns=4))
    >>> need.features, need.largest > need.features
    (8192, True)
    """
    topology = 2 * plan.num_edges * 4 + (plan.num_nodes + 1) * 8
    features = plan.num_nodes * plan.num_columns * _ITEM_BYTES[plan.dtype]
    # A label and a node id in a split have 8 bytes each; headers and graph.json are rounded up.
    others = 8 * plan.num_nodes + int(8 * plan.num_nodes * sum(plan.shares) / 100) + (1 << 14)
    building = disk_bytes(plan.num_nodes, plan.num_edges)
    return DiskNeed(topology, features, others, max(building, topology + features + others))
