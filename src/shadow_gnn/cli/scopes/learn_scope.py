"""Learn-scope: `shadow learn-scope`, scopes chosen by a trained model, and a shaDow model on them.

Not for: the work itself (studies/learned_scopes); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shadow_gnn.cli.shared.options import (
    JsonOption,
    RecipeArgument,
    RecipeGraphOption,
    SetOption,
    named_recipe,
    prepare_training,
)
from shadow_gnn.cli.shared.output import print_json
from shadow_gnn.cli.shared.screen import Screen, stoppable


def learn_scope_command(
    recipe: RecipeArgument,
    set_: SetOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "--run", help="Output folder.", show_default="runs/<recipe>-learned"),
    ] = None,
    graph: RecipeGraphOption = None,
    explainer: Annotated[
        Literal["saliency", "gnnexplainer"],
        typer.Option(help="saliency: one backward pass for many targets; gnnexplainer: PyG's, target by target."),
    ] = "saliency",
    explainer_epochs: Annotated[int, typer.Option(min=1, help="gnnexplainer: steps for each target.")] = 100,
    topk: Annotated[
        int | None, typer.Option(min=1, help="Most nodes of a learned scope.", show_default="as the recipe's")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="Nodes ranked for each target.", show_default="4 times topk")
    ] = None,
    every_node: Annotated[
        bool, typer.Option("--every-node", help="Give every node a scope, not only the nodes of the splits.")
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="Explain the model of this run instead of training one."),
    ] = None,
    method: Annotated[
        Literal["full", "neighbor"] | None,
        typer.Option(help="Training of the normal GNN.", show_default="full if the graph is small enough"),
    ] = None,
    normal_epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Epochs of the normal GNN.", show_default="the recipe's; at least 100 for full"),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also train the unchanged recipe, on the scopes of its own extractor.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Learn scopes from a trained GNN, in the two phases of the paper, and train a shaDow model on them.

    Phase 1 trains the layers of the recipe as a normal GNN (no encoding, readout center; method full or neighbor by
    the graph's size). The recipe's extractor, with --candidates instead of its own topk (or max_nodes), then proposes
    nodes for each target. An explainer of the normal GNN ranks them, and the --topk best connected ones go into a scope
    file. Phase 2 trains the shaDow model with extractor = {kind = "file", path = ".../scopes.safetensors"} and the rest
    of the recipe unchanged; any other recipe can use the file in the same way.

    After a stop or a kill at any moment, the same command resumes.

    \b
    Examples:
      shadow learn-scope recipe.toml
      shadow learn-scope recipe.toml --topk 50 --candidates 400 --compare
      shadow learn-scope recipe.toml --from runs/normal-1 --every-node --out runs/all-scopes
      shadow learn-scope recipe.toml --explainer gnnexplainer --explainer-epochs 50
    """
    content = named_recipe(recipe, set_, graph)
    prepare_training(content)
    from shadow_gnn.cli.shared.live import Live
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.learned_scopes.phases import LearnedScopeOptions, make_learned_scopes

    options = LearnedScopeOptions(
        explainer=explainer,
        explainer_epochs=explainer_epochs,
        topk=topk,
        candidates=candidates,
        targets="all" if every_node else "splits",
        method=method,
        num_epochs=normal_epochs,
        source=from_,
        compare=compare,
    )
    folder = out or Path("runs") / f"{recipe.stem}-learned"
    screen = Screen(to_stderr=as_json)
    advice = f"finished work is saved in {folder}, the same command resumes"
    with stoppable(screen, advice, folder), progress_bar() as progress:
        result = make_learned_scopes(content, folder, options, watcher=Live(screen), progress=progress)
    if as_json:
        print_json({"folder": folder, **result})
    else:
        typer.echo(result_line(result))


def result_line(result: dict[str, Any]) -> str:
    """Write the metric with learned scopes, with the recipe's own scopes and of the normal GNN."""
    split = "test" if result["learned"]["test"] else "valid"
    monitor, kind = result["monitor"], result["extractor"]
    names = (("learned", "learned scopes"), ("original", f"{kind} scopes"), ("normal", "normal GNN"))
    parts = [
        f"{text} {result[name][split][monitor]:.4f}"
        for name, text in names
        if result[name] is not None and result[name][split].get(monitor) is not None
    ]
    return (
        f"{split} {monitor}: {', '.join(parts)}; {result['shared']:.0%} of the learned scopes' nodes are in those of "
        f"{kind} too; {result['num_targets']:,} scopes in {result['scopes']}"
    )
