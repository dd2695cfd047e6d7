"""A graph with changes in dictionaries, one by one, and the same changes in a ChangedGraph; for comparison."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from shadow_gnn.graph.changes.changed_graph import ChangedGraph, NewEdges
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames

WEIGHTS = [0.25, 0.7, 1.0, 3.0]


def features_of(node: int) -> list[float]:
    return [float(np.cos(node * step)) for step in (1.0, 2.5, 4.2)]


def attr_of(value: float, sender: int, receiver: int) -> list[float]:
    low, high = sorted((sender, receiver))
    return [value, float(low), float(high)]


@dataclass
class Plain:
    """The slow, obvious twin: a dictionary of entries, and a graph built from scratch out of it."""

    num_nodes: int
    directed: bool
    weighted: bool
    wide: bool
    entries: dict[tuple[int, int], float] = field(default_factory=dict)

    def ways(self, sender: int, receiver: int) -> list[tuple[int, int]]:
        return [(receiver, sender)] if self.directed else [(receiver, sender), (sender, receiver)]

    def set(self, sender: int, receiver: int, value: float) -> None:
        for way in self.ways(sender, receiver):
            self.entries[way] = value

    def remove(self, sender: int, receiver: int) -> None:
        for way in self.ways(sender, receiver):
            self.entries.pop(way, None)

    def graph(self) -> Graph:
        ordered = sorted(self.entries)
        sizes = np.bincount([row for row, _ in ordered], minlength=self.num_nodes)[: self.num_nodes]
        values = np.array([self.entries[key] for key in ordered], np.float32)
        attr = [attr_of(self.entries[key], key[1], key[0]) for key in ordered]
        return Graph(
            indptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            indices=np.array([column for _, column in ordered], np.int64 if self.wide else np.int32),
            directed=self.directed,
            x=DenseFeatures(np.array([features_of(node) for node in range(self.num_nodes)], np.float32)),
            edge_weight=values if self.weighted else None,
            edge_attr=np.array(attr, np.float32).reshape(len(attr), 3),
            node_name=NodeNames.of([f"node {node}" for node in range(self.num_nodes)]),
        )

    def copy(self) -> Plain:
        return Plain(self.num_nodes, self.directed, self.weighted, self.wide, dict(self.entries))


def set_edges(graph: ChangedGraph, edges: list[tuple[int, int, float]]) -> None:
    sender, receiver = (np.array([edge[end] for edge in edges], np.int64) for end in (0, 1))
    value = np.array([edge[2] for edge in edges], np.float32)
    attr = np.array([attr_of(value, a, b) for a, b, value in edges], np.float32).reshape(len(edges), 3)
    graph.set_edges(NewEdges(sender, receiver, None if graph.edge_weight is None else value, attr))


def add_nodes(graph: ChangedGraph, count: int) -> None:
    new = range(graph.num_nodes, graph.num_nodes + count)
    rows = np.array([features_of(node) for node in new], np.float32).reshape(count, 3)
    graph.add_nodes(count, rows, [f"node {node}" for node in new])


@st.composite
def plain_graphs(draw: st.DrawFn, max_nodes: int = 12) -> Plain:
    """Any small graph, directed or not, weighted or not."""
    plain = Plain(draw(st.integers(1, max_nodes)), draw(st.booleans()), draw(st.booleans()), draw(st.booleans()))
    for edge in draw(st.lists(some_edge(plain.num_nodes), max_size=30)):
        plain.set(*edge)
    return plain


def some_edge(num_nodes: int) -> st.SearchStrategy[tuple[int, int, float]]:
    node = st.integers(0, num_nodes - 1)
    return st.tuples(node, node, st.sampled_from(WEIGHTS))


def change(draw: st.DrawFn, plain: Plain, graph: ChangedGraph, *, steps: int) -> None:
    """Make the same random changes to both."""
    for _ in range(draw(st.integers(0, steps))):
        kind = draw(st.sampled_from(["nodes", "set", "remove"]))
        if kind == "nodes":
            count = draw(st.integers(0, 3))
            plain.num_nodes += count
            add_nodes(graph, count)
            continue
        edges = draw(st.lists(some_edge(plain.num_nodes), max_size=6))
        for sender, receiver, value in edges:
            plain.set(sender, receiver, value) if kind == "set" else plain.remove(sender, receiver)
        if kind == "set":
            set_edges(graph, edges)
        else:
            ends = np.array([edge[:2] for edge in edges], np.int64).reshape(-1, 2)
            graph.remove_edges(ends[:, 0], ends[:, 1])
