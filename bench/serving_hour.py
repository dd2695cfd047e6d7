"""`shadow serve` for an hour of mixed load: predictions, new nodes, explanations, updates, refusals, compaction.

Not one request may fail, and memory may grow by less than 1 % from the first tenth of the time to the last one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import time
from typing import Any

import numpy as np
from common import Bar, Report, busy_share, finish, load_line, options
from serving import HOME, Bodies, Run
from serving_callers import Caller, Server, Stream, side_by_side


def add_seconds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=3600.0, help="time of the load")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service")


def main(chosen: argparse.Namespace) -> None:
    run = Run(chosen)
    log = HOME / "hour-log"
    shutil.rmtree(log, ignore_errors=True)
    folder = HOME / "hour-graph"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(run.folder, folder)  # Compaction replaces it.
    server = Server(
        folder, run.run, log, "--cache", "1000", "--compact-after", "10000", "--workers", str(chosen.workers)
    )
    report = Report("shadow serve, mixed load", ("minute", "predictions/s", "updates/s", "anonymous MB"))
    report.notes.append(load_line(busy_share()))
    step = max(1.0, min(60.0, chosen.seconds / 20))
    memory: list[float] = []
    side_by_side(server.port, streams(run.bodies), step)  # Warms up: every path is loaded, the first batches are made.
    begin, num_predictions = time.monotonic(), 0.0
    try:
        while time.monotonic() - begin < chosen.seconds:
            rates = [found.per_second for found in side_by_side(server.port, streams(run.bodies), step)]
            num_predictions += step * (rates[0] + rates[1])
            memory.append(server.anonymous_megabytes())
            minute = (time.monotonic() - begin) / 60
            row = [f"{minute:.1f}", f"{rates[0] + rates[1]:,.0f}", f"{rates[3]:,.0f}", f"{memory[-1]:,.1f}"]
            report.rows.append(row)
            print("  ".join(row), flush=True)
        asyncio.run(refused(server.port))
        state = asyncio.run(state_of(server.port))
    finally:
        server.stop()
    width = max(1, len(memory) // 10)
    growth = np.median(memory[-width:]) / np.median(memory[:width]) - 1
    report.notes.append(
        f"{num_predictions:,.0f} predictions and {state['graph_version']:,} updates; "
        f"the folder of the graph holds the first {state['folder_version']:,} of them."
    )
    report.bars.append(Bar("no request has failed", "every answer was 200", True))
    report.bars.append(Bar("memory grows by less than 1 %, last tenth to first", f"{growth:+.2%}", bool(growth < 0.01)))
    finish(report, chosen)


def streams(bodies: Bodies) -> list[Stream]:
    """Return the mix: an update changes an edge that was there before, so that the graph does not grow."""

    def same_edges(number: int) -> dict[str, Any]:
        place = number % 500
        return {"edges": [{"from": place, "to": 1000 + place}]}

    return [
        Stream("/v1/predict", bodies.known, callers=8),
        Stream("/v1/predict", bodies.fresh, callers=2, per_second=20),
        Stream("/v1/explain", bodies.explained, callers=1, per_second=5),
        Stream("/v1/graph/edges", same_edges, callers=4, per_second=100),
    ]


async def state_of(port: int) -> dict[str, int]:
    """Return the versions of the graph and of its folder."""
    caller = await Caller.connected(port)
    found: dict[str, int] = json.loads(await caller.send("GET", "/v1/state", b""))
    return found


async def refused(port: int) -> None:
    """Send a wrong request, which must be refused and end nothing."""
    caller = await Caller.connected(port)
    try:
        await caller.send("POST", "/v1/predict", json.dumps({"nodes": [-1]}).encode())
    except AssertionError:
        return
    raise RuntimeError("a wrong request was answered")


if __name__ == "__main__":
    main(options(__doc__ or "", add_seconds))
