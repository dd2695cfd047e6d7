"""`shadow serve` under load: beside the same model in process and in PyG, with updates, and on a graph of 10^7 nodes.

The callers are one process with raw sockets, on the same cores as the service. The last column has their own cost.
Parts may be chosen: --part alone --part peer --part beside --part explain --part large.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import CACHE, Bar, Report, busy_share, finish, graphs, load_line, options, random_targets
from serving_callers import Body, Caller, Load, Server, Stream, load, side_by_side
from serving_peer import Peer

from shadow_gnn import Recipe, open_graph, save_graph
from shadow_gnn.graph.generators.folder import generate_graph
from shadow_gnn.graph.generators.plan import GraphPlan
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
LARGE = GraphPlan(
    "dcsbm", 10_000_000, degree=14.0, num_columns=128, num_classes=40, shares=(0.002, 0.0005, 0.0005), seed=0
)


def prepare_large(quick: bool) -> tuple[Path, Path]:
    """Return the folders of a generated graph and of a run on it; both are kept for the next time."""
    plan = replace(LARGE, num_nodes=100_000, shares=(0.2, 0.05, 0.05)) if quick else LARGE
    home = CACHE / f"serving-{plan.num_nodes}"
    if not (home / "graph").exists():
        generate_graph(plan, home / "graph", num_threads=2)
    if not (home / "run").exists():
        train_recipe(
            Recipe.model_validate({**RECIPE, "graph": str(home / "graph")}), home / "run", options=RunOptions()
        )
    return home / "graph", home / "run"


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


class Bodies:
    """Bodies of requests by their number."""

    def __init__(self, num_nodes: int, num_columns: int, targets: np.ndarray) -> None:
        self.num_nodes, self.num_columns, self.targets = num_nodes, num_columns, targets
        self._rng = np.random.default_rng(0)

    def known(self, number: int) -> dict[str, Any]:
        return {"nodes": [int(self.targets[number % len(self.targets)])]}

    def explained(self, number: int) -> dict[str, Any]:
        return {"node": int(self.targets[number % len(self.targets)])}

    def fresh(self, number: int) -> dict[str, Any]:
        ends = self._rng.choice(self.num_nodes, 10, replace=False).tolist()
        return {"new_nodes": [{"features": [0.0] * self.num_columns, "edges": [{"to": end} for end in ends]}]}

    def edges(self, count: int) -> Body:
        """Return bodies of updates; ends are drawn for many requests at once, as the callers share the cores."""
        drawn: list[list[list[int]]] = []

        def body(number: int) -> dict[str, Any]:
            if not drawn:
                drawn.extend(self._rng.integers(self.num_nodes, size=(1000, count + 2, 2)).tolist())
            pairs = {(min(a, b), max(a, b)): None for a, b in drawn.pop() if a != b}
            return {"edges": [{"from": a, "to": b} for a, b in list(pairs)[:count]]}

        return body


class Run:
    """A benchmark of some parts."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen, self.quick, self.scale = chosen, chosen.quick, 10 if chosen.quick else 1
        self.report = Report(
            "shadow serve (5-layer SAGE-256, PPR top-200; callers and service share the cores)",
            ("what", "p50 ms", "p99 ms", "per second", "callers, cores"),
            notes=[load_line(busy_share())],
        )
        self.name, graph = next(iter(graphs(chosen).items()))
        # Prepared and measured in a process of its own, so that this one, with the callers, has no threads of a model.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            self.folder, self.run = pool.submit(prepare, graph).result()
        self.targets = random_targets(graph, 3000 // self.scale, seed=1)
        self.bodies = Bodies(graph.num_nodes, 0 if graph.x is None else graph.x.shape[1], self.targets)

    def server(self, *more: str) -> Server:
        log = HOME / "log"
        shutil.rmtree(log, ignore_errors=True)
        return Server(self.folder, self.run, log, "--cache", "0", *more)

    def row(self, label: str, found: Load) -> tuple[float, float, float]:
        p50, p99 = (1000 * value for value in np.quantile(found.seconds, (0.5, 0.99)))
        cells = [label, f"{p50:.2f}", f"{p99:.2f}", f"{found.per_second:,.0f}", f"{found.caller_cores:.2f}"]
        self.report.rows.append(cells)
        print("  ".join(self.report.rows[-1]), flush=True)  # What is measured stays if a later part is stopped.
        return float(p50), float(p99), found.per_second

    def bar(self, claim: str, measured: str, passed: object) -> None:
        self.report.bars.append(Bar(claim, measured, bool(passed)))
        print(self.report.bars[-1].line(), flush=True)

    def warm(self, server: Server) -> None:
        load(server.port, "/v1/predict", self.bodies.known, callers=4, count=100 // min(self.scale, 4))

    def alone(self) -> None:
        """Compare with the same model in process; new nodes; updates."""
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            inside = pool.submit(in_process, self.folder, self.run, self.targets).result()
        facts = [*(f"{value:.2f}" for value in inside[:2]), f"{inside[2]:.0f}"]
        self.report.rows.append([f"{self.name}, in process: one; bulk", *facts, "0.00"])
        server = self.server()
        try:
            self._alone(server, inside)
        finally:
            server.stop()

    def _alone(self, server: Server, inside: tuple[float, float, float]) -> None:
        port, bodies, scale = server.port, self.bodies, self.scale
        self.warm(server)
        silent = load(port, "/healthz", bodies.known, callers=1, count=500, method="GET")
        self.row("callers alone: /healthz, one caller", silent)
        one = self.row(
            "one caller, known nodes", load(port, "/v1/predict", bodies.known, callers=1, count=1000 // scale)
        )
        many = self.row(
            "64 callers, known nodes", load(port, "/v1/predict", bodies.known, callers=64, count=3000 // scale)
        )
        fresh = load(port, "/v1/predict", bodies.fresh, callers=1, count=600 // scale)
        new = self.row("one caller, new nodes with 10 edges", fresh)
        hundreds = load(port, "/v1/graph/edges", bodies.edges(100), callers=4, count=400 // scale)
        hundred = self.row("updates of 100 edges, 4 callers", hundreds)
        singles = load(port, "/v1/graph/edges", bodies.edges(1), callers=16, count=2000 // scale)
        single = self.row("updates of one edge, 16 callers", singles)
        last = load(port, "/v1/predict", bodies.known, callers=64, count=3000 // scale)
        after = self.row("64 callers, known nodes, after them", last)
        self.bar(
            "one caller: p50 at most that in process + 1.5 ms",
            f"{one[0] - inside[0]:+.2f} ms",
            one[0] <= inside[0] + 1.5,
        )
        self.bar("one caller: p99 at most 3 times p50", f"{one[1] / one[0]:.1f} times", one[1] <= 3 * one[0])
        self.bar("64 callers: at least 0.6 times bulk", f"{many[2] / inside[2]:.2f} times", many[2] >= 0.6 * inside[2])
        share = many[1] / 64e3 * many[2]
        self.bar("64 callers: p99 below 2.5 times 64 / rate", f"{share:.2f} times", share < 2.5)
        self.bar(
            "new nodes: p50 at most 1.3 times a known node", f"{new[0] / one[0]:.2f} times", new[0] <= 1.3 * one[0]
        )
        self.bar("at least 10,000 edges per second in hundreds", f"{100 * hundred[2]:,.0f}", 100 * hundred[2] >= 10_000)
        self.bar("at least 300 single updates per second", f"{single[2]:,.0f}", single[2] >= 300)
        self.report.notes.append(
            f"Ready after {server.seconds_to_ready:.1f} s; {server.anonymous_megabytes():,.0f} MB of anonymous memory "
            f"after {open_version(port)} updates; rate after them {after[2] / many[2]:.2f} times that before."
        )

    def explain(self) -> None:
        """Compare explanations with predictions."""
        server, count = self.server(), 400 // self.scale
        try:
            self.warm(server)
            load(server.port, "/v1/explain", self.bodies.explained, callers=1, count=20)
            one = self.row(
                "one caller, known nodes", load(server.port, "/v1/predict", self.bodies.known, callers=1, count=count)
            )
            found = load(server.port, "/v1/explain", self.bodies.explained, callers=1, count=count)
            explained = self.row("one caller, explanations", found)
        finally:
            server.stop()
        times = explained[0] / one[0]
        self.bar("explanations: p50 at most 3 times a prediction", f"{times:.2f} times", times <= 3)

    def beside(self) -> None:
        """Predict while the graph changes."""
        server, seconds = self.server(), 20 / self.scale
        known = Stream("/v1/predict", self.bodies.known, callers=64)
        try:
            self.warm(server)
            (alone,) = side_by_side(server.port, [known], seconds)
            before = self.row("64 callers, known nodes, no updates", alone)
            for count, callers in ((10, 16), (1, 32)):
                updates = Stream("/v1/graph/edges", self.bodies.edges(count), callers, per_second=1000 / count)
                found, made = side_by_side(server.port, [known, updates], seconds)
                rate = self.row(f"64 callers, known nodes, beside updates of {count}", found)[2]
                done = count * self.row(f"updates of {count}, {callers} callers, at most 1,000 edges/s", made)[2]
                share = rate / before[2]
                self.bar(
                    f"beside 1,000 updates per second, {count} a request: at least 0.8 of the rate",
                    f"{share:.2f} of the rate, {done:,.0f} updates per second",
                    share >= 0.8 and done >= 950,
                )
        finally:
            server.stop()

    def peer(self) -> None:
        """Compare with PyG's own operators."""
        server = self.server()
        try:
            self.warm(server)
            found = load(server.port, "/v1/predict", self.bodies.known, callers=64, count=3000 // self.scale)
            ours = self.row("64 callers, known nodes", found)
        finally:
            server.stop()
        for num_hops, count in ((2, 600), (5, 128)):
            other = Peer(self.folder, num_hops)
            try:
                load(other.port, "/v1/predict", self.bodies.known, callers=1, count=2)
                found = load(
                    other.port, "/v1/predict", self.bodies.known, callers=64, count=count // min(self.scale, 4)
                )
                theirs = self.row(f"PyG, scopes of all nodes within {num_hops} hops, 64 callers", found)
            finally:
                other.stop()
            times = ours[2] / theirs[2]
            self.bar(f"at least 5 times the rate of PyG within {num_hops} hops", f"{times:.1f} times", times >= 5)

    def large(self) -> None:
        """Compare a graph of 10^7 nodes with a real one, both warm."""
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            folder, run = pool.submit(prepare_large, self.quick).result()
        p99, count = {}, 1000 // self.scale
        num_nodes = open_graph(folder).num_nodes
        some = np.random.default_rng(1).choice(num_nodes, min(count, num_nodes), replace=False)
        shutil.rmtree(HOME / "large-log", ignore_errors=True)
        places = {self.name: (self.folder, self.run, self.targets[:count]), f"{num_nodes:,} nodes": (folder, run, some)}
        for name, (graph, model, targets) in places.items():
            log = HOME / "large-log" / name
            server, bodies = Server(graph, model, log, "--cache", "0"), Bodies(num_nodes, 0, targets)
            try:
                load(server.port, "/v1/predict", bodies.known, callers=1, count=len(targets))
                found = load(server.port, "/v1/predict", bodies.known, callers=1, count=len(targets))
                p99[name] = self.row(f"one caller, {name}, warm", found)[1]
                memory, ready = server.anonymous_megabytes(), server.seconds_to_ready
            finally:
                server.stop()
        small, big = p99.values()
        self.bar(
            f"{num_nodes:,} nodes: p99 at most 2 times that of {self.name}",
            f"{big / small:.2f} times",
            big <= 2 * small,
        )
        self.bar("at most 1 GB of anonymous memory", f"{memory:,.0f} MB", memory <= 1000)
        self.bar("ready within 3 s", f"{ready:.1f} s", ready <= 3)


PARTS = ("alone", "explain", "beside", "peer", "large")


def open_version(port: int) -> int:
    """Return the version of the graph that the service has."""

    async def ask() -> int:
        caller = await Caller.connected(port)
        return int(json.loads(await caller.send("GET", "/v1/state", b""))["graph_version"])

    return asyncio.run(ask())


def add_parts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", action="append", choices=PARTS, help="what to measure; all parts by default")


def main(chosen: argparse.Namespace) -> None:
    run = Run(chosen)
    for part in chosen.part or PARTS:
        getattr(run, part)()
    finish(run.report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or "", add_parts))
