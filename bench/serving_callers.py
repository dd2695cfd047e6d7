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
from typing import Any

import numpy as np

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
                caller.writer.close()
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


class Caller:
    """One keep-alive connection, as cheap as Python allows."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def connected(cls, port: int) -> Caller:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, method: str, path: str, body: bytes) -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        self.writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        content = await self.reader.readexactly(length)
        assert answer.startswith(b"HTTP/1.1 200"), content
        return content


async def _load(port: int, path: str, body: Body, callers: int, count: int, method: str) -> tuple[np.ndarray, float]:
    times: list[float] = []
    numbers = iter(range(count))

    async def one() -> None:
        caller = await Caller.connected(port)
        for number in numbers:
            data = json.dumps(body(number)).encode() if method != "GET" else b""
            begin = time.perf_counter()
            await caller.send(method, path, data)
            times.append(time.perf_counter() - begin)
        caller.writer.close()

    begin = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(callers)))
    return np.array(times), count / (time.perf_counter() - begin)


def load(port: int, path: str, body: Body, *, callers: int, count: int, method: str = "POST") -> tuple[Any, float]:
    """Send requests by so many callers at once; return the seconds of each, and the requests per second."""
    return asyncio.run(_load(port, path, body, callers, count, method))


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
        caller.writer.close()

    await asyncio.gather(*(one(place) for place in range(stream.callers)))
    return times


def side_by_side(port: int, streams: list[Stream], seconds: float) -> list[tuple[np.ndarray, float]]:
    """Send several kinds of requests at once; return the seconds of each request and the requests per second."""

    async def all_streams() -> list[list[float]]:
        until = time.perf_counter() + seconds
        return await asyncio.gather(*(_stream(port, stream, until) for stream in streams))

    return [(np.array(times), len(times) / seconds) for times in asyncio.run(all_streams())]
