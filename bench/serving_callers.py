"""Services in processes of their own, and callers with raw sockets; for the benchmarks of `shadow serve`.

Not for: measuring anything itself.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import uvloop

Body = Callable[[int], dict[str, Any]]


class Server:
    """`shadow serve` in a process of its own."""

    def __init__(self, folder: Path, run: Path, log: Path, *more: str) -> None:
        command = [sys.executable, "-m", "shadow_gnn", "serve", str(run), "--graph", str(folder), "--updates", str(log)]
        self._start([*command, "--port", "0", "--json", *more])

    def _start(self, command: list[str]) -> None:
        """Start a process that prints JSON with its address, and wait until it answers."""
        begin = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(self.process.stdout.readline())
            assert lines[-1], "the service has ended"
        self.port = int(json.loads("".join(lines))["url"].rpartition(":")[2])
        asyncio.run(self._wait())
        self.seconds_to_ready = time.monotonic() - begin

    async def _wait(self) -> None:
        while True:
            try:
                caller = await Caller.connected(self.port)
                await caller.send("GET", "/readyz", b"")
                caller.close()
                return
            except OSError:
                await asyncio.sleep(0.01)

    def anonymous_megabytes(self) -> float:
        """Return the anonymous memory of the process and of its workers."""
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return sum(map(_anonymous_megabytes, (self.process.pid, *map(int, found.stdout.split()))))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def _anonymous_megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return float("nan")


class Caller(asyncio.Protocol):
    """One keep-alive connection, as cheap as Python allows: one write and one callback for each request."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._received = b""
        self._answer: asyncio.Future[bytes] | None = None

    @classmethod
    async def connected(cls, port: int) -> Caller:
        _, caller = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return caller

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # That of uvloop does not inherit from it.

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        at = self._received.find(b"content-length:")
        length = int(self._received[at + 15 : self._received.index(b"\r", at)])
        if len(self._received) == end + length and self._answer is not None:
            self._answer.set_result(self._received)

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("the service has closed the connection"))

    async def send(self, method: str, path: str, body: bytes) -> bytes:
        self._received, self._answer = b"", asyncio.get_running_loop().create_future()
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self._answer
        content = answer[answer.index(b"\r\n\r\n") + 4 :]
        assert answer.startswith(b"HTTP/1.1 200"), content
        return content

    def close(self) -> None:
        self.transport.close()


@dataclass(frozen=True)
class Load:
    """What came of many requests."""

    seconds: np.ndarray
    """Of each request."""
    per_second: float
    caller_cores: float
    """Processor time of the callers themselves, for each second; of all streams that ran at once."""


async def _load(port: int, path: str, body: Body, callers: int, count: int, method: str) -> Load:
    times: list[float] = []
    numbers = iter(range(count))

    async def one() -> None:
        caller = await Caller.connected(port)
        for number in numbers:
            data = json.dumps(body(number)).encode() if method != "GET" else b""
            begin = time.perf_counter()
            await caller.send(method, path, data)
            times.append(time.perf_counter() - begin)
        caller.close()

    begin, own = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(callers)))
    passed = time.perf_counter() - begin
    return Load(np.array(times), count / passed, (time.process_time() - own) / passed)


def load(port: int, path: str, body: Body, *, callers: int, count: int, method: str = "POST") -> Load:
    """Send so many requests by so many callers at once."""
    return uvloop.run(_load(port, path, body, callers, count, method))


@dataclass(frozen=True)
class Stream:
    """Requests of one kind that are sent for some time."""

    path: str
    body: Body
    callers: int
    per_second: float | None = None
    """Requests to begin in each second; None for as many as are answered."""


async def _stream(port: int, stream: Stream, until: float) -> list[float]:
    times: list[float] = []
    number = 0

    async def one(place: int) -> None:
        nonlocal number
        caller = await Caller.connected(port)
        pause = 0.0 if stream.per_second is None else stream.callers / stream.per_second
        due = time.perf_counter() + pause * place / stream.callers
        while (begin := time.perf_counter()) < until:
            if pause:
                if due > begin:
                    await asyncio.sleep(due - begin)
                due += pause
                begin = time.perf_counter()
            number += 1
            await caller.send("POST", stream.path, json.dumps(stream.body(number)).encode())
            times.append(time.perf_counter() - begin)
        caller.close()

    await asyncio.gather(*(one(place) for place in range(stream.callers)))
    return times


def side_by_side(port: int, streams: list[Stream], seconds: float) -> list[Load]:
    """Send several kinds of requests at once for some time."""

    async def all_streams() -> list[list[float]]:
        until = time.perf_counter() + seconds
        return await asyncio.gather(*(_stream(port, stream, until) for stream in streams))

    own = time.process_time()
    found = uvloop.run(all_streams())
    cores = (time.process_time() - own) / seconds
    return [Load(np.array(times), len(times) / seconds, cores) for times in found]
