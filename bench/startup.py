"""Time from a command to its first answer: help, the import of the package, a missing recipe, a small evaluation."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from common import Bar, Report, busy_share, finish, load_line, options

from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.graph.store import save_graph

MODULE = ("-m", "shadow_gnn")
COMMANDS: dict[str, tuple[Sequence[str], int, float]] = {
    "`shadow --help`": ((*MODULE, "--help"), 0, 0.2),
    "`import shadow_gnn`": (("-c", "import shadow_gnn"), 0, 0.2),
    "`shadow train` of a missing recipe": ((*MODULE, "train", "missing.toml"), 2, 0.3),
    "`shadow evaluate` of a missing run": ((*MODULE, "evaluate", "missing"), 2, 0.3),
    "`shadow evaluate` on 40 targets": ((*MODULE, "evaluate", "run"), 0, 1.5),
}
"""Arguments of Python, exit code, and the most CPU seconds."""


def cpu_of(arguments: Sequence[str], folder: Path, code: int) -> float:
    """Return the CPU seconds of a process of one thread, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # An installed package is compiled already.
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != code:
        raise SystemExit(f"startup: {' '.join(arguments)} must end with {code}, got {done.returncode}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_run(folder: Path) -> None:
    """Train a small model on a ring of 200 nodes."""
    from dataclasses import replace

    ring, nodes = np.arange(200), np.random.default_rng(0).permutation(200)
    splits = {"train": np.sort(nodes[:120]), "valid": np.sort(nodes[120:160]), "test": np.sort(nodes[160:])}
    graph = from_edges(ring, (ring + 1) % 200)
    features = DenseFeatures(np.random.default_rng(1).random((200, 8), np.float32))
    save_graph(replace(graph, x=features, y=ring % 2, splits=splits), folder / "ring")
    (folder / "recipe.toml").write_text('graph = "ring"\n[model]\nhidden_dim = 8\n[training]\nnum_epochs = 1\n')
    cpu_of((*MODULE, "train", "recipe.toml", "--out", "run", "--quiet"), folder, 0)


def main(chosen: argparse.Namespace) -> None:
    columns = ("command", "CPU s", "at most")
    report = Report("From a command to its first answer", columns, notes=[load_line(busy_share())])
    rounds = 2 if chosen.quick else 7
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder)
        for label, (arguments, code, most) in COMMANDS.items():
            times = [cpu_of(arguments, folder, code) for _ in range(rounds + 1)][1:]  # The first reads the disk.
            found = statistics.median(times)
            report.rows.append([label, f"{found:.2f}", f"{most:.1f}"])
            report.bars.append(Bar(f"{label}: at most {most} CPU s", f"{found:.2f} s", found <= most))
    finish(report, chosen)


if __name__ == "__main__":
    main(options(__doc__ or ""))
