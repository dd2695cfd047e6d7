"""Calls into the core that would take minutes, each in a fork that gets a signal: how it ended, and how soon.

Run as a program with a JSON list of [name, signal number]; prints a JSON list of [exit code, seconds, CPU seconds],
both from the signal on. The code is 0 if the call ended by itself, 130 after Ctrl-C and 143 after SIGTERM, as of the
commands.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from shadow_gnn import _core

COMMON: dict[str, Any] = {"positions": False, "seed": 0, "num_threads": 2}
BIG = 2**31 - 1


class Terminated(BaseException):
    """SIGTERM arrived."""


@cache
def hub(weighted: bool = False) -> _core.GraphView:
    """Return a star: 10^6 nodes around node 0."""
    size = 10**6
    indptr = np.concatenate(([0], np.arange(size, 2 * size + 1)))
    indices = np.concatenate((np.arange(1, size + 1), np.zeros(size))).astype(np.int32)
    return _core.GraphView(indptr, indices, np.ones(2 * size, np.float32) if weighted else None, True)


@cache
def clique() -> _core.GraphView:
    """Return 5,000 nodes with every edge between them."""
    size = 5000
    indices = np.arange(size - 1, dtype=np.int32) + (np.arange(size - 1) >= np.arange(size)[:, None])
    indptr = np.arange(0, size * (size - 1) + 1, size - 1)
    return _core.GraphView(indptr, indices.astype(np.int32).reshape(-1), None, True)


def ppr(view: _core.GraphView, tolerance: float = 1e-12, precision: float = 0.15) -> object:
    options: dict[str, Any] = {"topk": 4000, "teleport": 0.001, "threshold": 0.0, "relative_threshold": True}
    options |= {"stochastic": False, "max_nodes": BIG, "tolerance": tolerance, "precision": precision}
    return _core.extract_ppr(view, np.array([[0]]), **options, **COMMON)


def shared_ppr(view: _core.GraphView) -> object:
    """Score around 50 seeds at once."""
    options: dict[str, Any] = {"topk": 4000, "teleport": 0.001, "threshold": 0.0, "relative_threshold": True}
    options |= {"max_nodes": BIG, "tolerance": 1e-12, "precision": 0.15}
    return _core.extract_shared_ppr(view, np.arange(50)[None], np.full(50, 0.02), **options, **COMMON)


def long_names() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return half a million names that differ in their last bytes alone."""
    count, length = 500_000, 300
    text = np.full((count, length), ord("a"), np.uint8)
    text[:, -4:] = np.random.default_rng(0).integers(97, 123, size=(count, 4))
    return np.arange(0, count * length + 1, length), text.reshape(-1)


def nearest() -> object:
    return _core.nearest_names(*long_names(), np.full(300, ord("b"), np.uint8), 1000, 1000)


def katz(view: _core.GraphView, attenuation: float) -> object:
    options = {"topk": 4000, "max_weight": 1.0, "tolerance": 1e-15, "precision": 0.01}
    return _core.extract_katz(view, np.array([[0]]), attenuation=attenuation, **options, **COMMON)


def heat(view: _core.GraphView) -> object:
    options = {"topk": 4000, "time": 100.0, "tolerance": 1e-15, "precision": 0.15}
    return _core.extract_heat(view, np.array([[0]]), **options, **COMMON)


def rwr(view: _core.GraphView) -> object:
    return _core.extract_rwr(view, np.array([[0]]), topk=9, teleport=0.001, num_walks=10_000_000, sums=None, **COMMON)


def simrank(view: _core.GraphView) -> object:
    options = {"topk": 9, "decay": 0.9, "num_walks": 10_000, "walk_length": 32, "num_candidates": 2_000_000}
    return _core.extract_simrank(view, np.array([[1]]), sums=None, reverse=None, **options, **COMMON)


def fire(view: _core.GraphView) -> object:
    targets = np.zeros((10**7, 1), np.int64)
    return _core.extract_fire(view, targets, forward=0.999, backward=0.0, max_nodes=10**6, reverse=None, **COMMON)


def khop(view: _core.GraphView) -> object:
    options: dict[str, Any] = {"num_hops": 2, "fanout": -1, "replace": False, "max_nodes": BIG}
    return _core.extract_khop(view, np.zeros((10**6, 1), np.int64), **options, **COMMON)


def similar() -> object:
    """Compare all of the clique by 100,000 columns: half a minute for each target."""
    rows = np.zeros((5000, 100_000), np.int8)
    features = _core.Features.dense(rows, np.ones(100_000, np.float32))
    targets = np.arange(5000).reshape(1, -1)
    options: dict[str, Any] = {"topk": 9, "candidates": 5000, "teleport": 0.5, "precision": 1.0, "max_nodes": BIG}
    return _core.extract_similar(clique(), targets, features=features, more_ptr=None, more_id=None, **options, **COMMON)


def given() -> object:
    count = 3000
    ptr, node_id = np.arange(0, 5000 * count + 1, 5000), np.tile(np.arange(5000), count)
    score = np.ones(len(node_id), np.float32)
    return _core.induce(
        clique(), np.zeros((count, 1), np.int64), ptr=ptr, node_id=node_id, score=score, max_nodes=BIG, **COMMON
    )


def model(kind: str = "rmat", num_nodes: int = BIG) -> _core.GraphModel:
    return _core.GraphModel(kind, num_nodes=num_nodes, num_classes=2, num_communities=1000, inside=0.5, seed=0)


def saint(kind: str) -> _core.SaintSampler:
    return _core.SaintSampler(clique(), np.arange(5000), kind=kind, budget=BIG, walk_length=1000, frontier=1000)


def saint_count() -> object:
    sampler = _core.SaintSampler(clique(), np.arange(5000), kind="rw", budget=10**5, walk_length=1000, frontier=1)
    counts = np.zeros(5000, np.int32), np.zeros(5000 * 4999, np.int32)
    return sampler.count(0, 0, 10**5, *counts, 2)


def sums() -> object:
    """Sum along the edges of the clique, one per column."""
    indptr = np.arange(0, 5000 * 4999 + 1, 4999)
    edges = _core.Edges(indptr, np.tile(np.arange(4999), 5000))
    x = np.ones((5000, 8192), np.float32)
    return _core.sum_edges(edges, x, np.empty_like(x), None, None, False, 2)


CALLS: dict[str, Callable[[], object]] = {
    "ppr on a hub": lambda: ppr(hub()),
    "ppr on a weighted hub": lambda: ppr(hub(weighted=True)),
    "ppr in a clique": lambda: ppr(clique()),
    "heat on a hub": lambda: heat(hub()),
    "heat in a clique": lambda: heat(clique()),
    "katz on a hub": lambda: katz(hub(), 0.00099999),
    "katz in a clique": lambda: katz(clique(), 0.9999 / 4999),
    "rwr on a hub": lambda: rwr(hub()),
    "rwr in a clique": lambda: rwr(clique()),
    "simrank on a hub": lambda: simrank(hub()),
    "simrank in a clique": lambda: simrank(clique()),
    "fire on a hub": lambda: fire(hub()),
    "fire in a clique": lambda: fire(clique()),
    "full on a hub": lambda: khop(hub()),
    "full in a clique": lambda: khop(clique()),
    "similar in a clique": similar,
    "induce in a clique": given,
    "edges of a model": lambda: model().edges(0, 2**28, 2),
    "labels of a model": lambda: model().labels(0, 2**28, 2),
    "features of a model": lambda: model(num_nodes=2**20).features(0, 2**12, 2**19, 1),
    "splits of a model": lambda: model().splits(0, BIG, 1, 2, 3, 1),
    "nodes by nodes": lambda: saint("node").nodes(0, 0),
    "nodes by edges": lambda: saint("edge").nodes(0, 0),
    "nodes by walks": lambda: saint("rw").subgraph(0, 0),
    "nodes by a frontier": lambda: saint("mrw").subgraph(0, 0),
    "counts of subgraphs": saint_count,
    "hop counts": lambda: _core.hop_counts(clique(), np.tile(np.arange(5000), 999), num_hops=9, num_threads=2),
    "sums along edges": sums,
    "ppr of many seeds on a hub": lambda: shared_ppr(hub()),
    "ppr of many seeds in a clique": lambda: shared_ppr(clique()),
    "nearest names": nearest,
}


def call(name: str, ready: int) -> int:
    """Call in the child; return its exit code."""
    hub(), clique()
    os.write(ready, b"1")
    try:
        CALLS[name]()
    except KeyboardInterrupt:
        return 130
    except Terminated:
        return 143
    except BaseException:
        traceback.print_exc()
        return 99
    return 0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far, of all its threads."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(name: str, number: int) -> tuple[int, float, float]:
    """Start the call in a fork and send the signal while it runs; one that is deaf is killed after half a minute."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os._exit(call(name, writing))
    os.read(reading, 1)
    time.sleep(0.7)
    begin, used = time.monotonic(), cpu_seconds(pid)
    os.kill(pid, number)
    ended = 0
    while not ended:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        seconds = time.monotonic() - begin
        if seconds > 30:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(status), seconds, max(0.0, usage.ru_utime + usage.ru_stime - used)


def _terminate(*_: object) -> None:
    raise Terminated


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    hub(), hub(weighted=True), clique()
    print(json.dumps([interrupt(*case) for case in json.loads(sys.argv[1])]))
