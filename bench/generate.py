"""Made-up graphs: edges per second and core of `shadow data generate`, from the draw to the finished folder.

Not for: importing (ingest.py).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from anonymous_memory import AnonymousPeak
from common import CACHE, Bar, Report, busy_share, finish, load_line, options

from shadow_gnn.graph.generators.folder import generate_graph
from shadow_gnn.graph.generators.plan import GraphPlan

MEMORY_BYTES = 256_000_000
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
        [
            "model",
            "edges drawn",
            "CPU s",
            "edges per CPU s",
            "counting",
            "keys",
            "sorting",
            "folder",
            "peak anonymous MB",
        ],
        notes=[
            f"{num_nodes:,} nodes, mean degree 29, 128 float16 features; a budget of 256 MB, 1 thread. "
            "Edges are undirected: each becomes two entries.",
            load_line(busy_share()),
        ],
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    for model in ("dcsbm", "rmat"):
        plan, stages = GraphPlan(model, num_nodes, 29), Stages()
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            begin = time.process_time()
            with AnonymousPeak() as peak:
                generate_graph(plan, Path(folder) / "g", memory_bytes=MEMORY_BYTES, progress=stages)
            seconds = time.process_time() - begin
        rate = plan.num_edges / seconds
        parts = [
            stages.seconds.get(name, 0.0) for name in ("counting edges", "writing keys", "sorting lists", "folder")
        ]
        cells = [model, f"{plan.num_edges:,}", f"{seconds:.1f}", f"{rate:,.0f}", *(f"{part:.1f}" for part in parts)]
        report.rows.append([*cells, f"{peak.num_bytes / 1e6:,.0f}"])
        # A tiny graph is mostly start-up.
        passed = None if chosen.quick else rate >= NEEDED
        report.bars.append(Bar(f"{model}: at least a million edges per second and core", f"{rate:,.0f}", passed))
        # Python and NumPy themselves take some 60 MB.
        within = peak.num_bytes <= MEMORY_BYTES + 100_000_000
        claim = f"{model}: anonymous memory within the budget and 100 MB for the libraries"
        report.bars.append(Bar(claim, f"{peak.num_bytes / 1e6:,.0f} MB", within))
    finish(report, chosen)


if __name__ == "__main__":
    main()
