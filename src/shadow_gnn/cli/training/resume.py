"""Resume: `shadow resume`, go on with a run that was stopped.

Not for: the work itself (training/runs/run.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.output import JsonOption

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks


class From(StrEnum):
    """Which checkpoint to go on from."""

    last = "last"
    previous = "previous"
    best = "best"


def resume_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    from_: Annotated[
        From, typer.Option("--from", help="Checkpoint to go on from; another than the last if that one is damaged.")
    ] = From.last,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped, and end with the same result as if it had not been.

    The graph must be as it was. The result is the same to the last digit with the same number of threads, type of
    processor and versions. Repeats (--repeat) go on with those that are not finished.

    \b
    Examples:
      shadow resume runs/recipe-1
      shadow resume runs/recipe-1 --from previous
    """
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.base.bf16 import use_working_kernels
    from shadow_gnn.cli.shared.ranks import joined_ranks
    from shadow_gnn.recipe.file import read_recipe
    from shadow_gnn.training.runs.folder import RECIPE

    with joined_ranks(run) as ranks:
        keep_freed_memory()
        if (run / RECIPE).exists() and read_recipe(run / RECIPE).training.precision == "bf16":
            use_working_kernels()
        _resume(run, from_, ranks, as_json=as_json)


def _resume(run: Path, from_: From, ranks: Ranks, *, as_json: bool) -> None:
    from shadow_gnn.cli.shared.live import show_result
    from shadow_gnn.cli.shared.ranks import shown_run
    from shadow_gnn.training.runs.folder import RESULT, read_json
    from shadow_gnn.training.runs.repeats import is_repeats, resume_repeats
    from shadow_gnn.training.runs.run import RunOptions, resume_run

    with shown_run(run, ranks, to_stderr=as_json) as live:
        options = RunOptions(watcher=live)
        if not is_repeats(run):
            resume_run(run, source=from_.value, options=options)
        elif from_ is From.last:
            resume_repeats(run, options)
        else:
            raise ValueError(f"resume: --from must be given with one repeat, such as {run / 'repeat-0'}")
    if ranks.is_main:
        show_result(run, read_json(run / RESULT), as_json=as_json)
