"""Cost of comparing a graph folder with its checksums: CPU time of an epoch with the check and without, in turns."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch
from common import Bar, Report, busy_share, cpu_seconds, finish, load_line, options
from power_law import power_law_graph

from shadow_gnn import Loader, open_graph, save_graph
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.block_check import AT_ONCE_BYTES, MOST_BYTES
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.build import build_model

ROUNDS = 3
MOST_SHARE = 0.03
TARGET_SHARE = 0.05
"""Training targets of an epoch as a share of the nodes: ogbn-products has 0.08, ogbn-arxiv 0.54."""


def epoch(folder: Path, num_targets: int, *, check: bool) -> tuple[float, float]:
    """Open a folder and train on some targets; return the CPU seconds of all, and the seconds until it was open."""
    begin, clock = time.process_time(), time.perf_counter()
    graph = open_graph(folder, check=check)
    opened = time.perf_counter() - clock
    assert graph.x is not None
    torch.manual_seed(0)
    model = build_model(ModelRecipe(layer="sage", num_layers=3, hidden_dim=64), in_dim=graph.x.shape[1], out_dim=8)
    optimizer = torch.optim.Adam(model.parameters())
    for batch in Loader(graph, PprExtractor(topk=100), np.arange(num_targets), model=model, batch_size=128):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch), batch.node_id[batch.target_node[:, 0]] % 8).backward()
        optimizer.step()
    graph.confirm()
    return time.process_time() - begin, opened


def folder_of(place: Path, num_nodes: int) -> Path:
    """Save a graph with 128 columns of features."""
    graph = power_law_graph(num_nodes, seed=0, cap=100)
    x = np.random.default_rng(0).standard_normal((num_nodes, 128), np.float32)
    save_graph(Graph(graph.indptr, graph.indices, x=DenseFeatures(x), directed=graph.directed), place / str(num_nodes))
    return place / str(num_nodes)


def check_seconds(folder: Path) -> float:
    """Return the CPU seconds of the check alone."""
    plain = cpu_seconds(lambda: open_graph(folder, check=False))
    return cpu_seconds(lambda: open_graph(folder).confirm()) - plain


def main() -> None:
    chosen = options(str(__doc__))
    busy = busy_share()
    torch.set_num_threads(1)
    columns = (
        "folder",
        "MB",
        "opened, ms",
        "unchecked",
        "epoch, CPU s",
        "unchecked",
        "difference",
        "check alone, CPU s",
    )
    report = Report("Check of blocks (warm, one thread, medians of turns)", columns)
    rounds = 1 if chosen.quick else ROUNDS
    with tempfile.TemporaryDirectory() as place:
        for num_nodes in (50_000, 400_000):
            folder = folder_of(Path(place), num_nodes)
            num_targets = 200 if chosen.quick else int(TARGET_SHARE * num_nodes)
            size = sum(path.stat().st_size for path in folder.rglob("*.npy"))
            epoch(folder, num_targets, check=False)  # Warms up.
            turns = [[epoch(folder, num_targets, check=check) for check in (True, False)] for _ in range(rounds)]
            cpu, plain = (median(turn[at][0] for turn in turns) for at in (0, 1))
            opened, plain_opened = (1000 * median(turn[at][1] for turn in turns) for at in (0, 1))
            alone = median(check_seconds(folder) for _ in range(rounds))
            kind = "at once" if size <= AT_ONCE_BYTES else "background"
            cells = f"{num_nodes:,} nodes, {kind}", f"{size / 1e6:.0f}", f"{opened:.0f}", f"{plain_opened:.0f}"
            report.rows.append(
                (*cells, f"{cpu:.2f}", f"{plain:.2f}", f"{100 * (cpu / plain - 1):+.1f} %", f"{alone:.3f}")
            )
            claim = (
                f"check alone in an epoch of {num_targets:,} targets of {num_nodes:,} nodes, at most {MOST_SHARE:.0%}"
            )
            report.bars.append(Bar(claim, f"{100 * alone / plain:.1f} %", alone / plain <= MOST_SHARE))
    report.notes.append(f"The check reads at most {MOST_BYTES >> 20:,} MB of a folder, once in a process.")
    report.notes.append(load_line(busy))
    finish(report, chosen)


if __name__ == "__main__":
    main()
