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
DEEP_PARTS = ("normal-labels-5", "labels-50-5")
"""The same with 5 residual layers."""
NORMALS = ("normal", "normal-dropout", "normal-slow")
"""Normal GNNs of which validation chooses one."""
HEAD = """# Results of the default

The [default](default.md) is the mean of a normal GNN and of a model on scopes of 50 nodes, both with training labels
as inputs, with weights chosen on validation. Here it is compared with a normal GNN that does not read labels. Written
by:

```text
python bench/study/default_search.py FOLDER --page --seeds {seeds}
    --networks {networks}
    --graphs {graphs}
```

All models have 3 layers of GraphSAGE, width 128, DropEdge 0.1 and a cosine schedule. Normal GNNs train on the whole
graph for 300 epochs, with a learning rate of 0.005 and dropout 0.25, with dropout 0.5, or with a learning rate of
0.002; the column **tried** says how many of the three were tried, and validation chooses. The models of the default
have dropout 0.25, and the same 300 epochs, or on scopes a learning rate of 0.002, batches of 128 and as many epochs
as take the CPU seconds of the normal GNN; `shadow train --graph` stops them at 90 % of that. No setting was chosen by
test accuracy. The size of the scopes was chosen by validation on debian-teams.

## Test accuracy

All test targets, in percent, with the number of seeds in parentheses. The interval of the difference between default
and normal is 95 %, from a bootstrap over test nodes and, with several seeds, over seeds: with one seed it says
nothing about other seeds. CPU is the CPU time of training of the default divided by that of the normal GNN.

"""
COLUMNS = "| graph | tried | normal | normal, labels | scopes, labels | default | weight of scopes | difference | CPU |"


@dataclass(frozen=True, eq=False)
class Graph:
    """The kept predictions of one graph."""

    name: str
    runs: dict[str, dict[int, Any]]
    """By network and seed."""

    @property
    def normal(self) -> str:
        """The normal network that validation chooses with the first seed."""
        tried = [name for name in NORMALS if 0 in self.runs.get(name, {})]
        return max(tried, key=lambda name: self.correct(name, 0, "valid").mean())

    @property
    def seeds(self) -> list[int]:
        """Seeds with both models of the default."""
        first, second = (self.runs.get(name, {}) for name in PARTS)
        return sorted(set(first) & set(second))

    def scores(self, network: str, seed: int, split: str) -> np.ndarray:
        """Return probabilities. [N, C]"""
        return np.asarray(self.runs[network][seed][split], np.float32)

    def labels(self, split: str) -> np.ndarray:
        """Return classes. [N]"""
        return np.asarray(self.runs[PARTS[0]][0][f"{split}_label"])

    def correct(self, network: str, seed: int, split: str) -> np.ndarray:
        """Return which predictions of a network are correct. [N]"""
        return np.asarray(self.scores(network, seed, split).argmax(1) == self.labels(split))

    def default(self, seed: int, split: str, parts: tuple[str, str] = PARTS) -> tuple[np.ndarray, float]:
        """Return the correctness of the default, and the weight of scopes that validation chose."""
        valid = [self.scores(name, seed, "valid") for name in parts]
        weights = chosen_weights("classes", valid, self.labels("valid"))
        mean = average([self.scores(name, seed, split) for name in parts], weights)
        return np.asarray(mean.argmax(1) == self.labels(split)), weights[1]

    def seconds(self, network: str) -> float:
        """Return the mean CPU seconds of training of a network."""
        return float(np.mean([float(run["cpu_seconds"]) for run in self.runs[network].values()]))


def read_graph(folder: Path, name: str) -> Graph:
    """Read all kept predictions of a graph."""
    runs: dict[str, dict[int, Any]] = {}
    for path in sorted(folder.glob(f"{name}--*.npz")):
        _, network, seed = path.stem.split("--")
        runs.setdefault(network, {})[int(seed)] = np.load(path)
    return Graph(name, runs)


def row(graph: Graph, split: str) -> tuple[str, float]:
    """Return the row of a graph and the difference in points."""
    sides = [
        np.stack([graph.correct(name, seed, split) for seed in sorted(graph.runs[name])])
        for name in (graph.normal, *PARTS)
    ]
    whole = [graph.default(seed, split) for seed in graph.seeds]
    default, weight = np.stack([correct for correct, _ in whole]), float(np.mean([weight for _, weight in whole]))
    apart = paired_difference(default, sides[0])
    value, low, high = (100 * number for number in (apart.value, apart.low, apart.high))
    ratio = sum(map(graph.seconds, PARTS)) / graph.seconds(graph.normal)
    cells = [f"{100 * side.mean():.2f} ({len(side)})" for side in (*sides, default)]
    num_tried = sum(0 in graph.runs.get(name, {}) for name in NORMALS)
    text = f"{value:+.2f} ({low:+.2f} to {high:+.2f})"
    return f"| {graph.name} | {num_tried} | {' | '.join(cells)} | {weight:.2f} | {text} | {ratio:.1f} |", value


def depth_rows(graphs: list[Graph], split: str) -> list[str]:
    """Return the lines about the default with 5 layers, for the graphs that have it with the first seed."""
    rows = []
    for graph in graphs:
        if all(0 in graph.runs.get(name, {}) for name in DEEP_PARTS):
            deep, shallow = (graph.default(0, split, parts)[0] for parts in (DEEP_PARTS, PARTS))
            apart = paired_difference(deep[None], shallow[None])
            value, low, high = (100 * number for number in (apart.value, apart.low, apart.high))
            cells = f"{100 * shallow.mean():.2f} | {100 * deep.mean():.2f} | {value:+.2f} ({low:+.2f} to {high:+.2f})"
            rows.append(f"| {graph.name} | {cells} |")
    if not rows:
        return []
    head = ["", "## 5 layers", "", "The default with 5 residual layers, test accuracy, one seed:", ""]
    return [*head, "| graph | 3 layers | 5 layers | difference |", "| --- | ---: | ---: | ---: |", *rows]


def page(folder: Path, names: list[str], split: str = "test") -> str:
    """Return the page of the graphs whose runs are finished."""
    every = [read_graph(folder, name) for name in names]
    done = [graph for graph in every if 0 in graph.runs.get(NORMALS[0], {}) and 0 in graph.seeds]
    rows = [row(graph, split) for graph in done]
    values, count = [value for _, value in rows], f"of {len(rows)} graphs"
    lines = [COLUMNS, "| --- " + "| ---: " * 8 + "|", *(text for text, _ in rows), ""]
    lines.append(f"- At most 0.2 points below the normal GNN: {sum(value >= -0.2 for value in values)} {count}.")
    lines.append(f"- At least 0.3 points above it: {sum(value >= 0.3 for value in values)} {count}.")
    missing = [graph.name for graph in every if graph not in done]
    if missing:
        lines.append(f"- Not finished: {', '.join(missing)}.")
    lines += depth_rows(done, split)
    head = HEAD.format(
        graphs=" ".join(graph.name for graph in done),
        networks=" ".join((*NORMALS, *PARTS, *DEEP_PARTS)),
        seeds=" ".join(map(str, sorted({seed for graph in done for seed in graph.seeds}))),
    )
    return head + "\n".join(lines) + "\n"
