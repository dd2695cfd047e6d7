"""Memory-speed: memory and speed of training shaDow-GAT by batch size.

Not for: predicting memory (`shadow memory`).
"""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import collate
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.cost.estimate import sample_targets
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import available_titles, graph_settings, here_title, open_found
from shadow_gnn.studies.paper.experiment import Cell, Finding, Job, ReproduceOptions, Result, Table
from shadow_gnn.studies.paper.timing import Clock, machine, machine_notes
from shadow_gnn.studies.paper.training_jobs import adapted
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.loop import make_optimizer
from shadow_gnn.training.run_setup import make_setup

DATA = ("ogbn-products", "ogbn-papers100M", "flickr", "ogbn-arxiv")
BATCH_SIZES = (32, 64, 128)
NUM_TARGETS, FAST_TARGETS = 512, 128
"""Targets of the training steps of each batch size."""

# The points of the appendix's figure: (GB of GPU memory, speed over that of batches of 32).
PRINTED = {
    "ogbn-products": ((2.3, 1.0), (4.2, 1.257), (9.5, 1.1364)),
    "ogbn-papers100M": ((2.35, 1.0), (4.6, 1.71), (10.0, 1.4)),
}


class MemorySpeed:
    """The figure of memory and speed by batch size."""

    name = "memory-speed"
    paper = "Appendix, memory and speed"
    summary = "Memory and speed of shaDow-GAT by batch size."
    data = DATA

    def jobs(self, options: ReproduceOptions) -> Sequence[Job]:
        """Return a job for each available dataset and each batch size."""
        num_targets = FAST_TARGETS if options.fast else NUM_TARGETS
        jobs = []
        for name, graph in open_found(DATA, options.data).items():
            recipe = adapted(paper_recipe(_recipe(name)), options)
            for size in BATCH_SIZES:
                settings = {
                    **graph_settings(graph),
                    "recipe": recipe.model_dump(mode="json"),
                    "batch_size": size,
                    "num_targets": num_targets,
                    "machine": machine(),
                }
                run = partial(_in_own_process, recipe, graph, size, num_targets)
                jobs.append(Job(f"{name.lower()}-{size}", f"batches of {size} on {name}", settings, run))
        return jobs

    def finding(self, results: Mapping[str, Result], options: ReproduceOptions) -> Finding:
        """Show our values next to the paper's."""
        points = _points(results)
        return Finding(
            title="Memory and speed by batch size",
            text=_TEXT,
            tables=(_table(points),),
            draw=partial(_draw, points, here_title(available_titles(DATA, options))),
            notes=machine_notes(results.values()),
        )


def _recipe(name: str) -> str:
    return f"{name}-gat-5-ppr" + ("-max" if name == "ogbn-papers100M" else "")


def _in_own_process(recipe: Recipe, graph: Graph, batch_size: int, num_targets: int, progress: Progress) -> Result:
    """Measure in a new process: here, memory freed by earlier work would hide the need."""
    progress(f"batches of {batch_size}", 0, 1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measure_steps, recipe, graph, batch_size, num_targets, torch.get_num_threads()).result()


def measure_steps(recipe: Recipe, graph: Graph, batch_size: int, num_targets: int, num_threads: int) -> Result:
    """Train some steps; return the milliseconds per target of the model's work, and the bytes that the steps add.

    Memory is None on a system that does not report the peak memory of a process.
    """
    torch.set_num_threads(num_threads)
    setup = make_setup(recipe, graph)
    model = setup.model.train()
    optimizer = make_optimizer(model, recipe.training)
    targets = sample_targets(split_targets(graph, "train"), num_targets)
    (extractor,) = setup.training_extractors
    clock, base, peak = Clock(), None, None
    for start in range(0, len(targets), batch_size):
        part = targets[start : start + batch_size]
        if len(part) < batch_size and start:
            break  # A smaller batch at the end would distort the measurement.
        batch = collate(setup.training_graph, extractor(setup.training_graph, part), model=model)
        assert batch.y is not None
        base = _restart_peak() if base is None else base
        with clock.running(len(part)):
            loss = setup.task.loss(model((batch,)), batch.y)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            optimizer.zero_grad()
        peak = _status("VmHWM")
    memory = None if base is None or peak is None else peak - base
    return {"machine": machine(), "batch_size": batch_size, "memory": memory, **clock.per_target()}


def _restart_peak() -> int | None:
    """Reset the peak memory of this process; return its present memory."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> int | None:
    """Return a size of this process in bytes."""
    path = Path("/proc/self/status")
    found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE) if path.exists() else None
    return None if found is None else 1024 * int(found[1])


def _points(results: Mapping[str, Result]) -> dict[str, list[dict[str, Any]]]:
    """Return the measurements by dataset, each with its speed over that of the smallest batches."""
    points: dict[str, list[dict[str, Any]]] = {}
    for name in DATA:
        smallest = results.get(f"{name.lower()}-{BATCH_SIZES[0]}")
        for size in BATCH_SIZES:
            if (found := results.get(f"{name.lower()}-{size}")) is not None:
                wall, cpu = (smallest and smallest[clock] / found[clock] for clock in ("wall", "cpu"))
                points.setdefault(name, []).append({**found, "speed": wall, "speed_cpu": cpu})
    return points


def _row(name: str, point: Mapping[str, Any]) -> dict[str, Cell]:
    paper = PRINTED[name][BATCH_SIZES.index(point["batch_size"])] if name in PRINTED else (None, None)
    return {
        "data": name,
        "batch size": point["batch_size"],
        "GPU memory, GB (paper)": paper[0],
        "speed (paper)": paper[1],
        "memory, GB": None if point["memory"] is None else point["memory"] / 1e9,
        "speed": point["speed"],
        "speed by processor time": point["speed_cpu"],
        "ms per target": point["wall"],
    }


def _table(points: Mapping[str, list[dict[str, Any]]]) -> Table:
    caption = "Memory that training steps add, and speed over that of batches of 32."
    return Table.of("memory-speed", caption, (_row(name, point) for name, found in points.items() for point in found))


def _draw(points: Mapping[str, list[dict[str, Any]]], here: str, path: Path) -> None:
    with panels(path, (10, 4.4), 2, share_y=True) as axes:
        for name, line in PRINTED.items():
            axes[0].plot(*zip(*line, strict=True), marker="o", color=COLORS[DATA.index(name)], label=name)
        for name, found in points.items():
            known = [each for each in found if each["memory"] is not None and each["speed"] is not None]
            memory, speed = [each["memory"] / 1e9 for each in known], [each["speed"] for each in known]
            axes[1].plot(memory, speed, marker="o", color=COLORS[DATA.index(name)], label=name)
        for plot, title in zip(axes, ("paper: GPU", here), strict=True):
            plot.set_title(title, fontsize=10)
            plot.set_xlabel("memory, GB")
        axes[0].set_ylabel("speed over that of batches of 32")
        legend_below(axes[0].figure)


_TEXT = """Training steps of the 5-layer shaDow-GAT (forward, backward, optimizer) with batches of 32, 64 and 128
scopes, each in its own process: the peak memory of the steps above that of the process before the first one, and the
time of the model's work per target, without extraction. The paper has a GPU (RTX 3090), which larger batches use
better. A processor is busy with small batches already: memory grows with the batch, speed hardly does."""
