"""Card: README.md of a run folder: data, recipe, metrics, versions, how to load it; in the Hugging Face Hub's format.

Not for: files that are read again; the model is model.safetensors and config.json. Hybrids: inference/hybrid_card.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import write_file
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.training.runs.folder import VERSIONS, Run, read_json

CARD = "README.md"
_TASKS = {"classes": "node-classification", "multilabel": "node-classification", "values": "node-regression"}


def write_card(run: Run, graph: Graph, target: str, result: Mapping[str, Any]) -> None:
    """Write the card of a run; target: classes, multilabel, values or links. result: the contents of result.json."""
    write_file(run.folder / CARD, card_text(run, graph, target, result).encode())


def card_text(run: Run, graph: Graph, target: str, result: Mapping[str, Any]) -> str:
    """Return the card as Markdown behind its metadata; paths of this machine are not part of it."""
    versions = read_json(run.folder / VERSIONS)
    name = graph_name(graph, run.recipe)
    lines = [
        "---",
        *yaml_lines(hub_metadata(run.folder.name, name, target, run.recipe.model.layer, result["test"])),
        "---",
        "",
        f"# {run.folder.name}",
        "",
        f"A [shadow-gnn](https://github.com/shadow-gnn/shadow-gnn) model: {model_line(run.recipe)}. It predicts "
        f"{predicted_things(target)} on the graph {name}.",
        "",
        "## Data",
        "",
        *table_lines(data_rows(graph, name)),
        "",
        "## Metrics",
        "",
        f"Weights of epoch {result['best_epoch']} of {result['num_epochs']}, the best by validation "
        f"{result['monitor']}; {result['num_parameters']:,} parameters, {result['cpu_seconds']:,.0f} CPU seconds of "
        "training.",
        "",
        *_metric_table(result),
        "",
        "## Use",
        "",
        "```python",
        "from shadow_gnn import Predictor, from_pretrained, open_graph",
        "",
        'predictor = Predictor(from_pretrained("FOLDER OR HUB ID"), open_graph("GRAPH FOLDER"))',
        f"print(predictor.predict({'[[0, 1]]' if target == 'links' else '[0, 1]'}))",
        "```",
        "",
        "## Recipe",
        "",
        "```json",
        json.dumps(shown_recipe(run.recipe), indent=1),
        "```",
        "",
        "## Versions",
        "",
        *table_lines([(key, str(value)) for key, value in versions.items()]),
    ]
    return "\n".join(lines) + "\n"


def graph_name(graph: Graph, recipe: Recipe) -> str:
    """Return the name of the graph without its path."""
    return Path(graph.path or recipe.graph).name


def hub_metadata(model: str, graph: str, target: str, layer: str, test: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the metadata of the Hub: library, tags, metrics of a model with their dataset."""
    task = _TASKS.get(target, "link-prediction")
    found = [
        {"type": name, "value": value, "name": f"test {name}"}
        for name, value in test.items()
        if value is not None and math.isfinite(value)
    ]
    data = {
        "library_name": "shadow-gnn",
        "pipeline_tag": "graph-ml",
        "tags": ["graph-neural-network", "shadow-gnn", layer.lower(), task],
    }
    if not found:
        return data
    results = {"task": {"type": "graph-ml", "name": task}, "dataset": {"type": graph, "name": graph}, "metrics": found}
    return {**data, "model-index": [{"name": model, "results": [results]}]}


def shown_recipe(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe sets, without paths of this machine."""

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shown(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [shown(inner) for inner in value]
        return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value

    found: dict[str, Any] = shown(recipe.model_dump(mode="json", exclude_defaults=True))
    return found


def model_line(recipe: Recipe) -> str:
    """Describe the model of a recipe in a few words."""
    model = recipe.model
    scopes = "without scopes" if recipe.extractor is None and not recipe.branches else "on scopes"
    return f"{model.num_layers} layers of {model.layer} with {model.hidden_dim} columns, {scopes}"


def predicted_things(target: str) -> str:
    """Return what a model predicts, in words; target: classes, multilabel, values or links."""
    return {"multilabel": "labels of nodes", "links": "links between nodes"}.get(target, f"{target} of nodes")


def data_rows(graph: Graph, name: str) -> list[tuple[str, str]]:
    """Return what a card tells about a graph: sizes, classes, splits."""
    columns = 0 if graph.x is None else graph.x.shape[1]
    splits = {**graph.splits, **graph.pairs}
    rows = [
        ("graph", name),
        ("nodes", f"{graph.num_nodes:,}"),
        ("directed", "yes" if graph.directed else "no"),
        ("feature columns", f"{columns:,}"),
        ("fingerprint", graph.fingerprint),
    ]
    if graph.class_name is not None:
        rows.append(("classes", f"{len(graph.class_name):,}"))
    return [*rows, *((f"targets of {split}", f"{len(targets):,}") for split, targets in splits.items())]


def _metric_table(result: Mapping[str, Any]) -> Iterator[str]:
    def cell(value: float | None) -> str:
        return "-" if value is None else f"{value:.4f}"

    yield "| metric | validation | test |"
    yield "| --- | ---: | ---: |"
    for name, value in result["valid"].items():
        yield f"| {name} | {cell(value)} | {cell(result['test'].get(name))} |"


def table_lines(rows: list[tuple[str, str]]) -> Iterator[str]:
    """Give a Markdown table of two columns without titles."""
    yield "| | |"
    yield "| --- | --- |"
    for key, value in rows:
        yield f"| {key} | {value.replace('|', '/')} |"


def yaml_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the metadata as YAML: every value as JSON, which YAML contains."""
    for key, value in data.items():
        yield f"{key}: {json.dumps(value)}"
