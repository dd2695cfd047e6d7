"""Default page: the default against normal GNNs, docs/default-results.md.

Not for: training them (default_runs.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from study_graphs import GRAPHS

from shadow_gnn.studies.paired import Difference, paired_difference

DEFAULT, DEEP = "default", "default-5"
"""What `shadow train --graph` trains, with 3 and with 5 layers."""
NORMALS = ("normal", "normal-dropout", "normal-slow", "normal-gcn")
"""Normal GNNs of which validation chooses one."""
MEMBERS = ("normal", "gcn", "scopes")
"""Models of the default."""
HEAD = """# Results of the default

The [default](default.md) is the mean of a normal GNN, a model on scopes of 50 nodes and, on dense homophilous graphs,
a GCN, all with training labels as inputs. Here it is compared with a normal GNN that does not read labels. Written
by:

```text
python bench/study/default_search.py FOLDER --page --seeds {seeds}
    --networks {networks}
    --graphs {graphs}
```

Normal GNNs have 3 layers of GraphSAGE, width 128, DropEdge 0.1 and a cosine schedule, and train on the whole graph for
300 epochs: with dropout 0.25 and a learning rate of 0.005, with dropout 0.5, with a learning rate of 0.002, or with
layers of GCN. The column **tried** says how many of the four were tried; validation chooses. The default is trained as
by `shadow train --graph`. All test targets count. Settings were chosen by validation, but the test accuracies of these
graphs were seen while the default was developed; two graphs are held out for that reason.

- **normal**, **default**: test accuracy in percent, with the number of seeds in parentheses.
- **difference**: default minus normal, with a 95 % interval from a bootstrap over test nodes and, with several seeds,
  over seeds. With one seed the interval says nothing about other seeds.
- **two normal**: the mean of two normal GNNs with different seeds, which has the CPU time of the default; "-" with one
  seed.
- **CPU**: CPU time of training of the default, with that of choosing its recipes, divided by that of one normal GNN.
"""
COLUMNS = "| graph | tried | normal | default | difference | two normal | CPU |"


@dataclass(frozen=True, eq=False)
class Graph:
    """The kept predictions of one graph."""

    name: str
    runs: dict[str, dict[int, Any]]
    """By network and seed."""

    @property
    def normal(self) -> str:
        """The normal network that validation chooses, by the mean over its seeds."""
        tried = [name for name in NORMALS if name in self.runs]
        return max(tried, key=lambda name: self.correct(name, "valid").mean())

    @property
    def is_done(self) -> bool:
        """Whether there is something to compare."""
        return DEFAULT in self.runs and any(name in self.runs for name in NORMALS)

    def correct(self, network: str, split: str) -> np.ndarray:
        """Return which predictions of a network are correct, a row for each seed. [S, N]"""
        runs = [self.runs[network][seed] for seed in sorted(self.runs[network])]
        return np.stack([run[split].argmax(1) == run[f"{split}_label"] for run in runs])

    def pairs_correct(self, network: str, split: str) -> np.ndarray:
        """Return which predictions are correct of the mean of two seeds, a row for each pair of seeds. [P, N]"""
        runs = self.runs[network].values()
        means = [one[split].astype(np.float32) + other[split] for one, other in combinations(runs, 2)]
        label = next(iter(runs))[f"{split}_label"]
        return np.stack([mean.argmax(1) == label for mean in means]) if means else np.zeros((0, len(label)), bool)

    def seconds(self, network: str) -> float:
        """Return the mean CPU seconds of training of a network."""
        return float(np.mean([float(run["cpu_seconds"]) for run in self.runs[network].values()]))

    def told(self, network: str) -> list[dict[str, Any]]:
        """Return weights and scores of the members of the default, by seed."""
        return [json.loads(str(self.runs[network][seed]["told"])) for seed in sorted(self.runs[network])]


def read_graph(folder: Path, name: str) -> Graph:
    """Read all kept predictions of a graph."""
    runs: dict[str, dict[int, Any]] = {}
    for path in sorted(folder.glob(f"{name}--*.npz")):
        _, network, seed = path.stem.split("--")
        runs.setdefault(network, {})[int(seed)] = dict(np.load(path))
    return Graph(name, runs)


def points(apart: Difference) -> str:
    """Return a difference in points with its interval."""
    value, low, high = (100 * number for number in (apart.value, apart.low, apart.high))
    return f"{value:+.2f} ({low:+.2f} to {high:+.2f})"


def row(graph: Graph, split: str) -> tuple[str, float]:
    """Return the row of a graph and the difference in points, rounded as it is shown."""
    normal, default = (graph.correct(name, split) for name in (graph.normal, DEFAULT))
    apart, two = paired_difference(default, normal), graph.pairs_correct(graph.normal, split)
    cells = [
        graph.name,
        str(sum(name in graph.runs for name in NORMALS)),
        *(f"{100 * side.mean():.2f} ({len(side)})" for side in (normal, default)),
        points(apart),
        f"{100 * two.mean():.2f}" if len(two) else "-",
        f"{graph.seconds(DEFAULT) / graph.seconds(graph.normal):.1f}",
    ]
    return f"| {' | '.join(cells)} |", round(100 * apart.value, 2)


def table(graphs: list[Graph], split: str) -> list[str]:
    """Return the rows of graphs with the counts that decide."""
    rows = [row(graph, split) for graph in graphs]
    values, count = [value for _, value in rows], f"of {len(rows)}"
    lines = [COLUMNS, "| --- " + "| ---: " * 6 + "|", *(text for text, _ in rows), ""]
    lines.append(f"- At most 0.2 points below the normal GNN: {sum(value >= -0.2 for value in values)} {count} graphs.")
    lines.append(f"- At least 0.3 points above it: {sum(value >= 0.3 for value in values)} {count} graphs.")
    return lines


def member_rows(graphs: list[Graph]) -> list[str]:
    """Return the lines about the models of the default: weights and test accuracies, means over seeds."""
    rows = []
    for graph in graphs:
        told, cells = graph.told(DEFAULT), []
        for name in MEMBERS:
            test = [one["members"][name]["test"] for one in told if name in one["members"]]
            weight = np.mean([one["weights"].get(name, 0) for one in told])
            cells.append(f"{100 * np.mean(test):.2f} | {weight:.2f}" if test else "- | -")
        rows.append(f"| {graph.name} | {' | '.join(cells)} |")
    head = "| graph | normal, labels | weight | GCN, labels | weight | scopes, labels | weight |"
    lead = ["", "## Models of the default", "", "Test accuracy and weight of each model, means over seeds:", ""]
    return [*lead, head, "| --- " + "| ---: " * 6 + "|", *rows]


def depth_rows(graphs: list[Graph], split: str) -> list[str]:
    """Return the lines about the default with 5 layers, for the graphs that have it; seeds are those of both."""
    rows = []
    for graph in graphs:
        if DEEP in graph.runs:
            deep, shallow = (graph.correct(name, split) for name in (DEEP, DEFAULT))
            cells = [f"{100 * side.mean():.2f} ({len(side)})" for side in (shallow, deep)]
            rows.append(f"| {graph.name} | {' | '.join(cells)} | {points(paired_difference(deep, shallow))} |")
    if not rows:
        return []
    head = ["", "## 5 layers", "", "The default with 5 residual layers, test accuracy:", ""]
    return [*head, "| graph | 3 layers | 5 layers | difference |", "| --- | ---: | ---: | ---: |", *rows]


def page(folder: Path, names: list[str], split: str = "test") -> str:
    """Return the page of the graphs whose runs are finished."""
    every = [read_graph(folder, name) for name in names]
    done = [graph for graph in every if graph.is_done]
    held = [graph for graph in done if graph.name in GRAPHS and GRAPHS[graph.name].held_out]
    tuned = [graph for graph in done if graph not in held]
    lines = ["", "## Test accuracy", "", *table(tuned, split)]
    missing = [graph.name for graph in every if graph not in done]
    if missing:
        lines.append(f"- Not finished: {', '.join(missing)}.")
    if held:
        lines += ["", "## Graphs that were held out", ""]
        lines += ["These graphs were not looked at before the default was fixed, and nothing was changed after it:", ""]
        lines += table(held, split)
    lines += [*member_rows(done), *depth_rows(done, split)]
    head = HEAD.format(
        graphs=" ".join(graph.name for graph in done),
        networks=" ".join(name for name in (*NORMALS, DEFAULT, DEEP) if any(name in graph.runs for graph in done)),
        seeds=" ".join(map(str, sorted({seed for graph in done for seed in graph.runs[DEFAULT]}))),
    )
    return head + "\n".join(lines) + "\n"
