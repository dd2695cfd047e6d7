"""Warm start: validation accuracy and CPU seconds of normal GNNs, shaDow models, and both in turn.

Not for: test accuracy, which the choice of settings must not see. Each result is a file in build/bench/warm-start:
the script resumes, and the same command prints the table of all results so far.

python bench/warm_start.py debian my-graph --jobs normal,curve,warm --minutes 10
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from common import CACHE

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.files import write_file
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.scope_curve import curve_extractors, scope_curve
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.run_setup import open_recipe_graph
from shadow_gnn.training.runs.run import train_recipe

FOLDER = CACHE / "warm-start"
KINDS = ("normal", "curve", "warm", "scratch")
MODEL = {"layer": "sage", "num_layers": 3, "hidden_dim": 128, "dropout": 0.25, "dropedge": 0.1}
SIZES = (50, 100, 200, 400)
TELEPORTS = (0.2609, 0.5)


@dataclass(frozen=True)
class Settings:
    """Settings of the jobs that the command line may change."""

    normal_epochs: int
    warm_epochs: int
    scratch_epochs: int
    rate: float
    sizes: tuple[int, ...]
    teleports: tuple[float, ...]
    seed: int


@dataclass(frozen=True)
class Job:
    """One training or one curve."""

    kind: str
    graph: str
    settings: Settings
    topk: int = 0
    teleport: float = 0.0

    @property
    def name(self) -> str:
        """File name of the result, which tells all settings."""
        own, place = self.settings, Path(self.graph).name
        if self.kind in ("normal", "curve"):
            return f"{place}-{self.kind}-{own.normal_epochs}-seed{own.seed}"
        epochs = own.warm_epochs if self.kind == "warm" else own.scratch_epochs
        start = f"-from{own.normal_epochs}" if self.kind == "warm" else ""
        return f"{place}-{self.kind}{start}-{self.topk}-{self.teleport}-{epochs}-{own.rate}-seed{own.seed}"

    @property
    def path(self) -> Path:
        """File of the result."""
        return FOLDER / f"{self.name}.json"

    @property
    def normal(self) -> Job:
        """The job whose weights this one reads."""
        return Job("normal", self.graph, self.settings)

    def recipe(self) -> Recipe:
        """Return the recipe of a training."""
        own, extractor = self.settings, {"topk": self.topk, "teleport": self.teleport}
        training: dict[str, Any] = {"schedule": "cosine", "batch_size": 128, "learning_rate": own.rate}
        if self.kind == "normal":
            training |= {"method": "full", "num_epochs": own.normal_epochs, "learning_rate": 0.005}
            training |= {"evaluate_every": 10, "checkpoint_every": 50}
        elif self.kind == "warm":
            training |= {"num_epochs": own.warm_epochs, "init": str(FOLDER / "runs" / self.normal.name)}
        else:
            training |= {"num_epochs": own.scratch_epochs}
        table = {"graph": self.graph, "seed": own.seed, "model": MODEL, "training": training}
        return Recipe.model_validate(table if self.kind == "normal" else {**table, "extractor": extractor})

    def run(self) -> dict[str, Any]:
        """Do the work and return its numbers."""
        begin = time.process_time()
        if self.kind == "curve":
            return self._curve()
        folder = FOLDER / "runs" / self.name
        shutil.rmtree(folder, ignore_errors=True)
        result = train_recipe(self.recipe(), folder).result
        assert result is not None
        return {
            "valid": result["valid"]["accuracy"],
            "best_epoch": result["best_epoch"],
            "num_epochs": result["num_epochs"],
            "cpu_seconds": time.process_time() - begin,
        }

    def _curve(self) -> dict[str, Any]:
        graph = open_recipe_graph(self.graph)
        own = self.settings
        texts = [f'{{kind = "ppr", teleport = {teleport}}}' for teleport in own.teleports]
        model = read_model(FOLDER / "runs" / self.normal.name)
        found = scope_curve(model, graph, curve_extractors(texts, own.sizes), split_targets(graph, "valid"))
        return {
            "exact": found.exact.score,
            "points": [
                {
                    "topk": (point.settings or {})["topk"],
                    "teleport": (point.settings or {})["teleport"],
                    "valid": point.score,
                    "agreement": point.agreement,
                    "deviation": point.deviation,
                    "cpu_ms": point.cpu_ms,
                    "num_nodes": point.num_nodes,
                }
                for point in found.points
            ],
        }


def jobs_of(graph: str, kinds: list[str], settings: Settings) -> Iterator[Job]:
    """Yield the jobs of a graph in the order of their needs."""
    for kind in kinds:
        if kind in ("normal", "curve"):
            yield Job(kind, graph, settings)
            continue
        for topk in settings.sizes:
            for teleport in settings.teleports:
                yield Job(kind, graph, settings, topk, teleport)


def table() -> str:
    """Return all results as Markdown, one line each; CPU seconds of a warm start include those of its normal GNN."""
    lines = ["| graph and job | valid accuracy | CPU s of training | CPU ms of a target |", "| --- | --- | --- | --- |"]
    for path in sorted(FOLDER.glob("*.json")):
        found = json.loads(path.read_text())
        if "points" in found:
            lines.append(f"| {path.stem}, whole graph | {found['exact']:.4f} | | |")
            for point in found["points"]:
                what = f"{path.stem}, PPR {point['topk']}, teleport {point['teleport']}"
                paired = f"{point['valid']:.4f} (± {point['deviation']:.4f} to the whole graph)"
                lines.append(f"| {what} | {paired} | 0 | {point['cpu_ms']:.2f} |")
        else:
            lines.append(f"| {path.stem} | {found['valid']:.4f} | {found['cpu_seconds']:.0f} | |")
    return "\n".join(lines)


def main() -> None:
    """Do the jobs that have no result yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", help="graph folders or names")
    parser.add_argument("--jobs", default="normal,curve,warm,scratch", help=f"kinds of jobs: {', '.join(KINDS)}")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="sizes of scopes")
    parser.add_argument("--teleports", default=",".join(map(str, TELEPORTS)), help="teleports of scopes")
    parser.add_argument("--normal-epochs", type=int, default=200)
    parser.add_argument("--warm-epochs", type=int, default=4, help="epochs on scopes after the normal ones")
    parser.add_argument("--scratch-epochs", type=int, default=20)
    parser.add_argument("--rate", type=float, default=0.002, help="learning rate on scopes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600, help="start no job after so many minutes")
    given = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        given.normal_epochs,
        given.warm_epochs,
        given.scratch_epochs,
        given.rate,
        tuple(map(int, given.sizes.split(","))),
        tuple(map(float, given.teleports.split(","))),
        given.seed,
    )
    end = time.monotonic() + 60 * given.minutes
    for graph in given.graphs:
        for job in jobs_of(graph, given.jobs.split(","), settings):
            if not job.path.exists() and time.monotonic() < end:
                write_file(job.path, json.dumps(job.run(), indent=1).encode())
                print(job.name, flush=True)
    print(table())


if __name__ == "__main__":
    main()
