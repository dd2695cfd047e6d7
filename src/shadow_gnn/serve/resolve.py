"""Resolve: requests by name or id become arrays of node ids and updates; every fault is one line.

Not for: the form of a request (requests.py), or whether values fit the graph (changes/update.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.files import checksum_of
from shadow_gnn.graph.changes.live_graph import LiveGraph, Wanted
from shadow_gnn.graph.changes.update import Update, edges_of_nodes
from shadow_gnn.graph.record import id_range
from shadow_gnn.serve.requests import (
    AddNodesBody,
    NewNode,
    NewRef,
    NodeEdge,
    Ref,
    RemoveEdgesBody,
    RemoveNodesBody,
    SetEdgesBody,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
UpdateBody = AddNodesBody | SetEdgesBody | RemoveEdgesBody | RemoveNodesBody


def node_of(live: LiveGraph, ref: int | str) -> int:
    """Return the id of a node that a request names."""
    if isinstance(ref, str):
        if live.names is None:
            raise ValueError(f"node: must be an id, as the graph has no names, got {ref!r:.80}")
        found = live.names.find(ref)
        if found is None:
            raise ValueError(f"node: must be a name of the graph, got {ref!r:.80}")
        return found
    if ref >= live.graph.num_nodes:
        raise ValueError(f"node: must be {id_range(live.graph.num_nodes)}, got {ref}")
    return ref


def nodes_of(live: LiveGraph, refs: Sequence[int | str]) -> Ints:
    """Return the ids of nodes that a request names."""
    return np.array([node_of(live, ref) for ref in refs], np.int64)


def new_nodes_update(live: LiveGraph, nodes: Sequence[NewNode], first: int, *, needs_names: bool) -> Update:
    """Return the update that adds new nodes with their edges; first: the id of the first of them.

    needs_names: whether nodes of a graph with names must have one; otherwise they get a name of their own.
    """
    columns = None if live.graph.x is None else live.graph.x.shape[1]
    ends, edges = list[tuple[int, int]](), list[NodeEdge]()
    for number, node in enumerate(nodes):
        seen: set[tuple[int, int]] = set()
        for edge in node.edges:
            pair = _ends_of(live, edge, first + number, first, len(nodes))
            same = pair if live.graph.directed else (min(pair), max(pair))
            if same in seen:
                raise ValueError(f"edges: must not repeat, new node {number} has an edge with {max(same)} twice")
            seen.add(same)
            ends.append(pair)
            edges.append(edge)
    names = [node.name for node in nodes]
    if live.names is None:
        if any(name is not None for name in names):
            raise ValueError("name: must be left out, as the graph has no names")
    elif needs_names and None in names:
        raise ValueError("name: must be given for every new node, as the graph has names")
    weight, attr = _edge_values(edges, live)
    return Update(
        num_nodes=len(nodes),
        features=None if columns is None else np.stack([_features(live, node, columns) for node in nodes]),
        names=None if live.names is None else tuple(name or f"new node {at}" for at, name in enumerate(names)),
        set_edges=np.array(ends, np.int64).reshape(-1, 2),
        weight=weight,
        attr=attr,
    )


def set_edges_update(live: LiveGraph, body: SetEdgesBody) -> Update:
    """Return the update that sets edges."""
    ends = [(node_of(live, edge.from_), node_of(live, edge.to)) for edge in body.edges]
    _check_distinct(live, ends)
    weight, attr = _edge_values(body.edges, live)
    return Update(set_edges=_pairs(ends), weight=weight, attr=attr)


def remove_edges_update(live: LiveGraph, body: RemoveEdgesBody) -> Update:
    """Return the update that removes edges."""
    ends = [(node_of(live, edge.from_), node_of(live, edge.to)) for edge in body.edges]
    return Update(remove_edges=_pairs(ends))


def remove_nodes_update(live: LiveGraph, body: RemoveNodesBody) -> Update:
    """Return the update that removes nodes with all their edges."""
    nodes = np.unique(nodes_of(live, body.nodes))
    return Update(remove_edges=edges_of_nodes(live.graph, nodes), remove_nodes=tuple(nodes.tolist()))


def wanted_update(live: LiveGraph, body: UpdateBody) -> Wanted:
    """Return an update that a request asks for; it is made, or refused, when those before it are made."""

    def make(first: int) -> Update:
        if isinstance(body, AddNodesBody):
            return new_nodes_update(live, body.nodes, first, needs_names=True)
        if isinstance(body, SetEdgesBody):
            return set_edges_update(live, body)
        if isinstance(body, RemoveEdgesBody):
            return remove_edges_update(live, body)
        return remove_nodes_update(live, body)

    return Wanted(make, body.key, "" if body.key is None else digest_of(body))


def digest_of(body: UpdateBody) -> str:
    """Return a checksum of a request, which tells a repeated one from another one with the same key."""
    return checksum_of(f"{type(body).__name__} {body.model_dump_json()}".encode())


def _pairs(ends: list[tuple[int, int]]) -> Ints:
    return np.array(ends, np.int64).reshape(-1, 2)


def _check_distinct(live: LiveGraph, ends: list[tuple[int, int]]) -> None:
    seen = set(ends if live.graph.directed else [(min(pair), max(pair)) for pair in ends])
    if len(seen) != len(ends):
        raise ValueError(f"edges: must not repeat, {len(ends) - len(seen)} of {len(ends)} do")


def _ends_of(live: LiveGraph, edge: NodeEdge, own: int, first: int, count: int) -> tuple[int, int]:
    """Return (sender, receiver) of an edge of a new node."""
    if (edge.to is None) == (edge.from_ is None):
        raise ValueError("edges: must each have `to` or `from`, and not both")
    other = _ref_of(live, edge.to if edge.from_ is None else edge.from_, first, count)
    if other == own:
        raise ValueError("edges: must join two different nodes, got a new node with itself")
    return (own, other) if edge.from_ is None else (other, own)


def _ref_of(live: LiveGraph, ref: Ref | None, first: int, count: int) -> int:
    assert ref is not None
    if not isinstance(ref, NewRef):
        return node_of(live, ref)
    if ref.new >= count:
        raise ValueError(f"edges: new must be the place of a new node, below {count}, got {ref.new}")
    return first + ref.new


def _edge_values(edges: Sequence[NodeEdge] | Sequence[object], live: LiveGraph) -> tuple[Floats | None, Floats | None]:
    """Return weights and features of edges, None where no edge has them and the graph neither."""
    given = [(getattr(edge, "weight", None), getattr(edge, "attributes", None)) for edge in edges]
    weights, attrs = [weight for weight, _ in given], [attr for _, attr in given]
    for name, values, stored in (
        ("weight", weights, live.graph.edge_weight),
        ("attributes", attrs, live.graph.edge_attr),
    ):
        wrong = [value is None for value in values] if stored is not None else [value is not None for value in values]
        if any(wrong):
            wanted = "given for every edge, as the graph has them" if stored is not None else "left out: it has none"
            raise ValueError(f"edges: {name} must be {wanted}")
    columns = 0 if live.graph.edge_attr is None else live.graph.edge_attr.shape[1]
    if any(len(attr or ()) != columns for attr in attrs):
        raise ValueError(f"edges: attributes must be {columns} numbers for each edge")
    return (
        None if live.graph.edge_weight is None else as_floats(np.array(weights, np.float64)),
        None if live.graph.edge_attr is None else as_floats(np.array(attrs, np.float64).reshape(len(attrs), columns)),
    )


def as_floats(values: NDArray[np.float64]) -> Floats:
    """Return numbers as float32; those that it cannot hold become infinite, which the check of an update refuses."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _features(live: LiveGraph, node: NewNode, columns: int) -> Floats:
    given = node.features
    row = np.zeros(columns, np.float64)
    if isinstance(given, dict):
        if live.columns is None:
            raise ValueError("features: must be a list of numbers, as the columns of the graph have no names")
        for name, value in given.items():
            if name not in live.columns:
                raise ValueError(f"features: must be of columns of the graph, got {name!r:.80}")
            row[live.columns[name]] = value
    elif given is None:
        raise ValueError(f"features: must be given for every new node, {columns} numbers or values by column name")
    elif len(given) != columns:
        raise ValueError(f"features: must be {columns} numbers, got {len(given)}")
    else:
        row[:] = given
    return as_floats(row)
