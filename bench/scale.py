"""Generated graphs of 10^6, 10^7 and 1.1*10^8 nodes on the disk: memory of training, work per target, cold reads.

Not for: other ways to make large graphs (generate.py, ingest.py). A size that is measured is kept, so that the largest,
which takes 44 GB of disk, can be measured alone and its folder removed; the table goes into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from anonymous_memory import anonymous_bytes
from common import CACHE, ROOT, Bar, Report, busy_share

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.files import write_file
from shadow_gnn.base.memory_available import available_memory
from shadow_gnn.extract import PprExtractor
from shadow_gnn.extract.gather import expect_scopes
from shadow_gnn.graph.generators.plan import GraphPlan, disk_need
from shadow_gnn.graph.store import open_graph

FOLDER = CACHE / "scale"
PAGE = ROOT / "docs" / "scale.md"
SIZES = (10**6, 10**7, 110_000_000)
PARTS = ("cold", "cold_training", "warm", "warm_training", "prediction")
SMALLER = 50_000_000
"""Taken instead of the largest where the disk is too small for it."""
NUM_TARGETS = {"train": 4_000, "valid": 500, "test": 500}
COUNT = 2_000
"""Targets of a measurement of the extractor."""
COLD_COUNT = 500
RECIPE = """[extractor]
kind = "ppr"
topk = 200

[model]
layer = "gat"
num_layers = 3
hidden_dim = 256

[training]
num_epochs = 1
batch_size = 64
learning_rate = 0.002
"""
MOST_ANONYMOUS = 3e9
HEADING = "## Measurements from 10⁶ to 1.1·10⁸ nodes"


def folder_of(num_nodes: int) -> Path:
    """Return where a size's graph lies."""
    return FOLDER / f"dcsbm-{num_nodes}"


def generate(num_nodes: int) -> dict[str, float]:
    """Make a size's graph with our command if it is missing; return the cost, if known."""
    folder, kept = folder_of(num_nodes), FOLDER / f"{num_nodes}-made.json"
    if not folder.is_dir():
        split = "/".join(f"{100 * count / num_nodes:.8f}" for count in NUM_TARGETS.values())
        command = [*_shadow("data", "generate", "dcsbm"), "--nodes", str(num_nodes), "--split", split]
        begin = time.perf_counter()
        peak, cpu = watched([*command, "--out", str(folder), "--memory", "1GB"])
        cost = {"wall": time.perf_counter() - begin, "cpu": cpu, "anonymous": peak}
        write_file(kept, json.dumps(cost).encode())
    return dict(json.loads(kept.read_text())) if kept.is_file() else {}


def _shadow(*words: str) -> list[str]:
    return [sys.executable, "-m", "shadow_gnn", *words]


def watched(command: list[str]) -> tuple[float, float]:
    """Run a command; return the most anonymous memory that it had, and its CPU seconds."""
    peak, before = 0, resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None:
            peak = max(peak, _anonymous(child.pid))
            time.sleep(0.02)
    if child.returncode:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(peak), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _anonymous(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)


def drop(folder: Path) -> None:
    """Take a folder's files out of the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_through(folder: Path) -> None:
    """Bring the topology into the page cache, from front to back."""
    for name in ("indptr.npy", "indices.npy"):
        with (folder / name).open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


def extraction(folder: Path, count: int, *, warm: bool) -> dict[str, float]:
    """Open a graph and extract scopes from it, in this process; report the cost of a target."""
    keep_freed_memory()
    begin = time.perf_counter()
    graph = open_graph(folder)
    opened = time.perf_counter() - begin
    expect_scopes(graph, available_memory())  # As loaders do.
    extractor, rng = PprExtractor(topk=200, num_threads=1), np.random.default_rng(0)
    targets = rng.choice(graph.num_nodes, 2 * count, replace=False)
    if warm:
        extractor(graph, targets[count:])
    before = anonymous_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    touched = [extractor(graph, part).edges_touched.mean() for part in np.split(targets[:count], 10)]
    return {
        "open_seconds": opened,
        "edges_touched": float(np.mean(touched)),
        "cpu": (time.process_time() - cpu) / count,
        "wall": (time.perf_counter() - wall) / count,
        "growth": float(anonymous_bytes() - before),
    }


def in_own_process(folder: Path, count: int, *, warm: bool) -> dict[str, float]:
    """Extract in a process of its own: nothing is mapped or warm there."""
    command = [sys.executable, __file__, "--child", str(folder), str(count), "warm" if warm else "cold"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def training(folder: Path, name: str) -> dict[str, float]:
    """Train an epoch with our command."""
    run, recipe = FOLDER / "runs" / f"{folder.name}-{name}", FOLDER / "gat.toml"
    shutil.rmtree(run, ignore_errors=True)
    write_file(recipe, RECIPE.encode())
    begin = time.perf_counter()
    peak, cpu = watched(_shadow("train", str(recipe), "--graph", str(folder), "--out", str(run)))
    seconds = time.perf_counter() - begin
    names, values = (line.split(",") for line in (run / "metrics.csv").read_text().splitlines())
    epoch = dict(zip(names, values, strict=True))
    result = json.loads((run / "result.json").read_text())
    return {
        "anonymous": peak,
        "cpu": cpu,
        "wall": seconds,
        "epoch": float(epoch["seconds"]),
        "waited": float(epoch["extraction_seconds"]),
        "test": float(result["test"]["accuracy"]),
    }


def prediction(folder: Path, name: str) -> dict[str, float]:
    """Predict the test targets with our command."""
    run, out = FOLDER / "runs" / f"{folder.name}-{name}", FOLDER / "predictions.parquet"
    begin = time.perf_counter()
    peak, cpu = watched(_shadow("predict", str(run), "--targets", "test", "--out", str(out)))
    return {"anonymous": peak, "cpu": cpu, "wall": time.perf_counter() - begin}


def measure(num_nodes: int, parts: Sequence[str], found: dict[str, Any]) -> dict[str, Any]:
    """Measure parts of one size: cold ones first, then those with the topology in the page cache."""
    folder = folder_of(num_nodes)
    made = generate(num_nodes)
    num_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    found |= {"nodes": num_nodes, "made": made, "bytes": num_bytes, "busy": busy_share()}
    steps: dict[str, tuple[Callable[[Path], None], Callable[[], dict[str, float]]]] = {
        "cold": (drop, lambda: in_own_process(folder, COLD_COUNT, warm=False)),
        "cold_training": (drop, lambda: training(folder, "cold")),
        "warm": (read_through, lambda: in_own_process(folder, COUNT, warm=True)),
        "warm_training": (read_through, lambda: training(folder, "warm")),
        "prediction": (drop, lambda: prediction(folder, "warm")),
    }
    for part in parts:
        prepare, run = steps[part]
        prepare(folder)
        found[part] = run()
    return found


def report(results: list[dict[str, Any]]) -> Report:
    """Return the table and the bars of all sizes that are kept."""
    columns = ("", *(f"{result['nodes']:,} nodes" for result in results))
    table = Report(HEADING.removeprefix("## "), columns)

    def row(title: str, form: str, *keys: str, scale: float = 1.0) -> None:
        values = []
        for result in results:
            value: Any = result
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            values.append("" if value is None else format(value * scale, form))
        table.rows.append([title, *values])

    row("folder, GB", ",.1f", "bytes", scale=1e-9)
    row("generated in, s", ",.0f", "made", "wall")
    row("generated in, CPU s", ",.0f", "made", "cpu")
    row("generating, peak anonymous, MB", ",.0f", "made", "anonymous", scale=1e-6)
    row("opened in, cold, s", ".3f", "cold", "open_seconds")
    row("edges touched per target", ",.0f", "warm", "edges_touched")
    row("extraction, topology in the page cache, CPU µs per target", ",.0f", "warm", "cpu", scale=1e6)
    row("extraction, cold, ms per target", ",.1f", "cold", "wall", scale=1e3)
    row("training, peak anonymous, MB", ",.0f", "warm_training", "anonymous", scale=1e-6)
    row("training, an epoch from a cold disk, s", ",.1f", "cold_training", "epoch")
    row("of these, waited for batches", ",.1f", "cold_training", "waited")
    row("training, the whole command from a cold disk, s", ",.1f", "cold_training", "wall")
    row("training, an epoch with the topology in the page cache, s", ",.1f", "warm_training", "epoch")
    row("test accuracy after that epoch", ".3f", "warm_training", "test")
    row("prediction, peak anonymous, MB", ",.0f", "prediction", "anonymous", scale=1e-6)
    row("busy with other work, share of the cores", ".0%", "busy")
    table.notes.append(
        f"`dcsbm`, mean degree 29, 128 float16 features. shaDow-GAT of 3 layers, 256 wide, PPR top-200, batches of 64; "
        f"{NUM_TARGETS['train']:,} training targets, one epoch, {NUM_TARGETS['valid']:,} validation targets. Cold: no "
        f"page of the folder is in memory. Extraction: one thread, {COUNT:,} random targets ({COLD_COUNT:,} cold)."
    )
    if max(result["busy"] for result in results) > 0.2:
        table.notes.append("The machine was busy with other work (last line): seconds would be fewer on an idle one.")
    table.bars += bars(results)
    return table


def bars(results: list[dict[str, Any]]) -> list[Bar]:
    """Return the claims about all sizes together."""
    anonymous = max(result[part]["anonymous"] for result in results for part in ("cold_training", "warm_training"))
    touched = [result["warm"]["edges_touched"] for result in results]
    cpu = [result["warm"]["cpu"] for result in results]
    opened = max(result["cold"]["open_seconds"] for result in results)
    spread, slower = max(touched) / min(touched) - 1, cpu[-1] / cpu[0]
    names = f"{results[0]['nodes']:,} to {results[-1]['nodes']:,} nodes"
    return [
        Bar("anonymous memory of training at most 3 GB", f"{anonymous / 1e9:.2f} GB", anonymous <= MOST_ANONYMOUS),
        Bar("edges touched per target within 10 %", f"{spread:.1%}", spread <= 0.1),
        Bar(f"CPU time per target at most 3 times, {names}", f"{slower:.2f} times", slower <= 3),
        Bar("open within a second, cold", f"{opened:.3f} s", opened < 1),
    ]


def write_page(table: Report) -> None:
    """Put the table into its section of docs/scale.md."""
    text = PAGE.read_text(encoding="utf-8")
    before, found, after = text.partition(HEADING + "\n")
    rest = after[after.index("\n## ") + 1 :] if "\n## " in after else ""
    intro = "```text\npython bench/scale.py --sizes 1e6 1e7 1.1e8\n```\n\n"
    section = table.markdown().replace(HEADING + "\n\n", f"{HEADING}\n\n{intro}", 1)
    joined = f"{before if found else text + chr(10)}{section}\n{rest}"
    write_file(PAGE, (joined.rstrip() + "\n").encode())


def sizes_that_fit(wanted: list[int]) -> list[int]:
    """Replace the largest by a smaller one where the disk has no room for it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(FOLDER).free

    def fits(num_nodes: int) -> bool:
        return folder_of(num_nodes).is_dir() or disk_need(GraphPlan("dcsbm", num_nodes, 29)).largest < free

    return [num_nodes if fits(num_nodes) or num_nodes <= SMALLER else SMALLER for num_nodes in wanted]


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(extraction(Path(sys.argv[2]), int(sys.argv[3]), warm=sys.argv[4] == "warm")))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=float, default=SIZES, help="nodes of each graph")
    parser.add_argument("--generate", action="store_true", help="make the graphs and measure nothing")
    parser.add_argument("--again", nargs="+", choices=PARTS, default=(), help="parts to measure again that are kept")
    parser.add_argument("--page", action="store_true", help="write the table into docs/scale.md")
    chosen = parser.parse_args()
    results = []
    for num_nodes in sizes_that_fit([int(size) for size in chosen.sizes]):
        kept = FOLDER / f"{num_nodes}.json"
        if chosen.generate:
            print(f"{num_nodes:,}: {generate(num_nodes)}", flush=True)
            continue
        found = json.loads(kept.read_text()) if kept.is_file() else {}
        if parts := [part for part in PARTS if part in chosen.again or part not in found]:
            found = measure(num_nodes, parts, found)
            write_file(kept, json.dumps(found).encode())
        results.append(found)
        print(json.dumps(results[-1]), flush=True)
    if results:
        table = report(results)
        print(table.text())
        if chosen.page:
            write_page(table)
        sys.exit(1 if any(bar.passed is False for bar in table.bars) else 0)


if __name__ == "__main__":
    main()
