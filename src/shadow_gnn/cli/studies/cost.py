"""Cost: `shadow cost`, operations per prediction with scopes and without.

Not for: the numbers themselves (studies/cost); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.shared.existing import existing_recipe
from shadow_gnn.cli.shared.options import (
    RECIPE_HELP,
    TARGETS_HELP,
    JsonOption,
    RecipeGraphOption,
    SetOption,
    named_recipe,
)
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.recipe import Recipe
    from shadow_gnn.studies.cost.recipe import CostLine


def cost_command(
    recipe: Annotated[
        Path | None,
        typer.Argument(callback=existing_recipe, help=RECIPE_HELP, show_default="the defaults of a recipe"),
    ] = None,
    graph: RecipeGraphOption = None,
    set_: SetOption = None,
    layer: Annotated[str | None, typer.Option(help="Short for --set model.layer=...", show_default="sage")] = None,
    num_layers: Annotated[
        int | None, typer.Option(min=1, help="Short for --set model.num_layers=...", show_default="3")
    ] = None,
    hidden_dim: Annotated[
        int | None, typer.Option(min=1, help="Short for --set model.hidden_dim=...", show_default="256")
    ] = None,
    in_dim: Annotated[
        int | None, typer.Option(min=1, help="Input columns to count with.", show_default="those of the graph")
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            help=f"Source of targets: {TARGETS_HELP}",
            show_default="test, or all without that split",
        ),
    ] = None,
    num_targets: Annotated[int, typer.Option(min=1, help="Targets sampled from these.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of all sampling.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Count the operations of one prediction with the equations of the paper's appendix.

    The table has three rows: shaDow on scopes, a normal GNN on the whole neighborhood of each target (minibatch
    inference), and one pass over the whole graph that all targets share. Nothing is trained. Values are means over
    sampled targets, with a 95 % confidence interval.

    \b
    Examples:
      shadow cost recipe.toml
      shadow cost paper/flickr-sage-5-ppr --graph my-data/flickr --in-dim 500
      shadow cost --graph my-graph --layer gat --num-layers 5
    """
    short = {"layer": layer, "num_layers": num_layers, "hidden_dim": hidden_dim}
    given = {f"model.{name}": value for name, value in short.items() if value is not None}
    content = _recipe(recipe, graph, set_ or [], given)
    opened, lines, num_all = _count(content, targets, num_targets, in_dim, seed)
    _show(content, opened, lines, num_all, as_json)


def _recipe(path: Path | None, graph: str | None, changes: list[str], given: dict[str, Any]) -> Recipe:
    from shadow_gnn.recipe import Recipe
    from shadow_gnn.recipe.record import toml_value

    if path is not None:
        return named_recipe(path, [*changes, *(f"{key}={toml_value(value)}" for key, value in given.items())], graph)
    if graph is None:
        raise ValueError("cost: RECIPE or --graph must be given, got neither; see shadow cost --help")
    if changes:
        raise ValueError(f"cost: --set must be used with a recipe, got --set {changes[0]} alone")
    model = {key.removeprefix("model."): value for key, value in given.items()}
    return Recipe.model_validate({"graph": graph, "model": model})


def _count(
    recipe: Recipe, where: str | None, num_targets: int, in_dim: int | None, seed: int
) -> tuple[Graph, list[CostLine], int]:
    import numpy as np

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.targets import choose_targets
    from shadow_gnn.studies.cost import sample_targets
    from shadow_gnn.studies.cost.recipe import recipe_costs
    from shadow_gnn.training.run_setup import open_recipe_graph

    graph = open_recipe_graph(recipe.graph)
    pool = choose_targets("cost", graph, where or ("test" if "test" in graph.splits else "all"))
    every = np.arange(pool) if isinstance(pool, int) else pool
    if len(every) == 0:
        raise ValueError("cost: --targets must name at least one node, got none")
    chosen = sample_targets(every, num_targets, seed=seed)
    with progress_bar() as progress:
        lines = recipe_costs(recipe, graph, chosen, len(every), in_dim=in_dim, seed=seed, progress=progress)
    return graph, lines, len(every)


def _show(recipe: Recipe, graph: Graph, lines: list[CostLine], num_all: int, as_json: bool) -> None:
    counted = lines[0].macs.num_targets
    if as_json:
        counts = {"num_targets": counted, "num_all": num_all}
        print_json({"graph": recipe.graph, "fingerprint": graph.fingerprint, **counts, "costs": lines})
        return
    model = recipe.all_branches[0].model or recipe.model
    typer.echo(
        f"{recipe.graph}: {model.num_layers} layers of {model.layer}-{model.hidden_dim}, {counted:,} targets"
        + ("" if counted == num_all else f" sampled from {num_all:,}")
    )
    rows = [
        (
            line.name,
            f"{line.num_nodes:,.0f}",
            f"{line.num_messages:,.0f}",
            _million(line.macs.value),
            f"{_million(line.macs.low)} to {_million(line.macs.high)}",
            f"{line.ratio.value:,.3g}",
            f"{line.ratio.low:,.3g} to {line.ratio.high:,.3g}",
        )
        for line in lines
    ]
    print_table(("inference", "nodes", "messages", "million operations", "95 %", "times shadow", "95 %"), rows)


def _million(value: float) -> str:
    return f"{value / 1e6:,.2f}"
