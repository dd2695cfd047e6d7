"""Train: `shadow train`, from a recipe to a run folder.

Not for: the work itself (training/runs/run.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.existing import existing_recipe
from shadow_gnn.cli.shared.options import (
    RECIPE_HELP,
    AnySizeOption,
    JsonOption,
    RecipeGraphOption,
    RepeatOption,
    SetOption,
    named_recipe,
    prepare_training,
)
from shadow_gnn.cli.training.default import Network, chosen_recipes, single_recipe, train_default

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks
    from shadow_gnn.recipe import Recipe


def _show_keys(value: bool) -> None:
    if not value:
        return
    from shadow_gnn.recipe.keys import recipe_keys

    for key in recipe_keys():
        default = f" = {key.default}" if key.default else ""
        typer.echo(f"{key.name}{default}    ({key.values})\n    {key.text}")
    raise typer.Exit


def _show_paper(value: bool) -> None:
    if not value:
        return
    from shadow_gnn.recipe.named import PREFIX, paper_recipe_names, paper_recipe_path

    for name in paper_recipe_names():
        first = paper_recipe_path(name).read_text().partition("\n")[0].removeprefix("# ")
        typer.echo(f"{PREFIX}/{name}    {first}")
    raise typer.Exit


def train_command(
    recipe: Annotated[
        Path | None,
        typer.Argument(callback=existing_recipe, help=RECIPE_HELP, show_default="chosen for --graph"),
    ] = None,
    set_: SetOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder to create.", show_default="runs/<recipe>-<number>")
    ] = None,
    graph: RecipeGraphOption = None,
    repeat: RepeatOption = 1,
    any_size: AnySizeOption = False,
    network: Annotated[
        Network | None,
        typer.Option(
            help="Without a recipe: normal GNNs and a model on scopes with their mean, or one of the models.",
            show_default="hybrid",
        ),
    ] = None,
    as_json: JsonOption = False,
    keys: Annotated[
        bool,
        typer.Option("--keys", callback=_show_keys, is_eager=True, help="Show every key of a recipe and exit."),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", callback=_show_paper, is_eager=True, help="Show the paper's recipes and exit."),
    ] = False,
) -> None:
    """Train the model of a recipe.

    All files go into a run folder: the complete recipe, metrics of each epoch (metrics.csv), checkpoints, the model of
    the best epoch (model.safetensors, config.json) and its metrics (result.json). After Ctrl-C or a kill, `shadow
    resume` continues the run.

    Without a recipe, the settings follow from the graph and are printed with their reasons. A normal GNN and a model on
    scopes are trained for about the same CPU time, and the weights of their mean are chosen on validation. `shadow
    predict` and `shadow resume` take the folder of both.

    \b
    Examples:
      shadow train recipe.toml
      shadow train recipe.toml --set model.num_layers=5 --set training.num_epochs=20 --out runs/deep
      shadow train recipe.toml --graph my-graph --repeat 5
      shadow train --graph my-graph
      shadow train --graph my-graph --network scopes --set model.num_layers=5
      shadow train paper/flickr-sage-3-ppr --graph my-flickr
      shadow train --keys
    """
    from shadow_gnn.cli.shared.ranks import are_several, joined_ranks
    from shadow_gnn.training.runs.folder import free_folder

    if recipe is None and graph is None:
        raise ValueError("train: recipe must be a file, or --graph must be given to choose one, got neither")
    if recipe is not None and network is not None:
        raise ValueError("train: --network must be used without a recipe, got one")
    if recipe is None and repeat > 1 and network in (None, "hybrid"):
        raise ValueError("train: --repeat must be used with a recipe, or with --network scopes or normal")
    folder = out or free_folder(recipe or Path("default"))
    if recipe is not None and not are_several():
        named_recipe(recipe, set_, graph)  # A fault is reported before torch is loaded.
    with joined_ranks(folder) as ranks:
        if recipe is not None:
            content = named_recipe(recipe, set_, graph)
        else:
            assert graph is not None
            found = chosen_recipes(graph, set_, network or "hybrid", ranks, to_stderr=as_json)
            single = single_recipe(found, network or "hybrid", ranks)
            if single is None:
                train_default(found, folder, any_size=any_size, as_json=as_json)
                return
            content = single
        prepare_training(content)
        _train(content, Path(ranks.from_main(str(folder))), repeat, ranks, any_size=any_size, as_json=as_json)


def _train(recipe: Recipe, folder: Path, repeat: int, ranks: Ranks, *, any_size: bool, as_json: bool) -> None:
    from shadow_gnn.cli.shared.live import show_result, shown_run
    from shadow_gnn.training.runs.folder import RESULT, read_json
    from shadow_gnn.training.runs.repeats import train_repeats
    from shadow_gnn.training.runs.run import RunOptions, train_recipe

    with shown_run(folder, ranks, to_stderr=as_json) as live:
        options = RunOptions(watcher=live, check_memory=not any_size)
        if repeat > 1:
            train_repeats(recipe, folder, repeat, options)
        else:
            train_recipe(recipe, folder, options=options)
    if ranks.is_main:
        show_result(folder, read_json(folder / RESULT), as_json=as_json)
