"""Hybrid card: README.md of a folder with several models: data, members, metrics, how to predict; in the Hub's format.

Not for: the cards of the members, which their own folders hold (training/runs/card.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import write_file
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.tasks.task import label_kind
from shadow_gnn.training.runs.card import (
    CARD,
    data_rows,
    graph_name,
    hub_metadata,
    model_line,
    predicted_things,
    table_lines,
    yaml_lines,
)
from shadow_gnn.training.runs.folder import VERSIONS, read_json


def write_hybrid_card(folder: Path, graph: Graph, recipes: Mapping[str, Recipe], result: Mapping[str, Any]) -> None:
    """Write the card of a hybrid; recipes: those of its members; result: the contents of result.json."""
    first = next(iter(recipes.values()))
    name, target = graph_name(graph, first), label_kind(graph)
    versions = read_json(folder / next(iter(recipes)) / VERSIONS)
    lines = [
        "---",
        *yaml_lines(hub_metadata(folder.name, name, target, "ensemble", result["test"])),
        "---",
        "",
        f"# {folder.name}",
        "",
        f"A [shadow-gnn](https://github.com/shadow-gnn/shadow-gnn) hybrid: the weighted mean of {len(recipes)} models. "
        f"It predicts {predicted_things(target)} on the graph {name}.",
        "",
        "## Data",
        "",
        *table_lines(data_rows(graph, name)),
        "",
        "## Members and metrics",
        "",
        f"Validation chose the members with a weight; {result['cpu_seconds']:,.0f} CPU seconds of training.",
        "",
        *_member_table(recipes, result),
        "",
        "## Use",
        "",
        "```python",
        "import numpy as np",
        "",
        "from shadow_gnn import open_graph, open_hybrid, predict_hybrid",
        "",
        'hybrid, graph = open_hybrid("THIS FOLDER"), open_graph("GRAPH FOLDER")',
        "print(predict_hybrid(hybrid, np.array([0, 1]), graph))",
        "```",
        "",
        "The folder of each member is a run folder with a card of its own; `shadow share` pushes one of them.",
        "",
        "## Versions",
        "",
        *table_lines([(key, str(value)) for key, value in versions.items()]),
    ]
    write_file(folder / CARD, ("\n".join(lines) + "\n").encode())


def _member_table(recipes: Mapping[str, Recipe], result: Mapping[str, Any]) -> Iterator[str]:
    def cell(value: float | None) -> str:
        return "-" if value is None else f"{value:.4f}"

    metric = result["monitor"]
    yield f"| model | | weight | validation {metric} | test {metric} |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for name, recipe in recipes.items():
        member = result["members"][name]
        row = (name, model_line(recipe), f"{result['weights'][name]:.3f}", cell(member["valid"]), cell(member["test"]))
        yield f"| {' | '.join(row)} |"
    mean = (cell(result["valid"][metric]), cell(result["test"].get(metric)))
    yield f"| weighted mean | | 1.000 | {' | '.join(mean)} |"
