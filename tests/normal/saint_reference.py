"""Plain twins of GraphSAINT's samplers: the same random numbers, drawn one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.graph.record import Graph
from shadow_gnn.normal.saint_samplers import EdgeSampler, FrontierSampler, WalkSampler

WORD = 2**64 - 1


def mix64(z: int) -> int:
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def combine(key: int, word: int) -> int:
    return mix64(key ^ mix64(word))


class Rng:
    """The counter-based generator of one subgraph."""

    def __init__(self, seed: int, number: int) -> None:
        self.key, self.counter = combine(mix64(seed), number), 0

    def below(self, bound: int) -> int:
        x = combine(self.key, self.counter)
        self.counter += 1
        return (x * bound) >> 64


def senders(graph: Graph, node: int) -> list[int]:
    return graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist()


def step(graph: Graph, node: int, rng: Rng) -> int:
    choice = senders(graph, node)
    return choice[rng.below(len(choice))] if choice else node


def walk_nodes(graph: Graph, targets: list[int], sampler: WalkSampler, seed: int, number: int) -> list[int]:
    rng = Rng(seed, number)
    walkers = [targets[rng.below(len(targets))] for _ in range(sampler.num_walks)]
    visited = set(walkers)
    for _ in range(sampler.walk_length):
        walkers = [step(graph, node, rng) for node in walkers]
        visited |= set(walkers)
    return sorted(visited)


def edge_nodes(graph: Graph, targets: list[int], sampler: EdgeSampler, seed: int, number: int) -> list[int]:
    rng, ends = Rng(seed, number), set()
    receivers = [node for node in range(graph.num_nodes) if senders(graph, node)]
    for _ in range(sampler.num_edges):
        receiver = receivers[rng.below(len(receivers))]
        ends |= {receiver, step(graph, receiver, rng)}
    return sorted(ends)


def frontier_nodes(graph: Graph, targets: list[int], sampler: FrontierSampler, seed: int, number: int) -> list[int]:
    rng = Rng(seed, number)
    front = [targets[rng.below(len(targets))] for _ in range(sampler.frontier)]
    visited = set(front)
    for _ in range(sampler.num_nodes - sampler.frontier):
        ends = np.cumsum([len(senders(graph, node)) for node in front])
        if ends[-1] == 0:
            break
        slot = int(np.flatnonzero(ends > rng.below(int(ends[-1])))[0])
        front[slot] = step(graph, front[slot], rng)
        visited.add(front[slot])
    return sorted(visited)


def column_norms(graph: Graph) -> NDArray[np.float64]:
    """Return the squared norm of each column of D^-1 A by the dense matrix."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for node in range(graph.num_nodes):
        for sender in senders(graph, node):
            matrix[node, sender] = 1 / len(senders(graph, node))
    norms: NDArray[np.float64] = (matrix**2).sum(axis=0)
    return norms
