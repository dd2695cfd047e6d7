"""Memory: what a way of training will need, what there is, and whether the one fits into the other.

Not for: measuring a process.
"""

from __future__ import annotations

from shadow_gnn.base.memory.available import available_memory
from shadow_gnn.base.memory.fits import advice_for, check_fits, readable
from shadow_gnn.base.memory.needs import (
    BatchCounts,
    GraphCounts,
    Network,
    Prediction,
    layer_floats,
    layer_weights,
    neighbour_counts,
    predict_batches,
    predict_full,
    predict_label_propagation,
    predict_logistic,
    predict_sgc,
    predict_sign,
    saint_counts,
    scope_counts,
    whole_counts,
)

__all__ = [
    "BatchCounts",
    "GraphCounts",
    "Network",
    "Prediction",
    "advice_for",
    "available_memory",
    "check_fits",
    "layer_floats",
    "layer_weights",
    "neighbour_counts",
    "predict_batches",
    "predict_full",
    "predict_label_propagation",
    "predict_logistic",
    "predict_sgc",
    "predict_sign",
    "readable",
    "saint_counts",
    "scope_counts",
    "whole_counts",
]
