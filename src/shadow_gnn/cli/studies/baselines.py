"""Baselines: `shadow baselines`, the scores that a graph neural network has to beat on a graph.

Not for: the baselines themselves (studies/baselines, tasks/links); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.shared.options import GraphArgument, JsonOption, RepeatOption, named_recipe
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from shadow_gnn.studies.baselines import BaselineResult
    from shadow_gnn.tasks.links.baselines import LinkBaseline

_NAMES = "raw,smoothed,sgc,sign,lp"


def baselines_command(
    graph: GraphArgument,
    only: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Baselines to run, comma-separated.", show_default="all")
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(metavar="RECIPE", help="Link prediction baselines instead; this recipe splits the links."),
    ] = None,
    repeat: RepeatOption = 1,
    powers: Annotated[
        str | None,
        typer.Option(
            "--sign-powers",
            metavar="P,S,T",
            help="Powers of SIGN for the adjacency, PPR and triangles.",
            show_default="chosen on validation",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train and score models without learned message passing.

    \b
    raw       logistic regression on the features as they are
    smoothed  logistic regression on Â^k X, with the best k on validation
    sgc       logistic regression on Â^2 X: simple graph convolution
    sign      a network on features propagated once by the adjacency, PPR and triangles
    lp        label propagation, which needs no features

    Every choice (weight decay, hops, powers, dropout, teleport) is made on the validation targets. A graph neural
    network that does not beat these has learned nothing from the graph beyond propagation.

    With --links: common-neighbors, adamic-adar, resource-allocation, ppr, katz, and encoder (a GraphSAGE on the whole
    graph with a dot product). Splits, negatives and metrics are those of `shadow train` with the same recipe and seed;
    --repeat splits and trains with several seeds.

    \b
    Examples:
      shadow baselines my-graph
      shadow baselines debian --only raw,lp
      shadow baselines my-graph --only sign --repeat 5 --json
      shadow baselines my-graph --only sign --sign-powers 3,3,3
      shadow baselines my-graph --links links.toml --repeat 5
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.baselines import make_problem, run_baselines, what_runs
    from shadow_gnn.training.run_setup import open_recipe_graph

    if links is not None:
        if powers is not None:
            raise ValueError("baselines: --sign-powers must be used without --links, which has no sign")
        _run_links(graph, links, only, repeat, as_json)
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
    _show(graph, found, skipped, as_json)


def _run_links(graph: str, path: Path, only: str | None, repeat: int, as_json: bool) -> None:
    """Run the link baselines with consecutive seeds, starting with the recipe's, and show their means."""
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.tasks.links.baselines import LINK_BASELINES, run_link_baselines
    from shadow_gnn.tasks.links.encoder import EncoderOptions
    from shadow_gnn.training.link_setup import link_monitor, link_problem
    from shadow_gnn.training.run_setup import open_recipe_graph

    recipe = named_recipe(path, graph=graph)
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
    if as_json:
        print_json({"graph": graph, "results": [result for several in found.values() for result in several]})
    else:
        _print_links(found)


def _print_links(found: dict[str, list[LinkBaseline]]) -> None:
    split = "valid" if next(iter(found.values()))[0].test is None else "test"
    metrics = list(next(iter(found.values()))[0].valid)
    rows = []
    for name, results in found.items():
        scores = [_spread([getattr(result, split)[metric] for result in results]) for metric in metrics]
        rows.append((name, *scores, f"{sum(result.seconds for result in results):.1f}"))
    print_table(("baseline", *(f"{split} {metric}" for metric in metrics), "seconds"), rows)


def _powers(text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdecimal() and int(part) <= 100 for part in parts):
        raise ValueError(
            f"baselines: --sign-powers must be three numbers from 0 to 100, for example 3,3,3, got {text!r}"
        )
    return int(parts[0]), int(parts[1]), int(parts[2])


def _show(graph: str, found: list[list[BaselineResult]], skipped: list[str], as_json: bool) -> None:
    if as_json:
        every = [result for results in found for result in results]
        print_json({"graph": graph, "skipped": skipped, "results": every})
        return
    _print_table(found)
    if skipped:
        typer.echo(f"skipped: {', '.join(skipped)}: the graph has no features")


def _print_table(found: list[list[BaselineResult]]) -> None:
    from shadow_gnn.base.memory_available import readable

    metric = found[0][0].metric.replace("_", "-")
    rows = []
    for results in found:
        first = results[0]
        tests = [result.test for result in results if result.test is not None]
        scores = _spread([result.valid for result in results]), _spread(tests)
        seconds = f"{sum(result.seconds for result in results):.1f}"
        rows.append((first.name, *scores, seconds, readable(first.memory), _chosen(first.settings)))
    heads = ("baseline", f"valid {metric}", f"test {metric}", "seconds", "memory", "chosen")
    print_table(heads, rows, text_columns=("chosen",))


def _spread(values: list[float]) -> str:
    """Write the mean and, for several values, the sample standard deviation."""
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
