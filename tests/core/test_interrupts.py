"""Ctrl-C and SIGTERM end any call into the core within two seconds, also in the middle of one target."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.core.interrupted import CALLS, hub, ppr

from shadow_gnn import _core
from shadow_gnn.base.prefetch import Prefetch

SECONDS = 2  # Of CPU time, which other work on the machine does not change; one that waits is killed after 30.
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def endings(cases: list[tuple[str, int]]) -> list[tuple[int, float]]:
    """Interrupt calls in a process that has no other threads; return exit code and CPU seconds of each."""
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[2]))
    command = [sys.executable, "-m", "tests.core.interrupted", json.dumps(cases)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [(code, used) for code, _, used in json.loads(done.stdout)]


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc on this system")
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_signals_end_a_push_on_a_hub(number: signal.Signals) -> None:
    ((code, seconds),) = endings([("ppr on a hub", number)])
    assert code == CODES[number]
    assert seconds < SECONDS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no /proc on this system")
def test_signals_end_every_long_call() -> None:
    cases = [(name, number) for name in CALLS for number in CODES]
    late = [
        (name, signal.Signals(number).name, code, round(seconds, 1))
        for (name, number), (code, seconds) in zip(cases, endings(cases), strict=True)
        if code != CODES[signal.Signals(number)] or seconds >= SECONDS
    ]
    assert late == []


def test_a_thread_that_is_told_to_stop_leaves_the_core() -> None:
    """Signals reach the main thread alone: a loader's thread would go on for minutes."""

    def items() -> object:
        started.set()
        yield ppr(hub())

    started = threading.Event()
    ahead = Prefetch(items(), 1)  # type: ignore[arg-type]
    assert started.wait(10)
    time.sleep(0.3)
    begin = time.process_time()
    ahead.close()
    assert time.process_time() - begin < SECONDS


def test_work_goes_on_after_a_signal_that_is_handled() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: heard.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        view = _core.GraphView(np.array([0, 1, 2]), np.array([1, 0], np.int32), None, True)
        sampler = _core.SaintSampler(view, np.array([0, 1]), kind="rw", budget=10**7, walk_length=5, frontier=1)
        assert sampler.nodes(0, 0).tolist() == [0, 1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard


def test_changes_hear_signals_while_they_are_sorted_and_merged() -> None:
    count, size = 6_000_000, 100_000
    rng = np.random.default_rng(0)
    ends = rng.integers(size, size=(2, count))
    changes = _core.Changes.of(_core.GraphView(np.zeros(size + 1, np.int64), np.zeros(0, np.int32), None, True))
    heard: list[float] = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(time.process_time()))
    begin = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        changes.apply(*ends, np.ones(count, np.float32), np.arange(count))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    end = time.process_time()
    assert changes.num_edges == len(np.unique(ends[0] * size + ends[1]))
    assert max(np.diff([begin, *heard, end])) < (end - begin) / 3


def test_many_targets_of_one_scope_are_no_square() -> None:
    indptr = np.zeros(100_001, np.int64)
    view = _core.GraphView(indptr, np.zeros(0, np.int32), None, True)
    targets = np.arange(100_000).reshape(1, -1)
    begin = time.process_time()
    node_id = _core.extract_node(view, targets, positions=False, seed=0, num_threads=1)[1]
    offered = np.arange(100_000)
    _core.induce(
        view, targets, ptr=np.array([0, 100_000]), node_id=offered, score=np.ones(100_000, np.float32),
        max_nodes=2**31 - 1, positions=False, seed=0, num_threads=1,
    )  # fmt: skip
    assert len(node_id) == 100_000
    assert time.process_time() - begin < 2
