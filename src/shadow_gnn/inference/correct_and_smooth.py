"""Correct & Smooth: predicted classes corrected by the errors on training nodes, then smoothed over the graph.

Not for: predicting (predictor.py). The method is Huang et al. 2021, the steps are PyG's CorrectAndSmooth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.sparse import check_sparse_tensor_invariants

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.evaluation import labels_of
from shadow_gnn.inference.predictions import Floats, Ints


@dataclass(frozen=True)
class CorrectSettings:
    """Settings of the spreading of training errors."""

    num_layers: int = 50
    """Steps; 0 leaves the predictions unchanged."""
    alpha: float = 0.8
    """Share of the neighbors in each step."""
    autoscale: bool = True
    """Scale each node's correction to the mean error of the training nodes; otherwise by `scale`."""
    scale: float = 1.0
    """Factor of the correction without autoscale."""


@dataclass(frozen=True)
class SmoothSettings:
    """Settings of the smoothing."""

    num_layers: int = 50
    """Steps; 0 leaves the predictions unchanged."""
    alpha: float = 0.8
    """Share of the neighbors in each step."""


@dataclass(frozen=True)
class Grid:
    """Settings to choose from on validation."""

    correct: tuple[CorrectSettings, ...]
    """Correction settings."""
    smooth: tuple[SmoothSettings, ...]
    """Smoothing settings; each is tried with every correction."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The best settings on validation, and their result."""

    correct: CorrectSettings
    """Chosen correction."""
    smooth: SmoothSettings
    """Chosen smoothing."""
    num_tried: int
    """Settings that were tried."""
    probability: Floats
    """[N, C], rows that sum to 1."""


@dataclass(frozen=True)
class Given:
    """Fixed settings; None for those to be chosen."""

    num_correction_layers: int | None = None
    """Steps that spread the errors; 0 for no correction."""
    correction_alpha: float | None = None
    """Share of the neighbors in each of them."""
    num_smoothing_layers: int | None = None
    """Steps that smooth; 0 for no smoothing."""
    smoothing_alpha: float | None = None
    """Share of the neighbors in each of them."""
    autoscale: bool | None = None
    """Whether corrections are scaled to the mean error of the training nodes."""
    scale: float | None = None
    """Factor of the correction, without autoscale."""

    def __post_init__(self) -> None:
        for name in ("num_correction_layers", "num_smoothing_layers"):
            _check_range(name, getattr(self, name), 10_000)
        for name in ("correction_alpha", "smoothing_alpha"):
            _check_range(name, getattr(self, name), 1)
        _check_range("scale", self.scale, 1000)
        if self.scale is not None and self.autoscale:
            raise ValueError("correct: scale must be used without autoscale, got both")


NUM_LAYERS = 50
ALPHAS = (0.5, 0.8, 0.95)


def make_grid(given: Given | None = None) -> Grid:
    """Return the settings to try: given ones, otherwise three alphas, both kinds of scaling, and no change."""
    given = given or Given()
    num_layers = NUM_LAYERS if given.num_correction_layers is None else given.num_correction_layers
    alphas = ALPHAS if given.correction_alpha is None else (given.correction_alpha,)
    autoscale = False if given.scale is not None else given.autoscale
    ways = (True, False) if autoscale is None else (autoscale,)
    scale = 1.0 if given.scale is None else given.scale
    correct = [CorrectSettings(num_layers, alpha, way, scale) for alpha, way in product(alphas, ways)]
    if num_layers == 0:
        correct = [CorrectSettings(0)]
    elif (given.num_correction_layers, given.correction_alpha, autoscale) == (None, None, None):
        correct.insert(0, CorrectSettings(0))
    num_layers = NUM_LAYERS if given.num_smoothing_layers is None else given.num_smoothing_layers
    alphas = ALPHAS if given.smoothing_alpha is None else (given.smoothing_alpha,)
    smooth = [SmoothSettings(num_layers, alpha) for alpha in alphas]
    if num_layers == 0:
        smooth = [SmoothSettings(0)]
    elif (given.num_smoothing_layers, given.smoothing_alpha) == (None, None):
        smooth.insert(0, SmoothSettings(0))
    return Grid(tuple(correct), tuple(smooth))


def correct_and_smooth(
    graph: Graph,
    probability: Floats,
    train: Ints,
    valid: Ints,
    grid: Grid | None = None,
    *,
    progress: Progress = silent,
) -> Chosen:
    """Correct and smooth the probabilities [N, C] of all nodes with the labels of `train`; `valid` chooses settings.

    The labels of `valid` only choose between settings and are never spread. Of equally good settings the first counts;
    no change comes first.
    """
    grid = grid or make_grid()
    steps = _Steps(graph, probability, train)
    expected = torch.from_numpy(labels_of(graph, valid))
    rows = torch.from_numpy(valid)
    best: tuple[int, CorrectSettings, SmoothSettings, Tensor] | None = None
    num_tried, in_all = 0, len(grid.correct) * len(grid.smooth)
    for correct, smooth, found in steps.tried(grid):
        right = int((found[rows].argmax(dim=1) == expected).sum())
        if best is None or right > best[0]:
            best = (right, correct, smooth, found)
        num_tried += 1
        progress("correcting and smoothing", num_tried, in_all)
    assert best is not None
    _, correct, smooth, found = best
    return Chosen(correct, smooth, num_tried, _as_probabilities(found, steps.probability).numpy())


class _Steps:
    """PyG's two steps on one graph."""

    def __init__(self, graph: Graph, probability: Floats, train: Ints) -> None:
        if len(probability) != graph.num_nodes:
            raise ValueError(
                f"correct: probability must have one row per node ({graph.num_nodes}), got {len(probability)}"
            )
        self.probability = torch.from_numpy(probability)
        self.train = torch.from_numpy(train)
        self.labels = torch.from_numpy(labels_of(graph, train)).long()
        self.adjacency = _adjacency(graph)

    def tried(self, grid: Grid) -> Iterator[tuple[CorrectSettings, SmoothSettings, Tensor]]:
        """Yield the result of all settings; each correction is computed once."""
        for correct in grid.correct:
            corrected = self.correct(correct)
            for smooth in grid.smooth:
                yield correct, smooth, self.smooth(corrected, smooth)

    def correct(self, settings: CorrectSettings) -> Tensor:
        """Add the errors on training nodes, spread over the graph."""
        if settings.num_layers == 0:
            return self.probability
        step = _pyg(settings, SmoothSettings())
        with _unchecked():
            found: Tensor = step.correct(self.probability, self.labels, self.train, self.adjacency)
        # Autoscale divides by the spread error, which can be 0 by 0.
        return torch.where(found.isnan(), self.probability, found)

    def smooth(self, corrected: Tensor, settings: SmoothSettings) -> Tensor:
        """Insert the true labels at training nodes, and spread everything over the graph."""
        if settings.num_layers == 0:
            return corrected
        step = _pyg(CorrectSettings(), settings)
        with _unchecked():
            found: Tensor = step.smooth(corrected, self.labels, self.train, self.adjacency)
        return found


def _unchecked() -> Any:
    """Return a context in which torch trusts the edges, which a Graph has checked, without a warning."""
    return check_sparse_tensor_invariants(False)  # type: ignore[no-untyped-call]


def _pyg(correct: CorrectSettings, smooth: SmoothSettings) -> Any:
    from torch_geometric.nn import CorrectAndSmooth

    return CorrectAndSmooth(
        correct.num_layers, correct.alpha, smooth.num_layers, smooth.alpha, correct.autoscale, correct.scale
    )


def _adjacency(graph: Graph) -> Tensor:
    """Return the edges as torch's CSR, so that PyG needs no array of [E, C]."""
    import warnings

    weight = np.ones(graph.num_edges, np.float32) if graph.edge_weight is None else graph.edge_weight
    indptr, indices = (torch.from_numpy(np.array(part, np.int64)) for part in graph.lists)
    value, size = torch.from_numpy(np.array(weight)), (graph.num_nodes, graph.num_nodes)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return torch.sparse_csr_tensor(indptr, indices, value, size, check_invariants=False)


def _as_probabilities(scores: Tensor, fallback: Tensor) -> Tensor:
    """Scale each row to sum 1; a row of zeros takes the model's probabilities."""
    positive = scores.clamp(min=0)
    total = positive.sum(dim=1, keepdim=True)
    return torch.where(total > 0, positive / total, fallback)


def _check_range(name: str, value: float | None, most: int) -> None:
    if value is not None and not 0 <= value <= most:
        raise ValueError(f"correct: {name} must be from 0 to {most:,}, got {value}")
