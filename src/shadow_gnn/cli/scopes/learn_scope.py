"""Learn-scope: `shadow learn-scope`, scopes chosen by a trained model, and a shaDow model on them.

Not for: the work itself (studies/learned_scopes); heavy libraries load when the command runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shadow_gnn.cli.shared.live import Live
    from shadow_gnn.training.loop import Step, TrainingState
    from shadow_gnn.training.run_setup import RunSetup
    from shadow_gnn.training.runs.folder import Run


class ExplainerName(StrEnum):
    """Ranking of the candidates."""

    saliency = "saliency"
    gnnexplainer = "gnnexplainer"


class Which(StrEnum):
    """Nodes that get a scope."""

    splits = "splits"
    all = "all"


class MethodName(StrEnum):
    """Training of the normal GNN."""

    full = "full"
    neighbor = "neighbor"


def learn_scope_command(
    recipe: Annotated[Path, typer.Argument(help="Recipe of a shaDow model: a TOML file, or paper/NAME.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the recipe; can be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "--run", help="Output folder.", show_default="runs/<recipe>-learned"),
    ] = None,
    graph: Annotated[str | None, typer.Option(help="Graph folder or built-in graph, instead of the recipe's.")] = None,
    explainer: Annotated[
        ExplainerName,
        typer.Option(help="saliency: one backward pass for many targets; gnnexplainer: PyG's, target by target."),
    ] = ExplainerName.saliency,
    explainer_epochs: Annotated[int, typer.Option(min=1, help="gnnexplainer: steps for each target.")] = 100,
    topk: Annotated[
        int | None, typer.Option(min=1, help="Most nodes of a learned scope.", show_default="as the recipe's")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="Nodes ranked for each target.", show_default="4 times topk")
    ] = None,
    targets: Annotated[Which, typer.Option(help="Nodes that get a scope.")] = Which.splits,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="Explain the model of this run instead of training one."),
    ] = None,
    method: Annotated[
        MethodName | None,
        typer.Option(help="Training of the normal GNN.", show_default="full if the graph is small enough"),
    ] = None,
    normal_epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Epochs of the normal GNN.", show_default="the recipe's; at least 100 for full"),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also train the unchanged recipe, on the scopes of its own extractor.")
    ] = False,
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
      shadow learn-scope recipe.toml --from runs/normal-1 --targets all --out runs/all-scopes
      shadow learn-scope recipe.toml --explainer gnnexplainer --explainer-epochs 50
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.bf16 import use_working_kernels
    from shadow_gnn.base.progress_bar import progress_bar
    from shadow_gnn.recipe.file import read_recipe
    from shadow_gnn.recipe.named import find_recipe
    from shadow_gnn.recipe.record import toml_value

    changes = [*(set_ or []), *([f"graph={toml_value(graph)}"] if graph is not None else [])]
    content = read_recipe(find_recipe(recipe), changes)
    keep_freed_memory()
    if content.training.precision == "bf16":
        use_working_kernels()
    from shadow_gnn.studies.learned_scopes.phases import LearnedScopeOptions, make_learned_scopes

    options = LearnedScopeOptions(
        explainer=explainer.value,
        explainer_epochs=explainer_epochs,
        topk=topk,
        candidates=candidates,
        targets=targets.value,
        method=None if method is None else method.value,
        num_epochs=normal_epochs,
        source=from_,
        compare=compare,
    )
    folder = out or Path("runs") / f"{recipe.stem}-learned"
    with _watching(folder) as watcher, progress_bar() as progress:
        result = make_learned_scopes(content, folder, options, watcher=watcher, progress=progress)
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


class _Watcher:
    """Shows the runs of both phases."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def on_phase(self, text: str) -> None:
        self._live.stop()
        typer.echo(text)

    def on_start(self, run: Run, setup: RunSetup, num_done: int) -> None:
        self._live.on_start(run, setup, num_done)

    def on_step(self, step: Step) -> None:
        self._live.on_step(step)

    def on_epoch(self, state: TrainingState) -> None:
        self._live.on_epoch(state)


@contextmanager
def _watching(folder: Path) -> Iterator[_Watcher]:
    """Give a watcher; a stop prints how to resume."""
    from shadow_gnn.cli.shared.live import Live

    live = Live()
    try:
        yield _Watcher(live)
    except Exception:
        raise
    except BaseException:  # Ctrl-C or SIGTERM
        live.stop()
        if folder.exists():
            typer.echo(f"stopped; finished work is saved in {folder}, the same command resumes", err=True)
        raise
    finally:
        live.stop()
