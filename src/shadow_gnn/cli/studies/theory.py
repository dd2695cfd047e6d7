"""Theory: `shadow theory`, the paper's statements checked by computation, in one table.

Not for: the checks themselves (studies/theory); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption
from shadow_gnn.cli.shared.output import new_console, print_json

if TYPE_CHECKING:
    from shadow_gnn.studies.theory import Outcome


def theory_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Statements to check.", show_default="all")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write theory.md and a PNG for each curve.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check the paper's theorems on small graphs in float64, with this package's own layers.

    \b
    infinite-propagation   the limit of infinite propagation: closed form against powers
    distinct-aggregations  number of aggregations that stay distinct, and the collapse of a normal GCN
    tau                    a function that shaDow-SAGE can approximate, but GraphSAGE cannot
    identity-layers        a deeper model can compute the same as a shallower one
    regular-graphs         nodes that shaDow-GIN distinguishes, but 1-WL and GIN do not
    pprgo                  PPRGo as a special case of the ensemble
    long-range             a synthetic task on which shallow scopes lose (trains small models)

    The exit code is 1 if a statement does not hold.

    \b
    Examples:
      shadow theory
      shadow theory tau regular-graphs --out theory
    """
    import torch

    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.theory import run_statements
    from shadow_gnn.studies.theory.report import write_report

    # On graphs this small a second thread only waits, at the cost of a core.
    torch.set_num_threads(1)
    with progress_bar() as progress:
        outcomes = list(run_statements(names or (), progress=progress))
    written = None if out is None else write_report(outcomes, out)
    if as_json:
        print_json(outcomes)
    else:
        _print_table(outcomes)
        if written is not None:
            typer.echo(f"written: {written}")
    if not all(outcome.holds for outcome in outcomes):
        raise typer.Exit(1)


def _print_table(outcomes: list[Outcome]) -> None:
    from rich.table import Table

    from shadow_gnn.studies.theory.report import bound, measured, verdict

    table = Table(box=None, pad_edge=False)
    table.add_column("statement", overflow="fold")
    for name in ("measured", "bound", "holds"):
        table.add_column(name, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(f"{outcome.name} ({outcome.paper})", "", "", "yes" if outcome.holds else "NO", style="bold")
        for check in outcome.checks:
            table.add_row(f"  {check.statement}", measured(check), bound(check), verdict(check))
    new_console().print(table)
