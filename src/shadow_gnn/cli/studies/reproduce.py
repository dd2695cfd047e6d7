"""Reproduce: `shadow reproduce`, tables and figures of the paper with our values next to the paper's.

Not for: the work itself (studies/paper); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption
from shadow_gnn.cli.shared.output import print_json
from shadow_gnn.cli.shared.screen import Screen, stoppable

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
            help="Folder of graph folders named like the datasets (flickr, ogbn-arxiv, ...), or one of them.",
            show_default="the folder of shadow data get",
        ),
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Runs with different seeds.", show_default="as in the paper; 1 with --fast"),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Small models, few epochs and few targets: a trial run.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Output folder.", show_default="reproduced/NAME")
    ] = None,
    only: Annotated[
        str, typer.Option(metavar="GLOB", help="Run only the jobs whose keys match, for example 'flickr-*'.")
    ] = "*",
    report: Annotated[
        bool, typer.Option("--report", help="Run nothing; write the report from the finished jobs.")
    ] = False,
    as_json: JsonOption = False,
    list_: Annotated[
        bool,
        typer.Option(
            "--list", callback=_show_list, is_eager=True, help="Show the available tables and figures and exit."
        ),
    ] = False,
) -> None:
    """Reproduce a table or figure of the paper, with our values next to the paper's.

    The work is split into jobs. Each result is saved at once (FOLDER/jobs), and training saves checkpoints
    (FOLDER/runs). After Ctrl-C or a kill, the same command resumes. The output is a page (NAME.md), a CSV file for each
    table and a figure (NAME.png). The page names the data and their differences from the paper's.

    \b
    Examples:
      shadow reproduce --list
      shadow reproduce pooling --data my-data --fast
      shadow reproduce table1 --data my-data --only 'flickr-sage-*' --repeat 3
      shadow reproduce table1 --data my-data --report
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.errors import RunError
    from shadow_gnn.cli.shared.job_bars import JobBars
    from shadow_gnn.studies.paper.registry import find_experiment

    experiment = find_experiment(name)  # A wrong name is reported before torch loads.
    keep_freed_memory()
    from shadow_gnn.studies.paper.engine import reproduce
    from shadow_gnn.studies.paper.experiment import ReproduceOptions

    folder = out or Path("reproduced") / name
    options = ReproduceOptions(data=data, repeat=repeat, fast=fast, out=folder)
    screen = Screen(to_stderr=True)
    with stoppable(screen, "finished jobs are saved, the same command resumes"):
        outcome = reproduce(experiment, options, only=only, report=report, watcher=JobBars(screen))
    if as_json:
        counts = {"num_done": outcome.num_done, "num_jobs": outcome.num_jobs, "faults": outcome.faults}
        found = {"title": outcome.finding.title, "tables": outcome.finding.tables, "notes": outcome.finding.notes}
        print_json({**found, **counts, "files": outcome.files})
    else:
        _print_tables(outcome)
    if outcome.faults:
        first = next(iter(outcome.faults.values()))
        raise RunError(f"reproduce: {len(outcome.faults)} jobs failed, see the notes; {first}") from first


def _print_tables(outcome: Outcome) -> None:
    """Print the tables and the names of their files."""
    from shadow_gnn.studies.paper.report import markdown_table

    for table in outcome.finding.tables:
        typer.echo(f"{table.caption}\n\n{markdown_table(table)}\n")
    for note in outcome.finding.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"{outcome.num_done} of {outcome.num_jobs} jobs; {', '.join(str(file) for file in outcome.files)}")
