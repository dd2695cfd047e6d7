"""induce: scopes from given nodes.

Not for: choosing nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.extract.core_calls import check_pairs, check_targets, run_core
from shadow_gnn.extract.options import NO_CAP, check_int
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph


def induce(
    graph: Graph,
    targets: ArrayLike,
    ptr: NDArray[np.int64],
    node_id: NDArray[np.int64],
    score: NDArray[np.float32] | None = None,
    *,
    max_nodes: int | None = None,
    topk: int | None = None,
    edge_pos: bool = False,
    hide: Hide = "none",
    num_threads: int = 0,
) -> Subgraphs:
    """Make one scope per target from node_id[ptr[b]:ptr[b + 1]], best first.

    The target is always included; no other node may be given twice. A node with no path to a target inside the scope
    gives way to the next. Without `score` every node has score 1. max_nodes: most nodes of a scope; topk: most nodes
    for each of its targets. hide: any value but none removes the link of a pair.

    >>> extract.induce(graph, [0], np.array([0, 3]), np.array([1, 2, 30]))[0].node_id.tolist()
    [0, 1, 2]
    """
    groups = check_targets(graph, targets, "induce")
    offers = np.ascontiguousarray(node_id, dtype=np.int64)
    check_int("induce", "num_threads", num_threads, 0, 1024)
    if max_nodes is not None:
        check_int("induce", "max_nodes", max_nodes, 1)
    if topk is not None:
        check_int("induce", "topk", topk, 1)
    check_pairs("induce", hide, groups)
    return run_core(
        _core.induce,
        graph,
        groups,
        edge_pos=edge_pos,
        hide=hide,
        seed=0,
        num_threads=num_threads,
        ptr=np.ascontiguousarray(ptr, dtype=np.int64),
        node_id=offers,
        score=np.ones(len(offers), np.float32) if score is None else np.ascontiguousarray(score, dtype=np.float32),
        max_nodes=NO_CAP if max_nodes is None else max_nodes,
        topk=NO_CAP if topk is None else topk,
    )
