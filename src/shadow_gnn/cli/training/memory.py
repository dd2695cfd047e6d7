"""Memory: `shadow memory`, the memory that each training method would need.

Not for: the numbers themselves (training/footprint.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption, SetOption, named_recipe
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.base.memory_needs import MemoryNeed
    from shadow_gnn.recipe import Recipe
    from shadow_gnn.studies.paper.hardware_tables import PaperLine


def memory_command(
    graph: Annotated[
        str | None,
        typer.Argument(help="Graph folder, built-in graph or dataset.", show_default="the recipe's"),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            help="Recipe of the model and the scopes: a TOML file, or paper/NAME.",
            show_default="the defaults of a recipe",
        ),
    ] = None,
    set_: SetOption = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="Show the paper's tables, with our numbers next to them.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Predict the memory of training: shaDow, full batch, GraphSAINT, neighbor sampling, SGC and SIGN.

    Counts nodes, edges, columns and a few scopes, and trains nothing. Methods that do not fit into
    the available memory are marked.

    \b
    Examples:
      shadow memory my-graph
      shadow memory --recipe recipe.toml
      shadow memory my-graph --recipe recipe.toml --set model.num_layers=5 --set training.batch_size=512
      shadow memory --paper
    """
    if paper:
        if graph is not None or recipe is not None or set_:
            raise ValueError("memory: --paper must be used without a graph or a recipe")
        _show_paper(as_json=as_json)
        return
    if graph is None and recipe is None:
        raise ValueError("memory: a graph, --recipe or --paper must be given, got none; see shadow memory --help")
    _show_predictions(_recipe(graph, recipe, set_ or []), as_json=as_json)


def _recipe(graph: str | None, path: Path | None, changes: list[str]) -> Recipe:
    from shadow_gnn.recipe import Recipe

    if path is not None:
        return named_recipe(path, changes, graph)
    if changes:
        raise ValueError(f"memory: --set must be used with --recipe, got --set {changes[0]} alone")
    return Recipe.model_validate({"graph": graph})


def _show_predictions(recipe: Recipe, *, as_json: bool) -> None:
    from shadow_gnn.base.memory_available import available_memory
    from shadow_gnn.training.footprint import all_needs, model_counts
    from shadow_gnn.training.run_setup import open_recipe_graph

    found, available = all_needs(recipe, open_recipe_graph(recipe.graph)), available_memory()
    if as_json:
        predictions = [{"name": each.name, "total": each.total, "parts": each.parts} for each in found]
        print_json({"graph": recipe.graph, "available": available, "predictions": predictions})
        return
    network = model_counts(recipe)
    model = f"{network.num_layers} layers of {network.layer}-{network.hidden_dim}"
    typer.echo(f"{recipe.graph}: {model}, batches of {recipe.training.batch_size}")
    _print_needs(found, available)


def _print_needs(found: list[MemoryNeed], available: int | None) -> None:
    from shadow_gnn.base.memory_available import readable

    rows = []
    for each in found:
        fits = "" if available is None else "fits" if each.total <= available else "too large"
        parts = sorted(each.parts.items(), key=lambda part: -part[1])[:3]
        largest = ", ".join(f"{name} {readable(size)}" for name, size in parts)
        rows.append((each.name, readable(each.total), fits, largest))
    heads = ("training", "memory", "" if available is None else f"of {readable(available)} free", "largest parts")
    print_table(heads, rows, text_columns=heads[2:])


def _show_paper(*, as_json: bool) -> None:
    from shadow_gnn.studies.paper.hardware_tables import hardware_table, memory_table

    methods, hardware = memory_table(), hardware_table()
    if as_json:
        print_json({"methods": methods, "hardware": hardware})
        return
    typer.echo("Memory of the ogbn-papers100M leaderboard methods")
    _print_paper("method", methods)
    typer.echo("\nMinimum hardware for shaDow")
    _print_paper("graph", hardware)
    typer.echo(
        "\nRAM: features in float32 and 8 bytes per CSR entry, or the propagated features; whole GB: each part is cut "
        "as in the paper.\nStep: 32 scopes of 200 nodes with 5 layers of GAT, as this package computes them."
    )


def _print_paper(first: str, lines: list[PaperLine]) -> None:
    from shadow_gnn.base.memory_available import readable

    rows = []
    for line in lines:
        step = "" if line.step is None else readable(line.step)
        rows.append((line.name, line.paper_ram, readable(line.ram), str(line.ram_whole), line.paper_gpu, step))
    print_table((first, "RAM (paper)", "RAM (ours)", "in whole GB", "GPU (paper)", "step (ours)"), rows)
