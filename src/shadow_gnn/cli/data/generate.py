"""Generate: `shadow data generate`, a synthetic graph of any size.

Not for: the work itself (graph/generators); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shadow_gnn.cli.shared.options import JsonOption, OverwriteOption, ThreadsOption
from shadow_gnn.cli.shared.output import print_json
from shadow_gnn.cli.shared.sizes import count, memory_bytes, shares
from shadow_gnn.cli.shared.voice import say

if TYPE_CHECKING:
    from shadow_gnn.graph.generators.plan import GraphPlan


def generate_command(
    model: Annotated[
        Literal["dcsbm", "rmat"],
        typer.Argument(help="dcsbm: communities and power-law degrees; rmat: recursive quadrants."),
    ],
    nodes: Annotated[str, typer.Option(help="Number of nodes, for example 1e6.")],
    degree: Annotated[float, typer.Option(min=0, help="Mean number of neighbors.")] = 29.0,
    features: Annotated[int, typer.Option(min=0, help="Feature columns; 0 for none.")] = 128,
    classes: Annotated[int, typer.Option(min=1, help="Classes of the labels.")] = 16,
    feature_dtype: Annotated[Literal["float16", "float32"], typer.Option(help="Storage of features.")] = "float16",
    homophily: Annotated[
        float | None, typer.Option(help="dcsbm: share of edges inside a community.", show_default="0.8")
    ] = None,
    split: Annotated[str, typer.Option(help="Percentages of train, valid and test nodes.")] = "60/20/20",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Graph folder to create.", show_default="MODEL-NODES")] = None,
    memory: Annotated[str, typer.Option(help="Memory for building, for example 2GB.")] = "1GB",
    threads: ThreadsOption = 0,
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Generate a synthetic graph of any size: communities, power-law degrees, matching features and labels.

    The graph is written straight to disk in bounded memory; the disk space it needs is printed first. The same options
    and seed give the same bytes for any memory and number of threads. After a kill, the same command resumes.

    \b
    Examples:
      shadow data generate dcsbm --nodes 1e6 --degree 29 --features 128 --classes 16 --out million
      shadow data generate rmat --nodes 1e5 --degree 10 --features 0 --memory 200MB
    """
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.extract.core_calls import resolve_threads
    from shadow_gnn.graph.generators.folder import generate_graph
    from shadow_gnn.graph.generators.plan import GraphPlan

    if model == "rmat" and homophily is not None:
        raise ValueError("generate: --homophily must be used with dcsbm, got rmat")
    plan = GraphPlan(
        model,
        count(nodes, "generate: --nodes"),
        degree,
        num_columns=features,
        num_classes=classes,
        dtype=feature_dtype,
        inside=0.8 if homophily is None else homophily,
        shares=shares(split, "generate: --split"),
        seed=seed,
    )
    folder = out or Path(f"{model}-{plan.num_nodes}")
    budget = memory_bytes(memory, "generate: --memory")
    _print_need(plan, folder, to_stderr=as_json)
    with progress_bar() as progress:
        summary = generate_graph(
            plan,
            folder,
            memory_bytes=budget,
            num_threads=resolve_threads(threads),
            overwrite=overwrite,
            progress=progress,
        )
    if as_json:
        print_json({"folder": folder, "summary": summary})
        return
    typer.echo(
        f"{folder}: {summary.num_nodes:,} nodes, {summary.num_edges:,} undirected edges, "
        f"mean degree {2 * summary.num_edges / summary.num_nodes:.2f}"
    )
    removed = summary.duplicates + summary.both_directions
    typer.echo(
        f"drew {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and {removed:,} duplicates"
    )


def _print_need(plan: GraphPlan, folder: Path, *, to_stderr: bool) -> None:
    """Print the disk space needed, before anything is written."""
    from shadow_gnn.base.memory_available import readable
    from shadow_gnn.base.work_folder import work_folder_of
    from shadow_gnn.graph.generators.plan import disk_need

    need = disk_need(plan)
    say(
        f"{folder} takes {readable(need.total)} on disk (neighbor lists {readable(need.topology)}, "
        f"features {readable(need.features)}, labels and splits {readable(need.others)}), "
        f"at most {readable(need.largest)} at a time",
        to_stderr=to_stderr,
    )
    if work_folder_of(folder).exists():
        say(f"{work_folder_of(folder)} exists: it is resumed if it belongs to the same graph", to_stderr=to_stderr)
