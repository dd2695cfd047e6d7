"""Default page: the default and its parts against a normal GNN, docs/default-results.md.

Not for: training them (default_search.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.inference.averaging import average, chosen_weights
from shadow_gnn.studies.paired import paired_difference

PARTS = ("normal-labels", "labels-50")
"""The two models of the default."""
HEAD = """# Results of the default

The [default](default.md) is the mean of a normal GNN and of a model on scopes of 50 nodes, both with training labels as
inputs, with weights chosen on validation. Here it is compared with a normal GNN that does not read labels. Written by:

```text
python bench/study/default_search.py FOLDER --page --seeds {seeds}
    --networks normal {networks}
    --graphs {graphs}
```

All models have 3 layers of GraphSAGE, width 128, dropout 0.25, DropEdge 0.1 and a cosine schedule. Normal GNNs train on
the whole graph, 300 epochs with a learning rate of 0.005. Scopes have a learning rate of 0.002, batches of 128 and as
many epochs as take the CPU seconds of the normal GNN. No side has a search for settings, and none of these settings was
chosen by test accuracy. The size of the scopes was chosen by validation on debian-teams.

## Test accuracy

All test targets, in percent. The interval of the difference between default and normal is 95 %, from a bootstrap over
test nodes and, with several seeds, over seeds: with one seed it says nothing about other seeds. CPU is the CPU time of
training of the default divided by that of the normal GNN.

"""
COLUMNS = (
    "| graph | seeds | normal | normal, labels | scopes, labels | default | weight of scopes | difference | CPU |"
)


@dataclass(frozen=True, eq=False)
class Kept:
    """The kept predictions of one graph and seed, by network."""

    runs: dict[str, Any]

    def scores(self, network: str, split: str) -> np.ndarray:
        """Return probabilities. [N, C]"""
        return np.asarray(self.runs[network][split], np.float32)

    def labels(self, split: str) -> np.ndarray:
        """Return classes. [N]"""
        return np.asarray(self.runs["normal"][f"{split}_label"])

    def correct(self, scores: np.ndarray, split: str) -> np.ndarray:
        """Return which predictions are correct. [N]"""
        return np.asarray(scores.argmax(1) == self.labels(split))

    def default(self, split: str) -> tuple[np.ndarray, float]:
        """Return the correctness of the default, and the weight of scopes that validation chose."""
        valid = [self.scores(name, "valid") for name in PARTS]
        weights = chosen_weights("classes", valid, self.labels("valid"))
        mean = average([self.scores(name, split) for name in PARTS], weights)
        return self.correct(mean, split), weights[1]

    def seconds(self, *networks: str) -> float:
        """Return CPU seconds of training."""
        return sum(float(self.runs[name]["cpu_seconds"]) for name in networks)


def read_kept(folder: Path, graph: str) -> list[Kept]:
    """Read the seeds of a graph for which all networks of the page are there."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob(f"{graph}--*.npz")):
        _, network, seed = path.stem.split("--")
        found.setdefault(seed, {})[network] = np.load(path)
    return [Kept(runs) for runs in found.values() if {"normal", *PARTS} <= set(runs)]


def row(graph: str, kept: list[Kept], split: str) -> tuple[str, float]:
    """Return the row of a graph and the difference in points."""
    sides = {
        name: np.stack([one.correct(one.scores(name, split), split) for one in kept]) for name in ("normal", *PARTS)
    }
    whole = [one.default(split) for one in kept]
    default, weight = np.stack([correct for correct, _ in whole]), float(np.mean([weight for _, weight in whole]))
    apart = paired_difference(default, sides["normal"])
    value, low, high = (100 * number for number in (apart.value, apart.low, apart.high))
    ratio = sum(one.seconds(*PARTS) for one in kept) / sum(one.seconds("normal") for one in kept)
    cells = [f"{100 * side.mean():.2f}" for side in (*sides.values(), default)]
    text = f"{value:+.2f} ({low:+.2f} to {high:+.2f})"
    return f"| {graph} | {len(kept)} | {' | '.join(cells)} | {weight:.2f} | {text} | {ratio:.1f} |", value


def page(folder: Path, graphs: list[str], split: str = "test") -> str:
    """Return the page of the graphs whose runs are finished."""
    every = {graph: read_kept(folder, graph) for graph in graphs}
    rows = [row(graph, kept, split) for graph, kept in every.items() if kept]
    missing = [graph for graph, kept in every.items() if not kept]
    values = [value for _, value in rows]
    done = [graph for graph, kept in every.items() if kept]
    seeds = " ".join(str(number) for number in range(max(len(kept) for kept in every.values())))
    lines = [COLUMNS, "| --- | ---: " + "| ---: " * 7 + "|", *(text for text, _ in rows), ""]
    lines.append(
        f"- At most 0.2 points below the normal GNN: {sum(v >= -0.2 for v in values)} of {len(values)} graphs."
    )
    lines.append(f"- At least 0.3 points above it: {sum(v >= 0.3 for v in values)} of {len(values)} graphs.")
    if missing:
        lines.append(f"- Not finished: {', '.join(missing)}.")
    head = HEAD.format(graphs=" ".join(done), networks=" ".join(PARTS), seeds=seeds)
    return head + "\n".join(lines) + "\n"
