"""PPR top-200: recall against exact PPR, and CPU time against torch_geometric.utils.get_ppr at the same recall."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from common import (
    Bar,
    Report,
    busy_share,
    cpu_seconds,
    finish,
    graphs,
    load_line,
    micro,
    options,
    random_targets,
)
from exact_ppr import TELEPORT, cached_exact, part
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.analysis.exact_ppr import TIE, ExactPpr, Recall, recall_at_k

TOPK = 200
TOLERANCES = (1e-5, 3e-6, 1e-6, 3e-7)
PEER_SAMPLE = 200


class Peer:
    """get_ppr on one graph, with its cost per call that does not depend on the targets."""

    def __init__(self, graph: Graph) -> None:
        import numba
        import torch

        numba.set_num_threads(1)
        row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
        self.num_nodes = graph.num_nodes
        self.edge_index = torch.from_numpy(np.stack([row, graph.indices.astype(np.int64)]))
        self(np.arange(2), 1e-2)  # compiles
        self.set_up = float(np.median([cpu_seconds(partial(self, np.arange(1), 0.5)) for _ in range(5)]))

    def __call__(self, targets: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        import torch
        from torch_geometric.utils import get_ppr

        edges, score = get_ppr(self.edge_index, TELEPORT, tolerance, torch.from_numpy(targets), self.num_nodes)
        return edges.numpy(), score.numpy()


def recall_of(ranked: tuple[np.ndarray, np.ndarray], exact: ExactPpr) -> float:
    """Mean recall of the best TOPK of each target among get_ppr's (target, node) pairs and scores."""
    (row, node_id), score = ranked
    found = []
    for at, target in enumerate(exact.targets[:, 0]):
        mine = row == target
        chosen = node_id[mine][np.argsort(-score[mine], kind="stable")[:TOPK]]
        best, value = exact.row(at)
        count = min(TOPK, len(best))
        right = best[value >= value[count - 1] * (1 - TIE)]
        found.append(min(1.0, np.isin(chosen, right).sum() / count))
    return float(np.mean(found))


def groups_of(graph: Graph, targets: np.ndarray) -> dict[str, np.ndarray]:
    """Return the rows of hubs, leaves and targets in small components."""
    degree = np.diff(graph.indptr)
    matrix = csr_array((np.ones(graph.num_edges, np.int8), graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2)
    label = connected_components(matrix, directed=False)[1]
    component = np.bincount(label)[label]
    return {
        "hubs (top 1 % degree)": np.flatnonzero(degree[targets] >= np.quantile(degree, 0.99)),
        "leaves (degree 1)": np.flatnonzero(degree[targets] == 1),
        "components of at most 200": np.flatnonzero(component[targets] <= TOPK),
    }


def extra_targets(graph: Graph, count: int) -> np.ndarray:
    """Return random hubs, leaves and nodes of small components, which a random draw has few of."""
    rng = np.random.default_rng(1)
    chosen = [rng.permutation(rows)[:count] for rows in groups_of(graph, np.arange(graph.num_nodes)).values()]
    return np.unique(np.concatenate(chosen))


def quality_row(name: str, group: str, found: Recall) -> list[str]:
    p5, least = np.quantile(found.recall, 0.05), found.recall.min()
    numbers = [f"{value:.4f}" for value in (found.recall.mean(), p5, least, found.mass_share.mean())]
    return [name, group, str(len(found.recall)), *numbers]


def quality(name: str, graph: Graph, count: int, report: Report) -> None:
    """Add recall rows and bars of one graph."""
    extractor = PprExtractor(topk=TOPK, teleport=TELEPORT)
    targets = random_targets(graph, count)
    found = recall_at_k(extractor(graph, targets), cached_exact(graph, targets, TOPK), TOPK)
    report.rows.append(quality_row(name, "random", found))
    mean, p5, mass = found.recall.mean(), np.quantile(found.recall, 0.05), found.mass_share.mean()
    report.bars += [
        Bar(f"{name}: mean recall@200 >= 0.90", f"{mean:.4f}", bool(mean >= 0.90)),
        Bar(f"{name}: 5th percentile of recall >= 0.80", f"{p5:.4f}", bool(p5 >= 0.80)),
        Bar(f"{name}: mean share of the top-200's PPR mass >= 0.99", f"{mass:.4f}", bool(mass >= 0.99)),
    ]
    extra = extra_targets(graph, max(10, count // 10))
    exact = cached_exact(graph, extra, TOPK)
    scopes = extractor(graph, extra)
    full = recall_at_k(scopes, exact, TOPK)
    for group, rows in groups_of(graph, extra).items():
        if len(rows) == 0:
            report.notes.append(f"{name} has no {group}.")
            continue
        some = Recall(full.recall[rows], full.mass_share[rows])
        report.rows.append(quality_row(name, group, some))
        share = some.mass_share.mean()
        report.bars.append(Bar(f"{name}: {group} keep >= 0.97 of the mass", f"{share:.4f}", bool(share >= 0.97)))


def speed(name: str, graph: Graph, count: int, report: Report) -> None:
    """Add a note and a bar: our CPU time against the peer's for our recall on the same targets."""
    extractor = PprExtractor(topk=TOPK, teleport=TELEPORT, num_threads=1)
    targets = random_targets(graph, count)
    sample = np.arange(min(PEER_SAMPLE, count // 5))
    exact = part(cached_exact(graph, targets, TOPK), sample)
    recall = float(recall_at_k(extractor(graph, targets[sample]), exact, TOPK).recall.mean())
    claim = f"{name}: at least 80 times less CPU time than get_ppr at the same recall"
    try:
        peer = Peer(graph)
    except ImportError as error:
        report.bars.append(Bar(claim, f"no peer here: {error}", None))
        return
    ours, steps = in_steps(partial(extractor, graph, targets), peer, exact, recall)
    theirs = at_recall(steps, recall)
    per_target = float(np.median(ours)) / len(targets)
    seen = ", ".join(f"{step.tolerance:g}: {step.recall:.3f} in {micro(step.seconds)} µs" for step in steps)
    report.notes.append(
        f"{name}: ours {micro(per_target)} µs of CPU time per target (ranking, induction, hops; 1 thread) for recall "
        f"{recall:.3f} on {len(sample)} targets; get_ppr (ranking alone, setup of {peer.set_up * 1e3:.0f} ms per call "
        f"not counted) by tolerance: {seen}; {micro(theirs)} µs at our recall, between the last two."
    )
    ratio = theirs / per_target
    report.bars.append(Bar(claim, f"{ratio:.0f} times", bool(ratio >= 80)))


@dataclass(frozen=True)
class Step:
    """The peer at one tolerance."""

    tolerance: float
    recall: float
    seconds: float


def in_steps(ours: Callable[[], object], peer: Peer, exact: ExactPpr, recall: float) -> tuple[list[float], list[Step]]:
    """Refine the peer until it has our recall, each time in turns with ours."""
    ours()
    our_seconds: list[float] = []
    steps: list[Step] = []
    for tolerance in TOLERANCES:
        our_seconds += [cpu_seconds(ours), cpu_seconds(ours)]
        begin = time.process_time()
        ranked = peer(exact.targets[:, 0], tolerance)
        seconds = time.process_time() - begin - peer.set_up
        steps.append(Step(tolerance, recall_of(ranked, exact), seconds / len(exact.targets)))
        if steps[-1].recall >= recall:
            break
    return our_seconds, steps


def at_recall(steps: list[Step], recall: float) -> float:
    """Return the peer's seconds at a recall between its last two tolerances, on a logarithmic scale of time."""
    if len(steps) < 2 or steps[-1].recall < recall:
        return steps[-1].seconds
    before, after = steps[-2:]
    share = (recall - before.recall) / (after.recall - before.recall)
    return float(before.seconds * (after.seconds / before.seconds) ** share)


def main(chosen: argparse.Namespace) -> None:
    columns = ("graph", "targets", "number", "mean recall", "p5", "least", "mass share")
    report = Report("PPR top-200: quality and speed", columns, notes=[load_line(busy_share())])
    count = 100 if chosen.quick else 1000
    for name, graph in graphs(chosen).items():
        quality(name, graph, count, report)
        speed(name, graph, count, report)
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
