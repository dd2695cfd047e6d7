"""Growth: 10,000 training steps and 1,000 opens leave memory, descriptors and threads as they were."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tests.communities import small_recipe
from tests.faults.campaign import Campaign

ALLOWED = 0.01


class Measures:
    """Memory, descriptors and threads of this process, step by step."""

    def __init__(self) -> None:
        """Measure this process."""
        self._process = psutil.Process()
        self.rows: list[tuple[int, int, int]] = []

    def take(self) -> None:
        """Measure now."""
        memory = self._process.memory_info().rss
        self.rows.append((memory, self._process.num_fds(), self._process.num_threads()))

    def fault(self, campaign: Campaign, what: str) -> str:
        """Compare the last tenth with the third tenth; what comes before fills caches."""
        size = max(1, len(self.rows) // 10)
        table = np.array(self.rows)
        early, late = np.median(table[2 * size : 3 * size], axis=0), np.median(table[-size:], axis=0)
        growth = late[0] / early[0] - 1
        campaign.counts[f"basis points of growth over {what}"] = round(growth * 10_000)
        if growth > ALLOWED:
            return f"memory grew by {growth:.2%}"
        return "" if (late[1:] == early[1:]).all() else f"descriptors and threads: {early[1:]}, then {late[1:]}"


def growth(campaign: Campaign, root: Path) -> None:
    """Train 10,000 steps, then open 1,000 graphs and models."""
    num_steps = campaign.count or 10_000
    campaign.check("training", _train(campaign, root, num_steps))
    campaign.check("opening", _open(campaign, root, max(100, num_steps // 10)))


def _train(campaign: Campaign, root: Path, num_steps: int) -> str:
    import shutil

    from shadow_gnn.training.runs.run import RunOptions, SilentRun, train_recipe

    measures = Measures()

    class Watcher(SilentRun):
        """Measures every tenth step."""

        num_steps = 0

        def on_step(self, step: Any) -> None:
            self.num_steps += 1
            if self.num_steps % 10 == 0:
                measures.take()

    watcher = Watcher()
    batch_size = 5  # Of 150 targets: 30 steps an epoch, with a checkpoint at the end of each.
    recipe = small_recipe(
        graph=str(root / "place" / "graph"),
        training__num_epochs=-(-num_steps // 30),
        training__batch_size=batch_size,
        training__patience=10**6,
    )
    shutil.rmtree(root / "growth", ignore_errors=True)
    train_recipe(recipe, root / "growth", options=RunOptions(watcher=watcher))
    campaign.counts["steps"] = watcher.num_steps
    return measures.fault(campaign, "steps")


def _open(campaign: Campaign, root: Path, count: int) -> str:
    from shadow_gnn.graph.store import open_graph
    from shadow_gnn.training.model_file import read_model

    measures = Measures()
    opens: list[Callable[[], object]] = [
        lambda: open_graph(root / "place" / "graph").indices[-1],
        lambda: read_model(root / "place" / "done"),
    ]
    for number in range(count):
        for opening in opens:
            opening()
        if number % 10 == 0:
            gc.collect()
            measures.take()
        campaign.counts["opens"] += 1
    return measures.fault(campaign, "opens")
