"""Workers: the processes of a service; one that dies is started again, one that hangs is ended.

Not for: what they do (worker.py), or their updates (hub.py).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict

from prometheus_client.multiprocess import mark_process_dead

from shadow_gnn.base.errors import RunError
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.serve.channel import Channel, Message
from shadow_gnn.serve.hub import Hub, Reader
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.metrics import TOGETHER
from shadow_gnn.serve.server import DRAIN_SECONDS
from shadow_gnn.serve.start import Start
from shadow_gnn.serve.worker import Orders

HANG_SECONDS = 20.0
"""A worker that has not made an update for so long is ended."""
_PAUSE_SECONDS = 0.1
_START_SECONDS = 300.0


class Workers:
    """Processes that answer on one port, and the writer between them."""

    def __init__(
        self,
        start: Start,
        live: LiveGraph,
        hub: Hub,
        *,
        num_workers: int,
        host: str,
        port: int,
        token: str | None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start all workers and wait until they answer; a ValueError has the line of one that cannot."""
        assert live.log is not None
        assert live.stored.path is not None
        self._hub, self._num_workers, self._note = hub, num_workers, note
        self._orders = Orders(
            start.to_json(), str(live.stored.path), str(live.log.folder), host, port, token, channel=-1
        )
        self._metrics = tempfile.mkdtemp(prefix="shadow-metrics-")
        self._processes: dict[Reader, subprocess.Popen[bytes]] = {}
        self._lock, self._ending = threading.Lock(), threading.Event()
        self._faults: list[str] = []
        try:
            for reader in [self._start(notes=number == 0) for number in range(num_workers)]:
                reader.ready.wait(_START_SECONDS)
            if self._faults or any(process.poll() is not None for process in self._processes.values()):
                raise RunError(self._faults[0] if self._faults else "serve: a worker has ended while it started")
        except BaseException:
            self.close()
            raise

    def run(self, ended: threading.Event) -> None:
        """Keep the workers alive until an event is set."""
        while not ended.wait(_PAUSE_SECONDS):
            slowest = self._hub.slowest()
            if slowest is not None and slowest[1] > HANG_SECONDS and slowest[0] in self._processes:
                self._note(f"worker {self._processes[slowest[0]].pid} hangs and is ended")
                self._processes[slowest[0]].kill()
            with self._lock:
                missing = self._num_workers - len(self._processes)
            while self._faults:
                self._note(f"a worker cannot start: {self._faults.pop()}")
            if missing > 0:
                self._start()

    def close(self) -> None:
        """Let all workers finish their requests, and end."""
        self._ending.set()
        with self._lock:
            left = list(self._processes.values())
        for process in left:
            process.send_signal(signal.SIGTERM)
        until = time.monotonic() + DRAIN_SECONDS + 5
        for process in left:
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self._metrics, ignore_errors=True)

    @property
    def pids(self) -> list[int]:
        """Ids of the processes."""
        with self._lock:
            return [process.pid for process in self._processes.values()]

    def _start(self, *, notes: bool = False) -> Reader:
        here, there = socket.socketpair()
        orders = json.dumps({**asdict(self._orders), "channel": there.fileno(), "notes": notes}).encode()
        process = subprocess.Popen(
            [sys.executable, "-m", "shadow_gnn.serve.worker"],
            stdin=subprocess.PIPE,
            pass_fds=(there.fileno(),),
            env=self._environment(),
            start_new_session=True,  # Ctrl-C is for the first process, which then ends the others.
        )
        there.close()
        with self._lock:
            reader = self._hub.join(_Noting(here, self._faults, self._note), self._gone)
            self._processes[reader] = process
        assert process.stdin is not None
        try:
            process.stdin.write(orders)
            process.stdin.close()
        except OSError:
            pass  # It has ended, which the channel tells.
        return reader

    def _environment(self) -> dict[str, str]:
        """Return the environment of a worker: cores are shared, metrics are joined."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = str(max(1, cores // self._num_workers))
        shared = {
            "LOCAL_WORLD_SIZE": str(self._num_workers),
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads),
        }
        return {**os.environ, **shared, TOGETHER: self._metrics}

    def _gone(self, reader: Reader) -> None:
        with self._lock:
            process = self._processes.pop(reader, None)
        if process is None:
            return
        process.wait()
        reader.channel.close()
        mark_process_dead(process.pid, self._metrics)  # type: ignore[no-untyped-call]
        if not self._ending.is_set():
            self._note(f"worker {process.pid} has ended with {process.returncode}")
            self._ending.wait(_PAUSE_SECONDS)


class _Noting(Channel):
    """A channel that keeps the notes of a worker, and the fault of one that could not start."""

    def __init__(self, end: socket.socket, faults: list[str], note: Callable[[str], None]) -> None:
        super().__init__(end)
        self._faults, self._note = faults, note

    def listen(self, handle: Callable[[Message], None], ended: Callable[[], None]) -> None:
        """Handle messages, but keep a fault for the process that starts the workers."""

        def noting(message: Message) -> None:
            if set(message) == {"fault", "line"}:
                self._faults.append(message["line"])
            elif "note" in message:
                self._note(message["note"])
            else:
                handle(message)

        super().listen(noting, ended)


def run_workers(
    start: Start,
    live: LiveGraph,
    *,
    num_workers: int,
    host: str,
    port: int,
    token: str | None,
    compact_after: int,
    started: Callable[[], None],
    note: Callable[[str], None],
) -> None:
    """Answer requests with several processes until SIGTERM or SIGINT; SIGHUP reads the runs again."""
    hub, ended = Hub(live, Limits(), compact_after=compact_after, note=note), threading.Event()

    def reloaded(answer: Message) -> None:
        note(f"{answer['line']}; the old runs go on" if "fault" in answer else "the runs were read again")

    kept = {number: signal.signal(number, lambda *_: ended.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    kept[signal.SIGHUP] = signal.signal(
        signal.SIGHUP, lambda *_: threading.Thread(target=hub.reload, args=(None, reloaded), daemon=True).start()
    )
    try:
        workers = Workers(start, live, hub, num_workers=num_workers, host=host, port=port, token=token, note=note)
        try:
            started()
            workers.run(ended)
        finally:
            workers.close()
    finally:
        hub.close()
        for number, handler in kept.items():
            signal.signal(number, handler)
