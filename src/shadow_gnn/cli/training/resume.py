"""Resume: `shadow resume`, continue a stopped run.

Not for: the work itself (training/runs/run.py); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shadow_gnn.cli.shared.options import JsonOption, RunArgument, named_recipe, prepare_training

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks

Checkpoint = Literal["last", "previous", "best"]


def resume_command(
    run: RunArgument,
    from_: Annotated[
        Checkpoint, typer.Option("--from", help="Checkpoint to start from; previous or best if the last is damaged.")
    ] = "last",
    as_json: JsonOption = False,
) -> None:
    """Resume a stopped run, with the same result as without the stop.

    The graph must be unchanged. The result is the same to the last digit with the same number of threads, type of
    processor and versions. In a folder of repeats (--repeat) or of a hybrid, the unfinished runs are resumed.

    \b
    Examples:
      shadow resume runs/recipe-1
      shadow resume runs/recipe-1 --from previous
    """
    from shadow_gnn.cli.shared.ranks import joined_ranks
    from shadow_gnn.training.runs.folder import RECIPE

    with joined_ranks(run) as ranks:
        prepare_training(named_recipe(run / RECIPE) if (run / RECIPE).exists() else None)
        _resume(run, from_, ranks, as_json=as_json)


def _resume(run: Path, source: Checkpoint, ranks: Ranks, *, as_json: bool) -> None:
    from shadow_gnn.cli.shared.live import show_result, shown_run
    from shadow_gnn.cli.training.default import show_hybrid
    from shadow_gnn.inference.hybrid import is_hybrid, resume_hybrid
    from shadow_gnn.training.runs.folder import RESULT, read_json
    from shadow_gnn.training.runs.repeats import is_repeats, resume_repeats
    from shadow_gnn.training.runs.run import RunOptions, resume_run

    with shown_run(run, ranks, to_stderr=as_json) as live:
        options = RunOptions(watcher=live)
        several = is_repeats(run) or is_hybrid(run)
        if several and source != "last":
            part = "scopes" if is_hybrid(run) else "repeat-0"
            raise ValueError(f"resume: --from must be given with one run, such as {run / part}")
        if is_hybrid(run):
            resume_hybrid(run, options)
        elif several:
            resume_repeats(run, options)
        else:
            resume_run(run, source=source, options=options)
    if ranks.is_main and is_hybrid(run):
        show_hybrid(run, read_json(run / RESULT), as_json=as_json)
    elif ranks.is_main:
        show_result(run, read_json(run / RESULT), as_json=as_json)
