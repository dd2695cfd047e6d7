"""Scope curve: `shadow scope-curve`, a trained model on scopes of several sizes and kinds.

Not for: the work itself (studies/scope_curve); heavy libraries load when the command runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption, PlotOption, RunArgument, RunGraphOption
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.studies.scope_curve import ScopeCurve


def scope_curve_command(
    run: RunArgument,
    extractors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS",
            help="Kinds, comma-separated, or one TOML table: '{kind = \"ppr\", teleport = 0.1}'; can be repeated.",
            show_default="ppr, ppr with teleport 0.5, heat",
        ),
    ] = None,
    sizes: Annotated[str, typer.Option(help="Most nodes of a scope, comma-separated.")] = "50,100,200,400",
    split: Annotated[str, typer.Option(help="Split of the targets.")] = "valid",
    num_targets: Annotated[int, typer.Option(min=1, max=10_000_000, help="Targets sampled from the split.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the sample.")] = 0,
    graph: RunGraphOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show score and cost of a trained model on scopes of several sizes and kinds, without training.

    The weights of the run stay unchanged. For a normal GNN the first line is exact inference on the whole graph: the
    other lines show which scopes are large enough to replace it. For a shaDow model it is the scopes of training.

    \b
    nodes      nodes of a scope, on average
    agreement  share of the targets with the same predicted label as on the first line
    ±          standard error of the difference in accuracy from the first line, paired by target
    CPU ms     time of one target, in batches: extraction, features and model

    \b
    Examples:
      shadow scope-curve runs/normal-1
      shadow scope-curve runs/normal-1 --extractors ppr,katz --sizes 25,50,100 --plot curve.png
      shadow scope-curve runs/recipe-1 --extractors '{kind = "ppr", teleport = 0.1}' --split test --json
    """
    import numpy as np

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.studies.scope_curve import DEFAULT_EXTRACTORS, curve_extractors, scope_curve
    from shadow_gnn.tasks.task import split_targets

    chosen = curve_extractors(extractors or DEFAULT_EXTRACTORS, _read_sizes(sizes))
    predictor = open_run_predictor(run, graph)
    nodes = split_targets(predictor.graph, split)
    if num_targets < len(nodes):
        nodes = np.sort(np.random.default_rng(seed).choice(nodes, num_targets, replace=False))
    with progress_bar() as progress:
        found = scope_curve(predictor.trained, predictor.graph, chosen, nodes, progress=progress)
    if plot is not None:
        from shadow_gnn.studies.scope_curve.plot import plot_curve

        plot_curve(found, f"Run {run.resolve().name}, {split} targets", plot)
    if as_json:
        print_json(found)
    else:
        _print(found, split)


def _read_sizes(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= 100_000 for part in parts):
        raise ValueError(f"scope-curve: --sizes must be numbers from 1 to 100,000, got {text!r}")
    return [int(part) for part in parts]


def _print(found: ScopeCurve, split: str) -> None:
    rows = [
        (
            point.name,
            f"{point.num_nodes:,.1f}",
            f"{point.score:.4f}",
            f"{point.deviation:.4f}",
            f"{point.agreement:.4f}",
            f"{point.cpu_ms:.2f}",
        )
        for point in (found.exact, *found.points)
    ]
    heads = ("scopes", "nodes", found.metric, "±", "agreement", "CPU ms")
    print_table(heads, rows, title=f"{split}, {found.num_targets:,} targets")
