"""`shadow serve` under load beside the same model in process: latencies, rates, new nodes, updates.

The callers are one process with raw sockets, on the same cores as the service; their own cost is the time of /healthz.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import CACHE, Bar, Report, busy_share, finish, graphs, load_line, options, random_targets

from shadow_gnn import Recipe, save_graph
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.training.runs.run import RunOptions, train_recipe

HOME = CACHE / "serving"
RECIPE = {
    "graph": "arxiv",
    "extractor": {"kind": "ppr", "topk": 200},
    "model": {"layer": "sage", "num_layers": 5, "hidden_dim": 256},
    "training": {"num_epochs": 1, "batch_size": 64},
}
Body = Callable[[int], dict[str, Any]]


def prepare(graph: Graph) -> tuple[Path, Path]:
    """Return the folders of the graph and of a run; the run sees few targets, as only its speed counts."""
    folder, run = HOME / "graph", HOME / "run"
    if not run.exists():
        shutil.rmtree(HOME, ignore_errors=True)
        few = random_targets(graph, 300)
        splits = {"train": np.sort(few[:200]), "valid": np.sort(few[200:250]), "test": np.sort(few[250:])}
        save_graph(replace(graph, splits=splits), folder)
        train_recipe(Recipe.model_validate({**RECIPE, "graph": str(folder)}), run, options=RunOptions())
    return folder, run


class Server:
    """`shadow serve` in a process of its own."""

    def __init__(self, folder: Path, run: Path, log: Path, *more: str) -> None:
        command = [sys.executable, "-m", "shadow_gnn", "serve", str(run), "--graph", str(folder), "--updates", str(log)]
        begin = time.monotonic()
        self.process = subprocess.Popen([*command, "--port", "0", "--json", *more], stdout=subprocess.PIPE, text=True)
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
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
        return float("nan")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


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


def in_process(folder: Path, run: Path, targets: np.ndarray) -> tuple[float, float, float]:
    """Return p50 and p99 of single predictions in milliseconds, and targets per second in bulk."""
    predictor = open_predictor(run, str(folder))
    times = []
    for target in targets[:320]:
        begin = time.perf_counter()
        predictor.predict([int(target)])
        times.append(1000 * (time.perf_counter() - begin))
    begin = time.perf_counter()
    predictor.predict(targets)
    seconds = time.perf_counter() - begin
    p50, p99 = np.quantile(times[20:], (0.5, 0.99))
    return float(p50), float(p99), len(targets) / seconds


def main(chosen: argparse.Namespace) -> None:
    report = Report(
        "shadow serve (5-layer SAGE-256, PPR top-200; callers and service share the cores)",
        ("what", "p50 ms", "p99 ms", "per second"),
        notes=[load_line(busy_share())],
    )
    name, graph = next(iter(graphs(chosen).items()))
    folder, run = prepare(graph)
    scale = 10 if chosen.quick else 1
    targets = random_targets(graph, 3000 // scale, seed=1)
    # Prepared and measured in a process of its own, so that this one, with the callers, has no threads of a model.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        inside = pool.submit(in_process, folder, run, targets).result()
    report.rows.append(
        [f"{name}, in process: one; bulk", *(f"{value:.2f}" for value in inside[:2]), f"{inside[2]:.0f}"]
    )
    log = HOME / "log"
    shutil.rmtree(log, ignore_errors=True)
    server = Server(folder, run, log, "--cache", "0")
    try:
        measure(server, graph, targets, inside, scale, report)
    finally:
        server.stop()
    finish(report, chosen)


def measure(
    server: Server, graph: Graph, targets: np.ndarray, inside: tuple[float, float, float], scale: int, report: Report
) -> None:
    rng = np.random.default_rng(0)

    def row(label: str, found: tuple[np.ndarray, float]) -> tuple[float, float, float]:
        p50, p99 = (1000 * value for value in np.quantile(found[0], (0.5, 0.99)))
        report.rows.append([label, f"{p50:.2f}", f"{p99:.2f}", f"{found[1]:,.0f}"])
        return float(p50), float(p99), found[1]

    def known(number: int) -> dict[str, Any]:
        return {"nodes": [int(targets[number % len(targets)])]}

    def fresh(number: int) -> dict[str, Any]:
        ends = rng.choice(graph.num_nodes, 10, replace=False).tolist()
        features = [0.0] * (graph.x.shape[1] if graph.x is not None else 0)
        return {"new_nodes": [{"features": features, "edges": [{"to": end} for end in ends]}]}

    def edges(count: int) -> Body:
        def body(number: int) -> dict[str, Any]:
            ends = rng.choice(graph.num_nodes, (2 * count, 2)).tolist()
            pairs = list({(min(a, b), max(a, b)): None for a, b in ends if a != b})[:count]
            return {"edges": [{"from": a, "to": b} for a, b in pairs]}

        return body

    port = server.port
    load(port, "/v1/predict", known, callers=4, count=100 // min(scale, 4))
    row("callers alone: /healthz, one caller", load(port, "/healthz", known, callers=1, count=500, method="GET"))
    one = row("one caller, known nodes", load(port, "/v1/predict", known, callers=1, count=1000 // scale))
    many = row("64 callers, known nodes", load(port, "/v1/predict", known, callers=64, count=3000 // scale))
    new = row("one caller, new nodes with 10 edges", load(port, "/v1/predict", fresh, callers=1, count=600 // scale))
    hundred = row("updates of 100 edges, 4 callers", load(port, "/v1/graph/edges", edges(100), callers=4, count=400))
    single = row("updates of one edge, 16 callers", load(port, "/v1/graph/edges", edges(1), callers=16, count=2000))
    after = row(
        "64 callers, known nodes, after them", load(port, "/v1/predict", known, callers=64, count=3000 // scale)
    )
    bars = [
        (
            "one caller: p50 at most that in process + 1.5 ms",
            f"{one[0] - inside[0]:+.2f} ms",
            one[0] <= inside[0] + 1.5,
        ),
        ("one caller: p99 at most 3 times p50", f"{one[1] / one[0]:.1f} times", one[1] <= 3 * one[0]),
        ("64 callers: at least 0.6 times bulk", f"{many[2] / inside[2]:.2f} times", many[2] >= 0.6 * inside[2]),
        (
            "64 callers: p99 below 2.5 times 64 / rate",
            f"{many[1] / 64e3 * many[2]:.2f} times",
            many[1] < 160e3 / many[2],
        ),
        ("new nodes: p50 at most 1.3 times a known node", f"{new[0] / one[0]:.2f} times", new[0] <= 1.3 * one[0]),
        ("at least 10,000 edges per second in hundreds", f"{100 * hundred[2]:,.0f}", 100 * hundred[2] >= 10_000),
        ("at least 300 single updates per second", f"{single[2]:,.0f}", single[2] >= 300),
    ]
    report.bars += [Bar(claim, measured, bool(passed)) for claim, measured, passed in bars]
    memory = server.anonymous_megabytes()
    report.notes.append(
        f"Ready after {server.seconds_to_ready:.1f} s; {memory:,.0f} MB of anonymous memory after {open_version(port)} "
        f"updates; rate after them {after[2] / many[2]:.2f} times that before."
    )


def open_version(port: int) -> int:
    """Return the version of the graph that the service has."""

    async def ask() -> int:
        caller = await Caller.connected(port)
        return int(json.loads(await caller.send("POST", "/v1/scope", b'{"node": 0}'))["graph_version"])

    return asyncio.run(ask())


if __name__ == "__main__":
    main(options(__doc__ or ""))
