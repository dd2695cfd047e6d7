"""Advise: `shadow advise`, several kinds of models tried on a graph, and a recommended recipe.

Not for: the work itself (studies/advise); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import GraphArgument, JsonOption, PlotOption
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.studies.advise import Advice


def advise_command(
    graph: GraphArgument,
    minutes: Annotated[float, typer.Option(min=0.01, max=10_000, help="Wall time for all candidates.")] = 5.0,
    num_targets: Annotated[int, typer.Option(min=1, max=10_000_000, help="Training targets to sample.")] = 4000,
    layer: Annotated[str, typer.Option(help="Layer of the networks, as in a recipe.")] = "sage",
    num_layers: Annotated[int, typer.Option(min=1, max=100, help="Layers of the networks.")] = 3,
    repeat: Annotated[int, typer.Option(min=1, max=100, help="Number of seeds: trainings of each candidate.")] = 1,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for advice.toml.")] = Path("advice"),
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try several kinds of models on a graph and recommend one, with a recipe.

    Candidates are trained briefly on the same sample of training targets: the target alone, logistic regression on
    smoothed features, a normal GNN, models on scopes of three sizes, the normal GNN's weights on these scopes, and the
    mean of the normal GNN and the best model on scopes. The test targets are never read.

    \b
    95 %        interval over validation targets and seeds
    behind      difference from the best row, paired by target, with its 95 % interval
    train s     CPU seconds of training
    CPU ms      CPU time of one prediction by itself
    nodes       nodes that one prediction reads

    \b
    Examples:
      shadow advise my-graph
      shadow advise debian --minutes 2 --plot advice.png
      shadow advise my-graph --layer gcn --num-layers 5 --repeat 3 --out advice-gcn
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.files import write_file
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.advise import AdviseOptions, advise
    from shadow_gnn.training.run_setup import open_recipe_graph

    options = AdviseOptions(minutes, num_targets, layer, num_layers, repeat)
    opened = open_recipe_graph(graph)
    keep_freed_memory()
    with progress_bar() as progress:
        found = advise(opened, options, progress)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in found.recipes.items():
        write_file(out / name, text.encode())
    if plot is not None:
        from shadow_gnn.studies.advise.plot import plot_advice

        plot_advice(found, plot)
    if as_json:
        print_json(found)
    else:
        _print(found, out)


def _print(found: Advice, out: Path) -> None:
    rows = [
        (
            f"{number}  {row.name}",
            f"{row.score:.4f}",
            f"{row.low:.4f} to {row.high:.4f}",
            "best" if row.behind == row.behind_low == row.behind_high == 0 else f"{row.behind:+.4f}",
            "" if row.behind == row.behind_low == 0 else f"{row.behind_low:+.4f} to {row.behind_high:+.4f}",
            f"{row.cpu_seconds:.1f}",
            f"{row.cpu_ms:.2f}",
            f"{row.num_nodes:,.0f}",
            row.note,
        )
        for number, row in enumerate(found.rows, start=1)
    ]
    heads = ("candidate", found.metric, "95 %", "behind", "95 % of that", "train s", "CPU ms", "nodes", "note")
    targets = f"{found.num_train:,} training and {found.num_valid:,} validation targets"
    print_table(
        heads, rows, text_columns=("note",), title=f"{targets}, {found.seconds:.0f} s, {found.cpu_seconds:.0f} CPU s"
    )
    for note in found.notes:
        typer.echo(note)
    typer.echo(f"recommended: {found.recommended}: {found.reason}")
    typer.echo(f"next: shadow train {out / 'advice.toml'}")
