"""Exact PPR of a benchmark's targets, solved once and kept under build/bench.

Not for: the solver itself (shadow_gnn.studies.analysis.exact_ppr).
"""

from __future__ import annotations

import hashlib

import numpy as np
from common import CACHE

from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.analysis.exact_ppr import ExactPpr, exact_ppr

TELEPORT = 0.2609


def cached_exact(graph: Graph, targets: np.ndarray, topk: int) -> ExactPpr:
    """Return the best 5 * topk exact scores of each target."""
    key = hashlib.blake2b(f"{graph.fingerprint} {TELEPORT} {topk}".encode() + targets.tobytes(), digest_size=8)
    path = CACHE / f"exact-{key.hexdigest()}.npz"
    if not path.is_file():
        print(f"solving exact PPR of {len(targets):,} targets once (a minute or two)", flush=True)
        exact = exact_ppr(graph, targets, TELEPORT, keep=5 * topk, tolerance=1e-8, dtype=np.float32)
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(path, targets=exact.targets, ptr=exact.ptr, node_id=exact.node_id, score=exact.score)
        return exact
    with np.load(path, allow_pickle=False) as arrays:
        return ExactPpr(arrays["targets"], arrays["ptr"], arrays["node_id"], arrays["score"])


def part(exact: ExactPpr, rows: np.ndarray) -> ExactPpr:
    """Return the lists of some rows of targets."""
    lists = [exact.row(int(row)) for row in rows]
    return ExactPpr(
        targets=exact.targets[rows],
        ptr=np.concatenate(([0], np.cumsum([len(node_id) for node_id, _ in lists]))).astype(np.int64),
        node_id=np.concatenate([node_id for node_id, _ in lists]),
        score=np.concatenate([score for _, score in lists]),
    )
