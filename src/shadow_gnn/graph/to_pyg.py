"""To PyG: a whole graph as a torch_geometric Data in memory.

Not for: batches of scopes (loading/batch.py), or the way back (importing/in_memory.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shadow_gnn.graph.importing.in_memory import MASKS
from shadow_gnn.graph.record import Graph


def to_pyg(graph: Graph) -> Any:
    """Return a Data with edge_index (senders above, receivers below), x, y, edge arrays, masks and names.

    from_pyg makes the same graph of it, apart from edge_id and names. Sparse features become dense.
    """
    import torch
    from torch_geometric.data import Data

    indptr, indices = graph.lists
    receiver = np.repeat(np.arange(graph.num_nodes), np.diff(indptr))
    found: dict[str, Any] = {"edge_index": np.stack((indices.astype(np.int64), receiver))}
    if graph.x is not None:
        found["x"] = graph.x.rows(np.arange(graph.num_nodes))
    for name in ("y", "edge_weight", "edge_attr"):
        if getattr(graph, name) is not None:
            found[name] = np.array(getattr(graph, name))
    for name, nodes in graph.splits.items():
        mask = np.zeros(graph.num_nodes, bool)
        mask[nodes] = True
        found[MASKS.get(name, f"{name}_mask")] = mask
    data = Data(num_nodes=graph.num_nodes, **{name: torch.from_numpy(array) for name, array in found.items()})
    for name, texts in (("node_name", graph.node_name), ("class_name", graph.class_name)):
        if texts is not None:
            data[name] = [texts[number] for number in range(len(texts))]
    return data
