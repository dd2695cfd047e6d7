"""Copies: many versions of one scope in one batch, each without some of its nodes or edges, or with other features.

Not for: choosing the parts to leave out (occlusion.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch


def copies_without(batch: Batch, keep_node: Tensor, keep_edge: Tensor) -> Batch:
    """Return K copies of a batch of one scope, each with the nodes and edges that it keeps, in the batch's order.

    keep_node [K, N] and keep_edge [K, E]: bool. Targets must be kept; an edge goes with either of its ends. Hops,
    scores and features stay as they are; degrees follow from the edges that are left.
    """
    if len(batch) != 1:
        raise ValueError(f"copies_without: batch must have one scope, got {len(batch)}")
    if not bool(keep_node[:, batch.target_node[0]].all()):
        raise ValueError("copies_without: targets must be kept, one of them is left out")
    sender, receiver = batch.edge_index()
    kept = keep_edge & keep_node[:, sender] & keep_node[:, receiver]
    copy, node = keep_node.nonzero(as_tuple=True)
    if batch.order == "hop":  # Rows of the first hop of all copies come first; the sort keeps the order within a copy.
        order = torch.argsort(batch.hop[node], stable=True)
        copy, node = copy[order], node[order]
    place = torch.full(keep_node.shape, -1, dtype=torch.int64, device=node.device)
    place[copy, node] = torch.arange(len(node), device=node.device)
    edge_copy, edge = kept.nonzero(as_tuple=True)
    row = place[edge_copy, receiver[edge]]
    order = torch.argsort(row, stable=True)  # Senders stay ascending: rows of a copy are in the order of the batch.
    edge_copy, edge, row = edge_copy[order], edge[order], row[order]
    count = torch.bincount(row, minlength=len(node))
    num_copies = len(keep_node)
    return replace(
        _repeated(batch, num_copies),
        target_node=place[:, batch.target_node[0]],
        node_id=batch.node_id[node],
        hop=batch.hop[node],
        score=batch.score[node],
        subgraph=copy,
        indptr=torch.cat((count.new_zeros(1), count.cumsum(0))),
        indices=place[edge_copy, sender[edge]],
        hop_ptr=_hop_ptr(batch, node),
        ptr=None if batch.ptr is None else torch.cat((copy.new_zeros(1), keep_node.sum(dim=1).cumsum(0))),
        x=None if batch.x is None else batch.x[node],
        degree=None,
        **_taken(batch, edge),
    )


def copies_of(batch: Batch, num_copies: int) -> Batch:
    """Return equal copies of a batch of one scope."""
    device = batch.node_id.device
    every = (
        torch.ones(num_copies, size, dtype=torch.bool, device=device) for size in (batch.num_nodes, batch.num_edges)
    )
    return copies_without(batch, *every)


def single_scopes(batch: Batch) -> list[Batch]:
    """Split a batch into batches of one scope each, with rows in the same order as before."""
    if len(batch) == 1:
        return [batch]
    receiver = batch.edge_index()[1]
    return [_scope(batch, receiver, scope) for scope in range(len(batch))]


def _scope(batch: Batch, receiver: Tensor, scope: int) -> Batch:
    node = (batch.subgraph == scope).nonzero()[:, 0]
    edge = (batch.subgraph[receiver] == scope).nonzero()[:, 0]
    place = torch.full_like(batch.node_id, -1)
    place[node] = torch.arange(len(node), device=node.device)
    count = torch.bincount(place[receiver[edge]], minlength=len(node))
    return replace(
        batch,
        targets=batch.targets[scope : scope + 1],
        target_row=batch.target_row[scope : scope + 1],
        target_node=place[batch.target_node[scope : scope + 1]],
        node_id=batch.node_id[node],
        hop=batch.hop[node],
        score=batch.score[node],
        subgraph=torch.zeros_like(node),
        indptr=torch.cat((count.new_zeros(1), count.cumsum(0))),
        indices=place[batch.indices[edge]],
        hop_ptr=_hop_ptr(batch, node),
        ptr=None if batch.ptr is None else node.new_tensor([0, len(node)]),
        x=None if batch.x is None else batch.x[node],
        y=None if batch.y is None else batch.y[scope : scope + 1],
        **_taken(batch, edge),
    )


def _hop_ptr(batch: Batch, node: Tensor) -> tuple[int, ...] | None:
    """Count the rows within each hop; as many hops as before, so that trimming stays the same."""
    if batch.hop_ptr is None:
        return None
    within = torch.bincount(batch.hop[node], minlength=len(batch.hop_ptr)).cumsum(0)
    return tuple(within.tolist())


def _repeated(batch: Batch, num_copies: int) -> Batch:
    """Repeat the arrays with a row per scope."""
    return replace(
        batch,
        targets=batch.targets.expand(num_copies, -1),
        target_row=batch.target_row.expand(num_copies),
        y=None if batch.y is None else batch.y.expand(num_copies, *batch.y.shape[1:]),
    )


def _taken(batch: Batch, edge: Tensor) -> dict[str, Any]:
    """Return the edge arrays of some edges."""
    arrays = {name: getattr(batch, name) for name in ("edge_id", "edge_weight", "edge_attr")}
    return {name: None if value is None else value[edge] for name, value in arrays.items()}
