"""Memory: `shadow memory`, the memory that each way of training would need.

Not for: the numbers themselves (memory/, training/footprint.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.shared.output import JsonOption, print_json

if TYPE_CHECKING:
    from shadow_gnn.base.memory_needs import MemoryNeed
    from shadow_gnn.recipe import Recipe
    from shadow_gnn.studies.paper.hardware_tables import PaperLine

_PIPED_WIDTH = 160


def memory_command(
    graph: Annotated[
        str | None, typer.Argument(help="Graph folder or built-in graph.", show_default="the recipe's")
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            help="Recipe (also paper/NAME) whose model and scopes to count.", show_default="a recipe's defaults"
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the recipe; can be given many times."),
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Show the paper's tables, next to our numbers.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Predict the memory of training: shaDow, full batch, GraphSAINT, neighbour sampling, SGC and SIGN.

    Counts nodes, edges, columns and a few scopes, and trains nothing. A way of training that would not fit into the
    available memory is marked.

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
    from shadow_gnn.recipe.file import read_recipe
    from shadow_gnn.recipe.named import find_recipe
    from shadow_gnn.recipe.record import toml_value

    if path is not None:
        return read_recipe(
            find_recipe(path), [*changes, *([f"graph={toml_value(graph)}"] if graph is not None else [])]
        )
    if changes:
        raise ValueError(f"memory: --set must be used with --recipe, got --set {changes[0]} alone")
    return Recipe.model_validate({"graph": graph})


def _show_predictions(recipe: Recipe, *, as_json: bool) -> None:
    from shadow_gnn.base.memory_available import available_memory
    from shadow_gnn.training.footprint import all_needs, model_counts
    from shadow_gnn.training.run_setup import open_recipe_graph

    found, available = all_needs(recipe, open_recipe_graph(recipe.graph)), available_memory()
    content = {
        "graph": recipe.graph,
        "available": available,
        "predictions": [{"name": each.name, "total": each.total, "parts": dict(each.parts)} for each in found],
    }
    if as_json:
        print_json(content)
        return
    network = model_counts(recipe)
    model = f"{network.num_layers} layers of {network.layer}-{network.hidden_dim}"
    _print(f"{recipe.graph}: {model}, batches of {recipe.training.batch_size}", _prediction_table(found, available))


def _prediction_table(found: list[MemoryNeed], available: int | None) -> Any:
    from rich.table import Table

    from shadow_gnn.base.memory_available import readable

    table = Table(box=None, pad_edge=False)
    table.add_column("training", no_wrap=True)
    table.add_column("memory", justify="right", no_wrap=True)
    table.add_column("" if available is None else f"of {readable(available)} free", no_wrap=True)
    table.add_column("largest parts", overflow="fold")
    for each in found:
        fits = "" if available is None else "fits" if each.total <= available else "too large"
        parts = sorted(each.parts.items(), key=lambda part: -part[1])[:3]
        table.add_row(
            each.name, readable(each.total), fits, ", ".join(f"{name} {readable(size)}" for name, size in parts)
        )
    return table


def _show_paper(*, as_json: bool) -> None:
    from dataclasses import asdict

    from shadow_gnn.studies.paper.hardware_tables import hardware_table, memory_table

    methods, hardware = memory_table(), hardware_table()
    content = {"methods": [asdict(line) for line in methods], "hardware": [asdict(line) for line in hardware]}
    if as_json:
        print_json(content)
        return
    _print("Memory of the ogbn-papers100M leaderboard methods", _paper_table("method", methods))
    _print("\nMinimum hardware for shaDow", _paper_table("graph", hardware))
    typer.echo(
        "\nRAM: features in float32 and 8 bytes per CSR entry, or what is propagated; whole GB as the paper cuts each "
        "part.\nStep: 32 scopes of 200 nodes with 5 layers of GAT, as this package computes them."
    )


def _paper_table(first: str, lines: list[PaperLine]) -> Any:
    from rich.table import Table

    from shadow_gnn.base.memory_available import readable

    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in ("RAM (paper)", "RAM (ours)", "in whole GB", "GPU (paper)", "step (ours)"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        step = "" if line.step is None else readable(line.step)
        table.add_row(line.name, line.paper_ram, readable(line.ram), str(line.ram_whole), line.paper_gpu, step)
    return table


def _print(title: str, table: Any) -> None:
    from rich.console import Console

    # Piped somewhere, lines need not fit a screen.
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
    console.print(title, soft_wrap=True)
    console.print(table)
