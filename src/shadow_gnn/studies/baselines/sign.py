"""SIGN: several operators applied once to the features, then a network on each row by itself (Frasca et al. 2020).

Not for: the operators (operators.py).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.loading.epochs import derive_seed, permutation
from shadow_gnn.nn.sparse.ops import dropout
from shadow_gnn.studies.baselines.memory_needs import needed
from shadow_gnn.studies.baselines.operators import Operator, Powers, most_powers, operator_names, propagated
from shadow_gnn.studies.baselines.problem import BaselineResult, Problem, input_matrix, split_inputs

SignInputs = Mapping[Operator, Mapping[str, Tensor]]
"""Features of the targets by operator and split, [B, F]."""

POWERS: tuple[Powers, ...] = ((2, 0, 0), (2, 2, 0), (2, 2, 2))
"""Powers (p, s, t) of the adjacency, of PPR and of the triangles to try."""
DROPOUTS = (0.3, 0.6)
"""Dropout rates to try."""


@dataclass(frozen=True)
class SignOptions:
    """Settings of the SIGN network and its training."""

    powers: Powers = (2, 2, 2)
    """Powers of the adjacency, of PPR and of the triangles."""
    hidden_dim: int = 64
    """Width of each operator's hidden layer."""
    dropout: float = 0.5
    """Dropout rate of the hidden columns."""
    learning_rate: float = 0.003
    """Step size of Adam."""
    weight_decay: float = 1e-4
    """Weight decay of Adam."""
    batch_size: int = 1024
    """Targets per step."""
    num_steps: int = 3000
    """Maximum number of steps, rounded up to whole rounds."""
    patience: int = 200
    """Steps without a better validation score before training ends."""
    round_steps: int = 10
    """Minimum number of steps between validations; a round is one or more passes over the targets."""


class SignNetwork(nn.Module):
    """W' dropout(PReLU(W_0 x_0 || W_1 x_1 || ...)) with a linear layer for each operator."""

    def __init__(self, in_dim: int, out_dim: int, num_operators: int, options: SignOptions) -> None:
        """Make the layers; the features of every operator have in_dim columns."""
        super().__init__()
        self.inner = nn.ModuleList(nn.Linear(in_dim, options.hidden_dim) for _ in range(num_operators))
        self.activation = nn.PReLU()
        self.outer = nn.Linear(num_operators * options.hidden_dim, out_dim)
        self.dropout = options.dropout

    def forward(self, inputs: Sequence[Tensor]) -> Tensor:
        """Return the logits of some rows: one [B, F] for each operator. [B, C]"""
        joined = torch.cat([linear(x) for linear, x in zip(self.inner, inputs, strict=True)], dim=1)
        logits: Tensor = self.outer(dropout(self.activation(joined), self.dropout, training=self.training))
        return logits


def sign(
    problem: Problem, progress: Progress = silent, *, num_seeds: int = 1, powers: Powers | None = None
) -> list[BaselineResult]:
    """Train SIGN with seeds 0 and up; powers and dropout are chosen on validation with the first.

    powers: fixed (p, s, t) instead. The propagation is shared.
    """
    begin = time.perf_counter()
    candidates = POWERS if powers is None else (powers,)
    inputs = sign_inputs(problem, most_powers(candidates), progress)
    tried = [SignOptions(powers=each, dropout=share) for each, share in itertools.product(candidates, DROPOUTS)]
    results = [train_sign(problem, inputs, options, 0, progress) for options in tried]
    best = max(range(len(tried)), key=lambda number: results[number].valid)
    first = replace(results[best], seconds=time.perf_counter() - begin)
    others = [train_sign(problem, inputs, tried[best], seed, progress) for seed in range(1, num_seeds)]
    return [first, *others]


def sign_inputs(problem: Problem, powers: Powers, progress: Progress = silent) -> SignInputs:
    """Apply every operator up to the powers, and return the rows of the targets."""
    made = propagated(problem.graph, input_matrix(problem.graph), powers, progress)
    return {name: split_inputs(problem, part) for name, part in made}


def train_sign(
    problem: Problem, inputs: SignInputs, options: SignOptions, seed: int, progress: Progress = silent
) -> BaselineResult:
    """Train one network until validation no longer improves, and score its best state."""
    begin = time.perf_counter()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        names = operator_names(options.powers)
        parts = {split: [inputs[name][split] for name in names] for split in problem.targets}
        network = SignNetwork(parts["train"][0].shape[1], problem.task.out_dim, len(parts["train"]), options)
        best_valid, best_step = -1.0, 0
        weights: dict[str, Tensor] = {}
        for step in _rounds(problem, network, parts["train"], options, seed):
            progress(f"SIGN{options.powers}".replace(" ", ""), step, options.num_steps)
            valid = problem.score("valid", _evaluated(network, parts["valid"], options))
            if valid > best_valid:
                best_valid, best_step = valid, step
                weights = {name: value.clone() for name, value in network.state_dict().items()}
            if step - best_step >= options.patience:
                break
        network.load_state_dict(weights)
        test = problem.score("test", _evaluated(network, parts["test"], options)) if "test" in parts else None
    memory = needed("sign", problem, powers=options.powers).total
    settings = {"powers": list(options.powers), "dropout": options.dropout, "steps": best_step}
    return BaselineResult("sign", problem.metric, best_valid, test, time.perf_counter() - begin, settings, memory, seed)


def _rounds(
    problem: Problem, network: SignNetwork, inputs: Sequence[Tensor], options: SignOptions, seed: int
) -> Iterator[int]:
    """Train pass after pass over the targets and give the number of steps after each round."""
    optimizer = torch.optim.Adam(
        network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay, fused=True
    )
    labels, step, begin = problem.labels["train"], 0, 0
    for epoch in itertools.count():
        network.train()
        order = torch.from_numpy(permutation(len(labels), derive_seed("sign", seed, epoch)))
        for rows in torch.split(order, options.batch_size):
            loss = problem.task.loss(network([x[rows] for x in inputs]), labels[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            step += 1
        if step - begin >= options.round_steps:
            yield step
            begin = step
        if begin >= options.num_steps:
            return


@torch.no_grad()
def _evaluated(network: SignNetwork, inputs: Sequence[Tensor], options: SignOptions) -> Tensor:
    """Return the logits of all rows, in blocks. [B, C]"""
    network.eval()
    blocks: Iterable[tuple[Tensor, ...]] = zip(*(torch.split(x, 8 * options.batch_size) for x in inputs), strict=True)
    return torch.cat([network(block) for block in blocks])
