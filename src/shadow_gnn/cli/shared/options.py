"""Options: arguments and options that several commands share, and the recipe that they name.

Not for: options of one command, which are in its own file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.existing import existing_recipe, existing_run, picture_file

if TYPE_CHECKING:
    from shadow_gnn.extract.base_extractor import BaseExtractor
    from shadow_gnn.recipe import Recipe

HostOption = Annotated[str, typer.Option(help="Address to listen on; another than this machine's needs a token.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(help="File with the token that callers must send; without it, the variable SHADOW_TOKEN."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the results as JSON, with nothing else on stdout.")]
"""The option of every command."""
RECIPE_HELP = "Recipe: a TOML file, or paper/NAME for one of the paper's."
RecipeArgument = Annotated[Path, typer.Argument(callback=existing_recipe, help=RECIPE_HELP)]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the recipe; can be repeated."),
]
TARGETS_HELP = (
    "all, the name of a split, ids such as 3,17, names of nodes, or a file (.npy, or one id or name per line)."
)
RecipeGraphOption = Annotated[
    str | None,
    typer.Option(help="Graph folder, built-in graph or downloaded dataset.", show_default="the recipe's"),
]
GraphArgument = Annotated[
    str, typer.Argument(metavar="GRAPH", help="Graph folder, or a name: debian, or a dataset of shadow data get.")
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        callback=picture_file,
        help="Also draw the results: .png, .svg or .pdf.",
    ),
]
RepeatOption = Annotated[int, typer.Option(min=1, max=1000, help="Number of seeds; shows mean and standard deviation.")]
AnySizeOption = Annotated[
    bool, typer.Option("--any-size", help="Train even if the estimate exceeds the available memory.")
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace an existing graph folder.")]
ThreadsOption = Annotated[int, typer.Option(min=0, max=1024, help="Threads to use; 0 uses every core.")]
RunArgument = Annotated[Path, typer.Argument(callback=existing_run, help="Run folder.")]
RunGraphOption = Annotated[
    str | None, typer.Option(help="Another graph with the same features.", show_default="the run's")
]
OtherScopesOption = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        metavar="EXTRACTOR",
        help="Predict on these scopes instead: a kind, or a TOML table such as '{kind = \"ppr\", topk = 200}'.",
        show_default="as in training",
    ),
]


def extractor_option(text: str, command: str) -> BaseExtractor:
    """Read the extractor of an option; an error lists all its faults."""
    from shadow_gnn.recipe.extractor_table import parse_extractor
    from shadow_gnn.recipe.faults import checked_extractor

    try:
        table = parse_extractor(text)
    except ValueError as error:
        raise ValueError(f"{command}: --extractor {error}") from None
    return checked_extractor(table, command)


def recipe_changes(changes: list[str] | None, graph: str | None) -> list[str]:
    """Return the changes of --set, with --graph as one more."""
    from shadow_gnn.recipe.record import toml_value

    return [*(changes or []), *([] if graph is None else [f"graph={toml_value(graph)}"])]


def named_recipe(path: Path, changes: list[str] | None = None, graph: str | None = None) -> Recipe:
    """Read the recipe that a command names, with the changes of --set and --graph."""
    from shadow_gnn.recipe.file import read_recipe
    from shadow_gnn.recipe.named import find_recipe

    return read_recipe(find_recipe(path), recipe_changes(changes, graph))


def prepare_training(recipe: Recipe | None) -> None:
    """Set up memory and kernels of this process before torch computes anything."""
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.bf16 import use_working_kernels

    keep_freed_memory()
    if recipe is not None and recipe.training.precision == "bf16":
        use_working_kernels()
