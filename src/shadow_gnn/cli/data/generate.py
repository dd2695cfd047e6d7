"""Generate: `shadow data generate`, a synthetic graph of any size.

Not for: the work itself (graph/generators); heavy libraries load when the command runs.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.sizes import count, memory_bytes, shares

if TYPE_CHECKING:
    from shadow_gnn.graph.generators.plan import GraphPlan


class Model(StrEnum):
    """Random-graph models."""

    dcsbm = "dcsbm"
    rmat = "rmat"


class StoredAs(StrEnum):
    """Storage of features."""

    float16 = "float16"
    float32 = "float32"


def generate_command(
    model: Annotated[
        Model, typer.Argument(help="dcsbm: communities and power-law degrees; rmat: recursive quadrants.")
    ],
    nodes: Annotated[str, typer.Option(help="Number of nodes, for example 1e6.")],
    degree: Annotated[float, typer.Option(min=0, help="Mean number of neighbors.")] = 29.0,
    features: Annotated[int, typer.Option(min=0, help="Feature columns; 0 for none.")] = 128,
    classes: Annotated[int, typer.Option(min=1, help="Classes of the labels.")] = 16,
    dtype: Annotated[StoredAs, typer.Option(help="Storage of features.")] = StoredAs.float16,
    homophily: Annotated[
        float | None, typer.Option(help="dcsbm: share of edges inside a community.", show_default="0.8")
    ] = None,
    split: Annotated[str, typer.Option(help="Percentages of train, valid and test nodes.")] = "60/20/20",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Graph folder to create.", show_default="MODEL-NODES")] = None,
    memory: Annotated[str, typer.Option(help="Memory for building, for example 2GB.")] = "1GB",
    threads: Annotated[int, typer.Option(min=0, help="Threads to use.", show_default="0, every core")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing graph folder.")] = False,
) -> None:
    """Generate a synthetic graph of any size: communities, power-law degrees, matching features and labels.

    It is written straight to disk in bounded memory; the disk space it needs is printed first. The same options and
    seed give the same bytes for any memory and number of threads. Giving the command again resumes one that was killed.

    \b
    Examples:
      shadow data generate dcsbm --nodes 1e6 --degree 29 --features 128 --classes 16 --out million
      shadow data generate rmat --nodes 1e5 --degree 10 --features 0 --memory 200MB
    """
    from shadow_gnn.base.progress_bar import progress_bar
    from shadow_gnn.extract.core_calls import resolve_threads
    from shadow_gnn.graph.generators.folder import generate_graph
    from shadow_gnn.graph.generators.plan import GraphPlan

    if model is Model.rmat and homophily is not None:
        raise ValueError("generate: --homophily must be used with dcsbm, got rmat")
    plan = GraphPlan(
        model.value,
        count(nodes, "generate: --nodes"),
        degree,
        num_columns=features,
        num_classes=classes,
        dtype=dtype.value,
        inside=0.8 if homophily is None else homophily,
        shares=shares(split, "generate: --split"),
        seed=seed,
    )
    folder = out or Path(f"{model.value}-{plan.num_nodes}")
    budget = memory_bytes(memory, "generate: --memory")
    _print_need(plan, folder)
    with progress_bar() as progress:
        summary = generate_graph(
            plan,
            folder,
            memory_bytes=budget,
            num_threads=resolve_threads(threads),
            overwrite=overwrite,
            progress=progress,
        )
    typer.echo(
        f"{folder}: {summary.num_nodes:,} nodes, {summary.num_edges // 2:,} undirected edges, "
        f"mean degree {summary.num_edges / summary.num_nodes:.2f}"
    )
    removed = summary.duplicates + summary.both_directions
    typer.echo(
        f"drew {summary.edges_read:,} edges, removed {summary.self_loops:,} self-loops and {removed:,} duplicates"
    )


def _print_need(plan: GraphPlan, folder: Path) -> None:
    """Print the disk space needed, before anything is written."""
    from shadow_gnn.base.memory_available import readable
    from shadow_gnn.base.work_folder import work_folder_of
    from shadow_gnn.graph.generators.plan import disk_need

    need = disk_need(plan)
    typer.echo(
        f"{folder} takes {readable(need.total)} on disk (neighbor lists {readable(need.topology)}, "
        f"features {readable(need.features)}, labels and splits {readable(need.others)}), "
        f"at most {readable(need.largest)} at a time"
    )
    if work_folder_of(folder).exists():
        typer.echo(f"{work_folder_of(folder)} exists: resuming it if it is of the same graph")
