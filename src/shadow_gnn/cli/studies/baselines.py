"""Baselines: `shadow baselines`, what a graph neural network has to beat on a graph, in one table.

Not for: the baselines themselves (baselines/); heavy libraries load when the command runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shadow_gnn.studies.baselines import BaselineResult
    from shadow_gnn.tasks.links.baselines import LinkBaseline

_PIPED_WIDTH = 160
_NAMES = "raw,smoothed,sgc,sign,lp"


def baselines_command(
    graph: Annotated[str, typer.Argument(metavar="FOLDER", help="Graph folder, or the name of a built-in graph.")],
    only: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Baselines to run, with commas.", show_default="all")
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(metavar="RECIPE", help="Baselines of link prediction; the links are split as this recipe says."),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, max=1000, help="Seeds of what is drawn; gives mean and deviation.")] = 1,
    powers: Annotated[
        str | None,
        typer.Option(
            "--sign-powers",
            metavar="P,S,T",
            help="Powers of SIGN: of the adjacency, of PPR and of the triangles.",
            show_default="chosen on validation",
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the numbers as JSON; - for JSON alone.")
    ] = None,
) -> None:
    """Run models without learned message passing, and show how good they are.

    \b
    raw       logistic regression on the features as they are
    smoothed  logistic regression on Â^k X, with the k that is best on validation
    sgc       logistic regression on Â^2 X: simple graph convolution
    sign      a network on features propagated once by the adjacency, PPR and triangles
    lp        label propagation, which needs no features

    Every choice (weight decay, hops, powers, dropout, teleport) is made on the validation targets. A graph neural
    network that is not better than these has learned nothing from the graph that propagation does not give.

    With --links, of links: common-neighbors, adamic-adar, resource-allocation, ppr, katz, and encoder, a GraphSAGE on
    the whole graph with a dot product. Splits, negatives and metrics are those of `shadow train` with the recipe and
    the seed; --repeat splits and trains with several seeds.

    \b
    Examples:
      shadow baselines my-graph
      shadow baselines debian --only raw,lp
      shadow baselines my-graph --only sign --repeat 5 --json baselines.json
      shadow baselines my-graph --only sign --sign-powers 3,3,3
      shadow baselines my-graph --links links.toml --repeat 5
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.baselines import make_problem, run_baselines, what_runs
    from shadow_gnn.training.run_setup import open_recipe_graph

    if links is not None:
        if powers is not None:
            raise ValueError("baselines: --sign-powers must be left out with --links, which has no sign")
        _run_links(graph, links, only, repeat, json_file)
        return
    only = only or _NAMES
    chosen = _powers(powers)
    problem = make_problem(open_recipe_graph(graph))
    names, skipped = what_runs(problem, [name.strip() for name in only.split(",")])
    if chosen is not None and "sign" not in names:
        raise ValueError(f"baselines: --sign-powers must be used with sign, got --only {only}")
    if not names:
        raise ValueError(f"baselines: graph must have features for {', '.join(skipped)}, it has none; lp needs none")
    keep_freed_memory()
    with progress_bar() as progress:
        found = list(run_baselines(problem, names, repeat=repeat, powers=chosen, progress=progress))
    _show(graph, found, skipped, json_file)


def _run_links(graph: str, path: Path, only: str | None, repeat: int, json_file: Path | None) -> None:
    """Run the baselines of links with the seeds from the recipe's on, and show means over them."""
    import json
    from dataclasses import asdict

    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.files import write_file
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.recipe.file import read_recipe
    from shadow_gnn.recipe.keys import toml_value
    from shadow_gnn.recipe.named import find_recipe
    from shadow_gnn.tasks.links.baselines import LINK_BASELINES, run_link_baselines
    from shadow_gnn.tasks.links.encoder import EncoderOptions
    from shadow_gnn.training.link_setup import link_monitor, link_problem
    from shadow_gnn.training.run_setup import open_recipe_graph

    recipe = read_recipe(find_recipe(path), [f"graph={toml_value(graph)}"])
    opened = open_recipe_graph(graph)
    names = [name.strip() for name in only.split(",")] if only else list(LINK_BASELINES)
    seeds = range(recipe.seed, recipe.seed + repeat)
    problems = (link_problem(recipe.model_copy(update={"seed": seed}), opened) for seed in seeds)
    options = EncoderOptions(monitor=link_monitor(recipe))
    found: dict[str, list[LinkBaseline]] = {}
    keep_freed_memory()
    with progress_bar() as progress:
        for result in run_link_baselines(problems, names, options=options, progress=progress):
            found.setdefault(result.name, []).append(result)
    results = [asdict(result) for several in found.values() for result in several]
    text = json.dumps({"graph": graph, "results": results}, indent=1)
    if json_file is not None and str(json_file) != "-":
        write_file(json_file, text.encode() + b"\n")
    if str(json_file) == "-":
        typer.echo(text)
    else:
        _print_links(found)


def _print_links(found: dict[str, list[LinkBaseline]]) -> None:
    from rich.console import Console
    from rich.table import Table

    split = "valid" if next(iter(found.values()))[0].test is None else "test"
    table = Table(box=None, pad_edge=False)
    table.add_column("baseline", no_wrap=True)
    metrics = list(next(iter(found.values()))[0].valid)
    for name in (*(f"{split} {metric}" for metric in metrics), "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, results in found.items():
        scores = [_spread([getattr(result, split)[metric] for result in results]) for metric in metrics]
        table.add_row(name, *scores, f"{sum(result.seconds for result in results):.1f}")
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH).print(table)


def _powers(text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdecimal() and int(part) <= 100 for part in parts):
        raise ValueError(f"baselines: --sign-powers must be three numbers from 0 to 100 such as 3,3,3, got {text!r}")
    return int(parts[0]), int(parts[1]), int(parts[2])


def _show(graph: str, found: list[list[BaselineResult]], skipped: list[str], json_file: Path | None) -> None:
    import json
    from dataclasses import asdict

    from shadow_gnn.base.files import write_file

    results = [asdict(result) for results in found for result in results]
    text = json.dumps({"graph": graph, "skipped": skipped, "results": results}, indent=1)
    if json_file is not None and str(json_file) != "-":
        write_file(json_file, text.encode() + b"\n")
    if str(json_file) == "-":
        typer.echo(text)
        return
    _print_table(found)
    if skipped:
        typer.echo(f"skipped: {', '.join(skipped)}: the graph has no features")


def _print_table(found: list[list[BaselineResult]]) -> None:
    from rich.console import Console
    from rich.table import Table

    from shadow_gnn.base.memory_available import readable

    metric = found[0][0].metric.replace("_", "-")
    table = Table(box=None, pad_edge=False)
    table.add_column("baseline", no_wrap=True)
    for name in (f"valid {metric}", f"test {metric}", "seconds", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("chosen", overflow="fold")
    for results in found:
        first = results[0]
        tests = [result.test for result in results if result.test is not None]
        scores = _spread([result.valid for result in results]), _spread(tests)
        seconds = f"{sum(result.seconds for result in results):.1f}"
        table.add_row(first.name, *scores, seconds, readable(first.memory), _chosen(first.settings))
    # Piped somewhere, lines need not fit a screen.
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH).print(table)


def _spread(values: list[float]) -> str:
    """Write the mean and, of several values, the sample deviation."""
    from statistics import mean, stdev

    if not values:
        return ""
    return f"{mean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")


def _chosen(settings: Any) -> str:
    words = []
    for name, value in settings.items():
        shown = ",".join(map(str, value)) if isinstance(value, list) else f"{value:g}"
        words.append(f"{name} {shown}")
    return ", ".join(words)
