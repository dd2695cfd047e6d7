"""Scope SGC: simple graph convolution inside scopes, Â^k at the target, and a probe fitted to it.

Not for: Â^k over the whole graph (nn/smoothing.py, logistic.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Subgraphs
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.studies.baselines.logistic import fit_logistic
from shadow_gnn.studies.baselines.problem import Inputs, Problem, scaled

Matrix = NDArray[np.float32]
Rows = Mapping[str, "csr_array[Any]"]
"""By split, the target's row of Â^k for every target, with a column for each node of the graph. [B, N]"""


@dataclass(frozen=True)
class Probe:
    """The shaDow-SGC with the best power and decay on validation."""

    power: int
    """Steps of propagation inside the scope, k of Â^k."""
    decay: float
    """Weight of the squared weights in the loss."""
    valid: float
    """The metric on the validation targets, which chose both."""
    test: float | None
    """The metric on the test targets, if there are any."""


def scope_rows(subgraphs: Subgraphs, powers: Sequence[int]) -> list[Matrix]:
    """Return the target's row of Â^k inside each scope, one array for each of the powers k. [P] of [N]

    Â = D^-1/2 (A + I) D^-1/2 of the scope; every edge counts 1. Only the target's row is needed: the
    row is propagated, one number per node, not the features. Row k + 1 is row k times Â.
    """
    if not powers or min(powers) < 1 or len(set(powers)) < len(powers):
        raise ValueError(f"sgc: powers must be different numbers of at least 1, got {tuple(powers)}")
    transposed, scale = _joined(subgraphs)
    row = np.zeros(len(subgraphs.node_id), np.float32)
    row[subgraphs.ptr[:-1]] = 1  # A scope begins with its target.
    found: dict[int, Matrix] = {}
    for power in range(1, max(powers) + 1):
        sent = scale * row
        row = scale * (transposed @ sent + sent)
        if power in powers:
            found[power] = row
    return [found[power] for power in powers]


def fit_probe(problem: Problem, x: Inputs, rows: Mapping[int, Rows], progress: Progress = silent) -> Probe:
    """Fit logistic regression for each power; return the best on validation.

    rows: by power; those of a split are in the order of the problem's targets.
    """
    found: list[Probe] = []
    for number, (power, parts) in enumerate(rows.items()):
        progress("logistic regression", number, len(rows))
        inputs = in_row_space(scaled({name: propagate(part, x) for name, part in parts.items()}))
        fit = fit_logistic(problem, inputs)
        found.append(Probe(power, fit.decay, fit.valid, fit.test))
    return max(found, key=lambda probe: probe.valid)


def propagate(rows: csr_array[Any], x: Inputs) -> Matrix:
    """Return the product of some rows with the features; only the features it needs are read. [B, F]"""
    if not isinstance(x, DenseFeatures):
        product = rows @ x
        return product if isinstance(product, np.ndarray) else product.toarray().astype(np.float32, copy=False)
    met, place = np.unique(rows.indices.astype(np.int64), return_inverse=True)
    narrow: Any = csr_array((rows.data, place, rows.indptr), shape=(rows.shape[0], len(met)))
    return np.asarray(narrow @ x.rows(met), dtype=np.float32)


def in_row_space(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return inputs [B, F] with at most as many columns as training targets.

    With weight decay, the best weights are sums of training rows. Coordinates in the space of these rows give the same
    classifier, at a fraction of the cost for wide bags of words.
    """
    if inputs["train"].shape[0] >= inputs["train"].shape[1]:
        return dict(inputs)
    basis = torch.linalg.qr(inputs["train"].T).Q
    return {name: part @ basis for name, part in inputs.items()}


def _joined(subgraphs: Subgraphs) -> tuple[Any, Matrix]:
    """Return the transposed adjacency of all scopes as one block-diagonal matrix, and D^-1/2 of A + I. [N]"""
    num_nodes = len(subgraphs.node_id)
    first = np.repeat(subgraphs.ptr[:-1], np.diff(subgraphs.ptr))
    degree = np.diff(subgraphs.indptr)
    indices = subgraphs.indices + np.repeat(first, degree)
    adjacency = csr_array((np.ones(len(indices), np.float32), indices, subgraphs.indptr), shape=(num_nodes, num_nodes))
    return adjacency.T, (1 / np.sqrt(degree + 1)).astype(np.float32)
