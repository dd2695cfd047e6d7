"""Reproduce: `shadow reproduce`, a table or figure of the paper made here, with the paper's values beside ours.

Not for: the work itself (reproduce/); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shadow_gnn.studies.paper.engine import Outcome


def _show_list(value: bool) -> None:
    if not value:
        return
    from shadow_gnn.studies.paper.registry import experiments

    every = experiments()
    width = max(len(name) for name in every)
    place = max(len(experiment.paper) for experiment in every.values())
    for name, experiment in every.items():
        typer.echo(f"{name:{width}}  {experiment.paper:{place}}  {experiment.summary}")
    raise typer.Exit


def reproduce_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Table or figure; --list shows them.")],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of graph folders that are named as the data sets (flickr, ogbn-arxiv, ...), or one of those.",
            show_default="where shadow data get puts them",
        ),
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Runs with different seeds.", show_default="as in the paper; 1 with --fast"),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Small models, few epochs, few targets: to see that all works.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where all goes.", show_default="reproduced/NAME")
    ] = None,
    only: Annotated[
        str, typer.Option(metavar="GLOB", help="Do only the jobs whose keys match, such as 'flickr-*'.")
    ] = "*",
    report: Annotated[
        bool, typer.Option("--report", help="Do nothing; write the finding from what is done so far.")
    ] = False,
    list_: Annotated[
        bool,
        typer.Option("--list", callback=_show_list, is_eager=True, help="Show what can be reproduced and exit."),
    ] = False,
) -> None:
    """Make a table or figure of the paper, with the paper's values beside ours.

    The work is cut into jobs; the result of each is kept as soon as it is there (FOLDER/jobs), and models that are
    trained keep checkpoints (FOLDER/runs). Stopped by Ctrl-C or otherwise, the same command goes on where it was. At
    the end there are a page (NAME.md), a CSV file for each table and a figure (NAME.png). The page says with which data
    it was made and how they differ from the paper's.

    \b
    Examples:
      shadow reproduce --list
      shadow reproduce pooling --data my-data --fast
      shadow reproduce table1 --data my-data --only 'flickr-sage-*' --repeat 3
      shadow reproduce table1 --data my-data --report
    """
    from shadow_gnn.cli.shared.progress import job_bars
    from shadow_gnn.studies.paper.registry import find_experiment

    experiment = find_experiment(name)
    _prepare()
    from shadow_gnn.studies.paper.engine import reproduce
    from shadow_gnn.studies.paper.experiment import Options

    folder = out or Path("reproduced") / name
    options = Options(data=data, repeat=repeat, fast=fast, out=folder)
    try:
        with job_bars() as watcher:
            outcome = reproduce(experiment, options, only=only, report=report, watcher=watcher)
    except Exception:
        raise
    except BaseException:  # Ctrl-C or SIGTERM
        typer.echo("stopped; what is done is kept, go on with the same command", err=True)
        raise
    _show(outcome)


def _prepare() -> None:
    """Set up the process as training does."""
    from shadow_gnn.base.allocator import keep_freed_memory

    keep_freed_memory()


def _show(outcome: Outcome) -> None:
    """Print the tables and where they are; jobs that could not be done end the command with a fault."""
    from shadow_gnn.base.errors import RunError
    from shadow_gnn.studies.paper.report import markdown_table

    for table in outcome.finding.tables:
        typer.echo(f"{table.caption}\n\n{markdown_table(table)}\n")
    for note in outcome.finding.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"{outcome.num_done} of {outcome.num_jobs} jobs; {', '.join(str(file) for file in outcome.files)}")
    if outcome.faults:
        first = next(iter(outcome.faults.values()))
        raise RunError(f"reproduce: {len(outcome.faults)} jobs could not be done, see the notes; {first}") from first
