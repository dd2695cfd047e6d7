"""joined_batch: rows of one graph that all targets share -> a Batch.

Not for: choosing the rows (closure.py, saint_samplers.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.extract.gather import array_rows, feature_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, EdgeArray, look_up_edge_arrays, tensor_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """Nodes and edges in hop order: targets first, then nodes by their distance to the nearest target."""

    node_id: Ints
    """[N], ids in the graph."""
    hop_ptr: Ints
    """[H + 1], number of nodes within h hops; the first is the number of targets."""
    indptr: Ints
    """[N + 1], where each node's row begins in indices."""
    indices: Ints
    """[E], senders as rows, ascending in each row."""
    edge_pos: Ints
    """[E], positions in the graph's indices."""

    @property
    def hop(self) -> Ints:
        """[N], distance to the nearest target."""
        return np.repeat(np.arange(len(self.hop_ptr)), np.diff(self.hop_ptr, prepend=0))


def joined_batch(
    graph: Graph,
    rows: JoinedRows,
    *,
    features: bool,
    edge_arrays: Sequence[EdgeArray],
    target_row: Ints | None,
    edge_graph: Graph | None = None,
) -> Batch:
    """Look up features, labels and edge arrays of the rows; the options are those of batch.collate."""
    num_nodes, num_targets = len(rows.node_id), int(rows.hop_ptr[0])
    targets = rows.node_id[:num_targets].copy()
    return Batch(
        targets=torch.from_numpy(targets)[:, None],
        target_row=torch.arange(num_targets) if target_row is None else torch.from_numpy(target_row.copy()),
        target_node=torch.arange(num_targets)[:, None],
        node_id=torch.from_numpy(rows.node_id),
        hop=torch.from_numpy(rows.hop),
        score=torch.ones(num_nodes),
        subgraph=torch.zeros(num_nodes, dtype=torch.int64),
        indptr=torch.from_numpy(rows.indptr),
        indices=torch.from_numpy(rows.indices),
        order="hop",
        hop_ptr=tuple(rows.hop_ptr.tolist()),
        ptr=None,
        x=tensor_of(feature_rows(graph, rows.node_id)) if features else None,
        y=tensor_of(array_rows(graph, "y", targets)),
        **look_up_edge_arrays(graph if edge_graph is None else edge_graph, rows.edge_pos, edge_arrays),
    )
