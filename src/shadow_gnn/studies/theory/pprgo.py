"""PPRGo as a special case of the ensemble (the case study of Section 3.5), with weights set by hand.

Not for: the printed weights rho_i, which only hold for two branches; the correct ones are differences of scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.ensemble import AttentionEnsemble
from shadow_gnn.nn.layers.base import LayerOptions
from shadow_gnn.nn.layers.mlp import MlpLayer
from shadow_gnn.nn.readouts.readout import Readout
from shadow_gnn.nn.readouts.reduce_pool import ReducePool
from shadow_gnn.studies.theory.outcome import Check, Curves, Line, Outcome, at_least, at_most, exactly
from shadow_gnn.studies.theory.scopes import Floats, connected_graph, dense, float64_batch

TELEPORT = 0.25
EXACT = 1e-10
"""Largest relative error if every score is a level."""
PUSH_TOLERANCE = 1e-12
"""Residual bound of the push, small enough for scores that are exact up to rounding."""
NUM_DIMENSIONS = 4
"""Dimensions of the cube: a node's score depends only on its distance."""
NUM_LEVELS = (1, 2, 4, 8, 16, 32)
WIDTH = 5
LINEAR = LayerOptions("none", "none")
RELU = LayerOptions("relu", "none")


@dataclass(frozen=True, eq=False)
class Perceptron:
    """The two maps of PPRGo's MLP, shared by all branches."""

    inner: torch.nn.Linear
    """Before the ReLU."""
    outer: torch.nn.Linear
    """After it."""

    def __call__(self, x: Floats) -> Floats:
        """Return h = MLP(x), by NumPy. [N, WIDTH]"""
        hidden = np.maximum(_mapped(self.inner, x), 0)
        return _mapped(self.outer, hidden)


@dataclass(frozen=True, eq=False)
class Levels:
    """Rounded scores in ascending order, one per branch."""

    score: Floats
    """[R], weight of a node of this level."""
    threshold: Floats
    """[R], lowest score of a node of this level or a higher one."""

    def rounded(self, scores: Floats) -> Floats:
        """Replace each score by that of its level; 0 below all levels."""
        place = np.searchsorted(self.threshold, scores, side="right")
        found: Floats = np.concatenate(([0.0], self.score))[place]
        return found

    def misses(self, scores: Floats, members: Floats) -> int:
        """Count the scopes that differ from the nodes above their branch's threshold; members [R, N, N]."""
        above = scores >= self.threshold[:, None, None]
        return int((above != (members > 0)).any(axis=2).sum())


def geometric_levels(scores: Floats, count: int) -> Levels:
    """Return levels from below the smallest score to below every target's own: scopes contain their target."""
    lowest, highest = scores.min() * (1 - 1e-6), scores.diagonal().min() * (1 - 1e-6)
    score = np.geomspace(lowest, highest, count)
    return Levels(score, score)


def relative_error(found: Floats, wanted: Floats) -> float:
    """Return the largest difference relative to the largest element."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def ppr_matrix(graph: Graph, teleport: float = TELEPORT) -> Floats:
    """Return the exact score of every node (columns) for every target (rows), by a dense solve. [N, N]"""
    matrix = dense(graph)
    walk = matrix / matrix.sum(axis=1)[:, None]
    solved = np.linalg.solve(np.eye(len(walk)) - (1 - teleport) * walk, np.eye(len(walk)))
    found: Floats = teleport * solved
    return found


def cube(num_dimensions: int) -> Graph:
    """Return the hypercube graph: edges between bit strings that differ in one bit."""
    nodes = np.arange(2**num_dimensions)
    bits = 2 ** np.arange(num_dimensions)
    return from_edges(np.repeat(nodes, num_dimensions), (nodes[:, None] ^ bits).ravel())


def perceptron(in_dim: int, seed: int) -> Perceptron:
    """Return an MLP with the initial weights of training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Perceptron(torch.nn.Linear(in_dim, WIDTH).double(), torch.nn.Linear(WIDTH, WIDTH).double())


def differences(levels: Floats) -> Floats:
    """Return rho_i = level_i - level_(i - 1) of ascending levels, the first one unchanged. [R]"""
    return np.diff(levels, prepend=0.0)


def printed_weights(levels: Floats) -> Floats:
    """Return rho_i as the paper prints it: level_i - the sum of all lower levels. [R]"""
    return levels - (np.cumsum(levels) - levels)


def ensemble_output(graph: Graph, x: Floats, mlp: Perceptron, levels: Levels) -> tuple[Floats, Floats]:
    """Return the ensemble's output for every node, and the nodes of each branch's scopes as 0 and 1.

    Branch i has the MLP as backbone, a sum as readout, and an extra constant column, which gives the attention softmax
    weights in proportion to rho_i. [N, WIDTH], [R, N, N]
    """
    rho = differences(levels.score)
    constants = np.log(rho / rho.min())  # Not negative, so that the attention's LeakyReLU leaves them as they are.
    embeddings, members = [], []
    for threshold, constant in zip(levels.threshold.tolist(), constants.tolist(), strict=True):
        batch = float64_batch(graph, _extractor(graph, threshold)(graph, np.arange(graph.num_nodes)), x)
        backbone, readout = _branch(mlp, constant)
        assert batch.x is not None
        with torch.no_grad():
            outputs = backbone(batch.x, batch, [batch.num_nodes] * 3, keep_all=False)
            embeddings.append(readout(outputs, batch))
        members.append(np.zeros((graph.num_nodes, graph.num_nodes)))
        members[-1][batch.subgraph.numpy(), batch.node_id.numpy()] = 1
    with torch.no_grad():
        joined = _attention()(embeddings)
    return joined[:, :WIDTH].numpy(), np.stack(members)


def check_pprgo(seed: int = 0) -> Outcome:
    """Compare with PPRGo for levels that cover all scores, and for few levels."""
    curves, few_checks = _few_levels(seed)
    return Outcome(
        "pprgo",
        "An ensemble over PPR thresholds is PPRGo up to a scale: rho_i are differences of adjacent scores",
        "Section 3.5, case study (with rho_i corrected)",
        (*_exact_checks(seed), *few_checks),
        curves,
    )


def _exact_checks(seed: int) -> list[Check]:
    """Check the cube, where five levels cover all scores."""
    graph = cube(NUM_DIMENSIONS)
    x = np.random.default_rng(seed).normal(size=(graph.num_nodes, WIDTH))
    mlp, scores = perceptron(WIDTH, seed), ppr_matrix(graph)
    score = np.unique(scores.round(12))
    levels = Levels(score, score - differences(score) / 2)  # Halfway to the next score: rounding decides nothing.
    found, members = ensemble_output(graph, x, mlp, levels)
    wanted, sums = scores @ mlp(x), members @ mlp(x)  # [N, WIDTH], [R, N, WIDTH]
    rho = differences(score)
    by_difference, as_printed = (
        relative_error(np.tensordot(weight, sums, 1), wanted) for weight in (rho, printed_weights(score))
    )
    return [
        exactly("cube: scopes that are not the nodes above the threshold", levels.misses(scores, members), 0),
        at_most("cube: Σ rho_i (sum of branch i), differences of scores: relative error", by_difference, EXACT),
        at_most(
            "cube: attention ensemble times Σ rho_i: relative error", relative_error(rho.sum() * found, wanted), EXACT
        ),
        at_least("cube: rho_i as the paper prints them: relative error", as_printed, 0.1),
    ]


def _few_levels(seed: int) -> tuple[Curves, list[Check]]:
    """Check a random graph, where each level represents all scores up to the next."""
    graph = connected_graph(48, 72, seed)
    x = np.random.default_rng(seed).normal(size=(graph.num_nodes, WIDTH))
    mlp, scores = perceptron(WIDTH, seed), ppr_matrix(graph)
    wanted = scores @ mlp(x)
    errors, rounding, misses = [], [], 0
    for count in NUM_LEVELS:
        levels = geometric_levels(scores, count)
        found, members = ensemble_output(graph, x, mlp, levels)
        found *= differences(levels.score).sum()
        misses += levels.misses(scores, members)
        errors.append(relative_error(found, wanted))
        rounding.append(relative_error(found, levels.rounded(scores) @ mlp(x)))
    line = Line("ensemble", NUM_LEVELS, errors)
    name = f"random graph: error of {NUM_LEVELS[-1]} branches over that of one"
    return Curves("PPRGo by an ensemble", "branches", "largest relative error", (line,), log=True), [
        exactly("random graph: scopes that are not the nodes above the threshold", misses, 0),
        at_most("random graph: difference from PPRGo with rounded scores, 1 to 32 branches", max(rounding), EXACT),
        at_most(name, errors[-1] / errors[0], 0.1),
    ]


def _extractor(graph: Graph, threshold: float) -> PprExtractor:
    return PprExtractor(
        topk=graph.num_nodes,
        teleport=TELEPORT,
        threshold=threshold,
        threshold_kind="absolute",
        tolerance=PUSH_TOLERANCE,
    )


def _branch(mlp: Perceptron, constant: float) -> tuple[Backbone, Readout]:
    """Return layers with output (h, constant), and a readout of (the sum of h, the target's constant)."""
    first, second = MlpLayer(mlp.inner.in_features, WIDTH, RELU), MlpLayer(WIDTH, WIDTH + 1, LINEAR)
    readout = Readout([WIDTH, WIDTH + 1], WIDTH + 1, LINEAR, pool=ReducePool("sum"))
    assert readout.dense is not None
    with torch.no_grad():
        for layer, linear in ((first, mlp.inner), (second, mlp.outer)):
            _fill(layer.dense.linear, linear)
        second.dense.linear.bias[WIDTH] = constant
        # The readout's map reads the target's own columns first, then the pooled ones.
        joined = readout.dense.linear
        joined.weight.zero_()
        joined.bias.zero_()
        joined.weight[:WIDTH, WIDTH + 1 : 2 * WIDTH + 1] = torch.eye(WIDTH)
        joined.weight[WIDTH, WIDTH] = 1
    return Backbone([first, second]).double(), readout.double()


def _attention() -> AttentionEnsemble:
    """Return the attention that scores a branch by its constant."""
    ensemble = AttentionEnsemble(WIDTH + 1).double()
    with torch.no_grad():
        for parameter in ensemble.parameters():
            parameter.zero_()
        ensemble.linear.weight[WIDTH, WIDTH] = 1
        ensemble.query[WIDTH] = 1
    return ensemble


def _fill(linear: torch.nn.Linear, source: torch.nn.Linear) -> None:
    """Copy a map into the first rows of a wider one and set the other rows to 0."""
    linear.double()
    linear.weight.zero_()
    linear.bias.zero_()
    linear.weight[: source.out_features] = source.weight
    linear.bias[: source.out_features] = source.bias


def _mapped(linear: torch.nn.Linear, x: Floats) -> Floats:
    found: Floats = x @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
    return found
