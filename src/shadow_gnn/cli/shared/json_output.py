"""JSON output: what `--json` prints, and nothing else on stdout.

Not for: files of JSON (base/files.py).
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON instead of a table.")]
"""The option of every command that prints a table."""


def print_json(content: Any) -> None:
    """Print plain lists and tables as JSON; numbers that JSON does not have, such as nan, become null."""
    typer.echo(json.dumps(_plain(content), indent=1))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
