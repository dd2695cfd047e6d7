"""messages: aggregation together with the linear map of a layer, in the order that costs less.

Not for: layers whose messages pass an activation first (gat.py).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from shadow_gnn.nn.ops import Adjacency, aggregate


def mapped_sum(linear: nn.Linear, adjacency: Adjacency, x: Tensor, num_rows: int) -> Tensor:
    """Return W sum_e(weight[e] x[sender]) + b of the first num_rows rows.

    The sum and W commute, so the narrower side of W is summed. [num_rows, out_dim], a tensor of its own
    """
    if linear.in_features <= linear.out_features:
        return F.linear(aggregate(adjacency, x, num_rows=num_rows), linear.weight, linear.bias)
    out = aggregate(adjacency, F.linear(x, linear.weight), num_rows=num_rows)
    return out if linear.bias is None else out.add_(linear.bias)
