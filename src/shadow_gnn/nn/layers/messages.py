"""messages: aggregation together with the linear map of a layer, in the order that costs less.

Not for: layers whose messages pass an activation first (gat.py).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from shadow_gnn.nn.sparse.ops import Adjacency, aggregate


def mapped_sum(weight: Tensor, adjacency: Adjacency, x: Tensor, num_rows: int) -> Tensor:
    """Return W sum_e(weight[e] x[sender]) of the first num_rows rows.

    The sum and W commute, so the narrower side of W is summed. [num_rows, out_dim], a tensor of its own
    """
    out_dim, in_dim = weight.shape
    if in_dim <= out_dim:
        return F.linear(aggregate(adjacency, x, num_rows=num_rows), weight)
    return aggregate(adjacency, F.linear(x, weight), num_rows=num_rows)
