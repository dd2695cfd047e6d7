"""Reproduce: the recipe and the Python code that make a scope of the page again.

Not for: the scope itself (scopes.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.explore.edits import Edited
from shadow_gnn.explore.runs import ExploredRun
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.file import write_recipe

_OPEN = "from shadow_gnn.graph.datasets.resolve import open_any_graph"


def recipe_text(run: ExploredRun | None, extractor: BaseExtractor | None, source: str) -> str:
    """Return a recipe with the extractor of a scope, as TOML: that of the run, or one with defaults."""
    recipe = None if run is None else run.recipe
    table = None if extractor is None else extractor_table(extractor)
    if recipe is None:
        return write_recipe(Recipe.model_validate({"graph": source, **({} if table is None else {"extractor": table})}))
    if extractor is not None and recipe.extractor is not None:
        recipe = recipe.model_copy(update={"extractor": extractor})
    return write_recipe(recipe.model_copy(update={"graph": source}))


def python_text(
    run: ExploredRun | None,
    extractor: BaseExtractor | None,
    source: str,
    target: list[int],
    seed: int,
    edits: Edited,
) -> str:
    """Return a program that extracts the same scope as `scope`, and predicts the target if there is a run."""
    imports, lines = [_OPEN], [f"graph = open_any_graph({source!r})"]
    if edits.changed:
        more, made = _edit_lines(edits)
        imports += more
        lines += made
    shown = target if len(target) == 1 else [target]
    table = "" if extractor is None else f", extractor={extractor_table(extractor)!r}"
    if run is None:
        assert extractor is not None
        imports.append("from shadow_gnn.recipe.extractor_table import read_extractor")
        lines.append(f"extractor = read_extractor({extractor_table(extractor)!r}).for_evaluation()")
        lines.append(f"scope = extractor(graph, {shown!r}, seed={seed})[0]")
    else:
        folder = str(run.folder) if run.folder is not None else run.name
        if run.hybrid is not None:
            folder += "/scopes"
        imports.append("from shadow_gnn import open_predictor")
        lines.append(f"predictor = open_predictor({folder!r}, graph{table})")
        lines.append(f"targets = predictor.check({shown!r})")
        lines.append("scope = predictor.extractors[0](predictor.graph, targets, seed=predictor.scope_seed)[0]")
        lines.append("print(predictor.predict(targets).row(0))")
    lines.append("print(scope.node_id, scope.hop, scope.score)")
    return "\n".join([*sorted(imports, key=lambda line: (line.startswith("from"), line)), "", *lines]) + "\n"


def _edit_lines(edits: Edited) -> tuple[list[str], list[str]]:
    """Return the imports and lines that make the edits again, by ids."""
    imports = [
        "import numpy as np",
        "from shadow_gnn.graph.changes.changed_graph import ChangedGraph, NewEdges",
        "from shadow_gnn.graph.changes.in_memory import in_memory",
    ]
    lines = ["changed = ChangedGraph(graph)"]
    for update in edits.updates:
        if update.num_nodes:
            names = None if update.names is None else list(update.names)
            lines.append(f"changed.add_nodes({update.num_nodes}, {_array(update.features)}, {names!r})")
        if len(update.set_edges):
            ends = ", ".join(f"np.array({part.tolist()})" for part in update.set_edges.T)
            lines.append(f"changed.set_edges(NewEdges({ends}, {_array(update.weight)}, {_array(update.attr)}))")
        if len(update.remove_edges):
            ends = ", ".join(f"np.array({part.tolist()})" for part in update.remove_edges.T)
            lines.append(f"changed.remove_edges({ends})")
    if len(edits.removed):
        imports.append("from shadow_gnn.graph.changes.update import edges_of_nodes")
        lines.append(f"changed.remove_edges(*edges_of_nodes(changed, np.array({edits.removed.tolist()})).T)")
    if edits.graph.features is not None:
        lines += [f"changed.features.put({node}, {_array(row)})" for node, row in edits.graph.features.instead.items()]
    lines.append(f"graph = in_memory(changed, {edits.labels!r})")
    return imports, lines


def _array(values: NDArray[np.float32] | None) -> str:
    if values is None:
        return "None"
    return f"np.array({values.tolist()}, np.float32)" if values.any() else f"np.zeros({values.shape}, np.float32)"
