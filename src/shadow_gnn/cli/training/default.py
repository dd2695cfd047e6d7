"""Default: `shadow train` without a recipe, the lines that explain the choice, and the training of all models.

Not for: the rules (training/defaults) or the folder of the models (inference/hybrid.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from shadow_gnn.cli.shared.output import number, print_json, print_table
from shadow_gnn.cli.shared.voice import say

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks
    from shadow_gnn.recipe import Recipe
    from shadow_gnn.training.defaults import DefaultRecipe

Network = Literal["hybrid", "scopes", "normal"]


def chosen_recipes(
    graph: str, changes: list[str] | None, network: Network, ranks: Ranks, *, to_stderr: bool = False
) -> DefaultRecipe:
    """Choose the recipes of a graph, with the changes of --set, and print a line for each choice."""
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.training.defaults import choose_hybrid
    from shadow_gnn.training.run_setup import open_recipe_graph

    keep_freed_memory()
    # Processes that train together must have the same recipe: none of them measures times.
    paced = network == "hybrid" and ranks.alone
    found = choose_hybrid(open_recipe_graph(graph), graph, changes or [], paced=paced)
    if ranks.is_main:
        for choice in found.choices:
            say(f"{choice.setting}: {choice.reason}", to_stderr=to_stderr)
    if network == "normal" and not found.normals:
        raise ValueError("train: --network must be scopes for this graph, got normal; the lines above tell the reason")
    return found


def single_recipe(found: DefaultRecipe, network: Network, ranks: Ranks) -> Recipe | None:
    """Return the recipe if one model is to be trained, or None for the hybrid; several processes train on scopes."""
    from shadow_gnn.training.defaults import NORMAL

    if network == "normal":
        return found.normals[NORMAL]
    return found.recipe if network == "scopes" or not found.normals or not ranks.alone else None


def train_default(found: DefaultRecipe, folder: Path, *, any_size: bool, as_json: bool) -> None:
    """Train all models and show their mean."""
    from shadow_gnn.base.ranks import ALONE
    from shadow_gnn.cli.shared.live import shown_run
    from shadow_gnn.inference.hybrid import train_hybrid
    from shadow_gnn.training.runs.run import RunOptions

    with shown_run(folder, ALONE, to_stderr=as_json) as live:
        options = RunOptions(watcher=live, check_memory=not any_size)
        hybrid = train_hybrid(found.members, folder, options)
    show_hybrid(folder, dict(hybrid.result), as_json=as_json)


def show_hybrid(folder: Path, result: dict[str, Any], *, as_json: bool) -> None:
    """Print weights and metrics of the models and of their mean, and the reason of the weights."""
    if as_json:
        print_json({"folder": folder, **result})
        return
    metric = result["monitor"]
    rows = [
        (name, f"{result['weights'][name]:.2f}", number(one["valid"]), number(one["test"]))
        for name, one in result["members"].items()
    ]
    rows.append(("mean", "", number(result["valid"].get(metric)), number(result["test"].get(metric))))
    print_table(("model", "weight", f"valid {metric}", f"test {metric}"), rows)
    typer.echo(f"models chosen by the loss on validation; {result['cpu_seconds']:.0f} CPU s of training; {folder}")
    alone = next((name for name, weight in result["weights"].items() if weight == 1), None)
    if alone is not None:
        typer.echo(f"the other models add nothing: use {folder / alone} alone")
