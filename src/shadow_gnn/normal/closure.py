"""closure_batch: targets with all nodes that reach them within some hops, or a sample, as one joined batch.

Not for: scopes, where every target has its own graph (extract), or the choice of targets (the loaders).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.core_calls import check_targets, naming_folder
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, BatchLayout, EdgeArray, check_layout
from shadow_gnn.normal.joined import JoinedRows, joined_batch

Ints = NDArray[np.int64]

ALL_HOPS = 2**31 - 1
"""More hops than any shortest path has."""


def closure_batch(
    graph: Graph,
    targets: ArrayLike,
    num_hops: int | None,
    *,
    fanouts: Sequence[int | None] | None = None,
    seed: int = 0,
    features: bool = True,
    edge_arrays: Sequence[EdgeArray] = (),
    target_row: Ints | None = None,
) -> Batch:
    """Join distinct targets [B] with all nodes whose messages reach them in num_hops steps, by compiled code.

    Nodes are in hop order, within a hop in the order of their first mention. A row holds all senders of its node or,
    with fanouts, at most fanouts[h] of them for a node of hop h, drawn without replacement by (seed, node); None takes
    all. Rows of the last hop are empty: layers that trim do not read them. For other layers, num_hops None follows all
    edges, and all rows are complete.

    degree is that of the graph: the number of senders, or the sum of their weights with edge array weight. edge_scale
    (with fanouts) is senders / drawn senders. features, edge_arrays, target_row: see batch.collate.

    >>> whole = sg.closure_batch(graph, [0, 7], num_hops=2)
    >>> whole.num_nodes, whole.joined
    (16, True)
    """
    check_layout("closure_batch", graph, BatchLayout("hop", tuple(edge_arrays)))
    nodes = single_targets(graph, targets, "closure_batch")
    drawn = check_fanouts("closure_batch", num_hops, fanouts)
    weight = graph.edge_weight if "weight" in edge_arrays else None
    with naming_folder(graph, "closure_batch"):
        node_id, hop_ptr, indptr, indices, position, degree, scale = _core.closure(
            _core.GraphView(graph.indptr, graph.indices, weight, not graph.directed),
            nodes,
            num_hops=ALL_HOPS if num_hops is None else num_hops,
            fanouts=drawn,
            positions=bool(edge_arrays),
            seed=seed & (2**64 - 1),
        )
    batch = joined_batch(
        graph,
        JoinedRows(node_id, hop_ptr, indptr, indices, position),
        features=features,
        edge_arrays=edge_arrays,
        target_row=target_row,
    )
    edge_scale = None if drawn is None else torch.from_numpy(scale)
    return replace(batch, degree=torch.from_numpy(degree), edge_scale=edge_scale)


def single_targets(graph: Graph, targets: ArrayLike, owner: str) -> Ints:
    """Return targets as int64 [B], or raise a ValueError that names the first bad one."""
    groups = check_targets(graph, targets, owner)
    if groups.shape[1] != 1:
        raise ValueError(f"{owner}: targets must be single nodes, got groups of {groups.shape[1]}")
    return groups[:, 0].copy()


def check_fanouts(owner: str, num_hops: int | None, fanouts: Sequence[int | None] | None) -> Ints | None:
    """Raise unless there is one fanout for each hop; return them for the core, -1 for all."""
    if num_hops is not None:
        check_int(owner, "num_hops", num_hops, 0)
    if fanouts is None:
        return None
    if num_hops is None or len(fanouts) != num_hops:
        raise ValueError(f"{owner}: fanouts must be one for each of num_hops {num_hops}, got {fanouts!r}")
    for fanout in fanouts:
        if fanout is not None:
            check_int(owner, "fanouts", fanout, 1)
    return np.array([-1 if fanout is None else fanout for fanout in fanouts], dtype=np.int64)
