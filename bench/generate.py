"""Made-up graphs: edges per second and core of `shadow data generate`, from the draw to the finished folder.

Not for: importing (ingest.py).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from common import CACHE, Bar, Report, busy_share, finish, load_line, options

from shadow_gnn.generate.folder import generate
from shadow_gnn.generate.plan import GraphPlan

NEEDED = 1e6
"""Undirected edges per second of CPU time."""


class Stages:
    """CPU seconds of each stage, by the progress that is reported."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.process_time()
        name = "folder" if stage.startswith(("writing ", "checking ")) and stage != "writing keys" else stage
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


def main() -> None:
    chosen = options(__doc__ or "")
    num_nodes = 20_000 if chosen.quick else 1_000_000
    report = Report(
        "Generating graphs",
        ["model", "edges drawn", "CPU s", "edges per CPU s", "counting", "keys", "sorting", "folder"],
        notes=[
            f"{num_nodes:,} nodes, mean degree 29, 128 float16 features; 256 MB of memory, 1 thread. "
            "Edges are undirected: each becomes two entries.",
            load_line(busy_share()),
        ],
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    for model in ("dcsbm", "rmat"):
        plan, stages = GraphPlan(model, num_nodes, 29), Stages()
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            begin = time.process_time()
            generate(plan, Path(folder) / "g", memory_bytes=256 << 20, progress=stages)
            seconds = time.process_time() - begin
        rate = plan.num_edges / seconds
        parts = [
            stages.seconds.get(name, 0.0) for name in ("counting edges", "writing keys", "sorting lists", "folder")
        ]
        report.rows.append(
            [model, f"{plan.num_edges:,}", f"{seconds:.1f}", f"{rate:,.0f}", *(f"{part:.1f}" for part in parts)]
        )
        # A tiny graph is mostly start-up.
        passed = None if chosen.quick else rate >= NEEDED
        report.bars.append(Bar(f"{model}: at least a million edges per second and core", f"{rate:,.0f}", passed))
    finish(report, chosen)


if __name__ == "__main__":
    main()
