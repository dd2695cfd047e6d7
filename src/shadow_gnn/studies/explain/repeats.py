"""Repeats: several copies of every scope of a batch in one batch, to run the model at several points in one pass.

Not for: copies without some nodes or edges (copies.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch


@dataclass(frozen=True, eq=False)
class Repeated:
    """K copies of each of B scopes: copy c of scope s is scope K s + c."""

    batch: Batch
    """The copies, in the order of rows of the original."""
    node: Tensor
    """[K N], the row in the original of each row."""
    node_copy: Tensor
    """[K N], the copy that each row belongs to."""
    edge: Tensor
    """[K E], the edge of the original of each edge."""
    edge_copy: Tensor
    """[K E], the copy that each edge belongs to."""


def repeated(batch: Batch, num_copies: int) -> Repeated:
    """Copy every scope; a single copy is the batch itself, more have no labels."""
    if num_copies == 1:
        edge, node = (torch.arange(size, device=batch.indices.device) for size in (batch.num_edges, batch.num_nodes))
        return Repeated(batch, node, torch.zeros_like(node), edge, torch.zeros_like(edge))
    place = _places(batch, num_copies)  # [N, K], the new row of each row and copy.
    source = torch.empty_like(place).view(-1)
    source[place.view(-1)] = torch.arange(place.numel(), device=place.device)
    node, node_copy = source // num_copies, source % num_copies
    count = batch.indptr.diff()[node]
    indptr = torch.cat((count.new_zeros(1), count.cumsum(0)))
    row = torch.repeat_interleave(count, output_size=num_copies * batch.num_edges)
    edge = torch.arange(len(row), device=row.device) + (batch.indptr[node] - indptr[:-1])[row]
    edge_copy = node_copy[row]
    copies = torch.arange(num_copies, device=node.device)
    made = replace(
        batch,
        targets=batch.targets.repeat_interleave(num_copies, dim=0),
        target_row=batch.target_row.repeat_interleave(num_copies),
        target_node=place[batch.target_node].transpose(1, 2).flatten(0, 1),  # [B, T, K] -> [B K, T]
        subgraph=batch.subgraph[node] * num_copies + node_copy,
        indptr=indptr,
        indices=place[batch.indices[edge], edge_copy],
        hop_ptr=None if batch.hop_ptr is None else tuple(num_copies * count for count in batch.hop_ptr),
        ptr=None if batch.ptr is None else _starts(batch.ptr, copies),
        y=None,
        target_weight=None,
        **_taken(batch, ("node_id", "hop", "score", "x", "degree"), node),
        **_taken(batch, ("edge_id", "edge_weight", "edge_attr", "edge_scale", "edge_mask"), edge),
    )
    return Repeated(made, node, node_copy, edge, edge_copy)


def _places(batch: Batch, num_copies: int) -> Tensor:
    """Return the row of each copy of each row: next to each other in hop order, scope after scope otherwise. [N, K]"""
    rows, copies = (torch.arange(size, device=batch.indices.device) for size in (batch.num_nodes, num_copies))
    if batch.ptr is None:
        return rows[:, None] * num_copies + copies
    first, size = batch.ptr[:-1][batch.subgraph], batch.ptr.diff()[batch.subgraph]
    return (rows + (num_copies - 1) * first)[:, None] + size[:, None] * copies


def _starts(ptr: Tensor, copies: Tensor) -> Tensor:
    """Return where each copy of each scope begins. [K B + 1]"""
    starts = len(copies) * ptr[:-1, None] + ptr.diff()[:, None] * copies
    return torch.cat((starts.view(-1), len(copies) * ptr[-1:]))


def _taken(batch: Batch, names: tuple[str, ...], rows: Tensor) -> dict[str, Any]:
    values = {name: getattr(batch, name) for name in names}
    return {name: None if value is None else value[rows] for name, value in values.items()}
