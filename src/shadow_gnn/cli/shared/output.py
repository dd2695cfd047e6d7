"""Output: tables and JSON on stdout, in the same form for every command.

Not for: progress and notes, which go to stderr (screen.py).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import typer

_PIPED_WIDTH = 180


def print_json(content: Any) -> None:
    """Print a value as JSON and nothing else: records become objects, nan becomes null, other values text."""
    import json

    typer.echo(json.dumps(plain(content), indent=1))


def plain(value: Any) -> Any:
    """Return a value in the types of JSON."""
    from collections.abc import Mapping
    from dataclasses import fields, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Integral):  # NumPy's integers are not int.
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    return str(value)


def new_console() -> Any:
    """Return a rich console on stdout; when piped, lines need not fit a screen."""
    from rich.console import Console

    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)


def print_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: Sequence[str] = (), title: str | None = None
) -> None:
    """Print a table without lines: the first column and text_columns left-aligned, all others right-aligned.

    The first column never wraps.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for place, head in enumerate(heads):
        is_text = place == 0 or head in text_columns
        table.add_column(head, justify="left" if is_text else "right", no_wrap=place == 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    new_console().print(table)


def number(value: float | None, digits: int = 4) -> str:
    """Write a number with fixed digits, or a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"
