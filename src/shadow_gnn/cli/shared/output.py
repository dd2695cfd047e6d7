"""Output: tables and JSON on stdout, alike for every command.

Not for: progress and remarks, which go to stderr (progress.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

_PIPED_WIDTH = 180


def print_json(content: Any) -> None:
    """Print a value as JSON; records (dataclasses) become objects, paths and other values their text."""
    import json
    from dataclasses import asdict, is_dataclass

    def plain(value: Any) -> Any:
        return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)

    typer.echo(json.dumps(content, indent=1, default=plain))


def new_console() -> Any:
    """Return a rich console on stdout; piped somewhere, lines need not fit a screen."""
    from rich.console import Console

    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: Sequence[str] = ()) -> None:
    """Print a table without lines: the first column and text_columns to the left, all others to the right.

    The first column never wraps.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        is_text = place == 0 or head in text_columns
        table.add_column(head, justify="left" if is_text else "right", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    new_console().print(table)
