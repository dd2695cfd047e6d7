"""Joint scopes: validation accuracy and CPU seconds of joint training, next to a scope for each target.

Not for: choosing the settings, which was done on the validation nodes of debian-teams and thesaurus-origins.
Usage: python bench/joint.py GRAPH...; a graph is a folder or "debian". Finished runs are kept in build/bench/joint, so
the script resumes after a kill. Writes docs/joint-results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from common import CACHE, ROOT, Bar, Report

from shadow_gnn.training.run_setup import open_recipe_graph

RUNS = CACHE / "joint"
PAGE = ROOT / "docs" / "joint-results.md"
MODEL = {"model.num_layers": 3, "model.hidden_dim": 128, "model.dropout": 0.25, "model.dropedge": 0.1}
COMMON = {**MODEL, "training.schedule": "cosine"}
LARGE = 50_000
"""Training targets above which there are fewer epochs."""
METHODS: dict[str, dict[str, str | float]] = {
    "shadow": {"extractor.topk": 100, "training.batch_size": 128, "training.learning_rate": 0.002},
    "joint": {
        "training.method": "joint",
        "extractor.topk": 50,
        "training.batch_size": 256,
        "training.learning_rate": 0.003,
        "training.evaluate_every": 3,
        "joint.block_size": 32,
    },
}
EPOCHS = {"shadow": (20, 7), "joint": (30, 10)}
"""Epochs by method, for small and for large graphs."""
HEAD = """# Results of joint scopes

Written by `python bench/joint.py`. Both sides train GraphSAGE with 3 layers and width 128, dropout 0.25, DropEdge 0.1,
a cosine schedule and one seed, and take the best epoch on validation. `shadow` has a scope of 100 nodes by PPR for each
target (batches of 128, learning rate 0.002, 20 epochs, 7 above 50,000 training targets). `joint` merges the scopes of
256 targets, 50 nodes each, in blocks of 32 (learning rate 0.003, 30 or 10 epochs, validated every third epoch). CPU
seconds are those of the whole command `shadow train` on one thread, with extraction and validation.

"""


@dataclass(frozen=True)
class Outcome:
    """Result of one run."""

    valid: float
    test: float
    cpu_seconds: float


def train(graph: str, method: str) -> Outcome:
    """Train one run as a command of its own, unless it is there; a killed one starts again."""
    name = f"{Path(graph).name}-{method}"
    found, folder = RUNS / f"{name}.json", RUNS / name
    if found.exists():
        return Outcome(**json.loads(found.read_text()))
    shutil.rmtree(folder, ignore_errors=True)
    RUNS.mkdir(parents=True, exist_ok=True)
    num_targets = len(open_recipe_graph(graph).splits["train"])
    chosen = {**COMMON, **METHODS[method], "training.num_epochs": EPOCHS[method][num_targets > LARGE]}
    command = [sys.executable, "-m", "shadow_gnn", "train", str(ROOT / "recipes" / "debian.toml"), "--graph", graph]
    command += [part for key, value in chosen.items() for part in ("--set", f"{key}={value}")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--out", str(folder)], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result = json.loads((folder / "result.json").read_text())
    outcome = Outcome(result["valid"]["accuracy"], result["test"]["accuracy"], seconds)
    found.write_text(json.dumps(asdict(outcome)))
    return outcome


def main() -> None:
    """Train both methods on every graph and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    graphs = parser.parse_args().graphs
    columns = (
        "graph",
        "shadow valid",
        "joint valid",
        "shadow test",
        "joint test",
        "shadow CPU s",
        "joint CPU s",
        "ratio",
    )
    report = Report("Accuracy and CPU seconds", columns)
    num_good = 0
    for graph in graphs:
        scopes, joint = (train(graph, method) for method in METHODS)
        ratio = joint.cpu_seconds / scopes.cpu_seconds
        num_good += joint.valid >= scopes.valid and 3 * ratio <= 1
        figures = [f"{100 * value:.2f}" for value in (scopes.valid, joint.valid, scopes.test, joint.test)]
        report.rows.append(
            (Path(graph).name, *figures, f"{scopes.cpu_seconds:.0f}", f"{joint.cpu_seconds:.0f}", f"{ratio:.2f}")
        )
    claim = "graphs with the validation accuracy of shadow in a third of its CPU seconds"
    report.bars.append(Bar(claim, f"{num_good} of {len(graphs)}, 4 of 5 wanted", 5 * num_good >= 4 * len(graphs)))
    print(report.text())
    PAGE.write_text(HEAD + report.markdown().rstrip() + "\n")


if __name__ == "__main__":
    main()
