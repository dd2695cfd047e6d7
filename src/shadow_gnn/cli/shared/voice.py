"""Voice: how much a command says besides its result (--quiet), and in which form (--log).

Not for: results (output.py), or faults (main.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import typer

LogForm = Literal["text", "json"]


@dataclass(frozen=True)
class Voice:
    """The choice of a command line."""

    quiet: bool = False
    """Say nothing but the result, warnings and faults."""
    log: LogForm = "text"
    """Form of progress: lines of text, or one JSON object a line."""


_LOUD = Voice()
_voice: ContextVar[Voice] = ContextVar("voice", default=_LOUD)


def set_voice(voice: Voice) -> None:
    """Set the voice of this command."""
    _voice.set(voice)


def voice() -> Voice:
    """Return the voice of this command."""
    return _voice.get()


def say(text: str, event: str = "note", *, to_stderr: bool = True, **fields: Any) -> None:
    """Print a line of progress; in JSON, an object with the event and its fields, or the text if there are none."""
    if voice().quiet:
        return
    if voice().log == "json":
        text = json.dumps({"event": event, **(fields or {"text": text})})
    typer.echo(text, err=to_stderr)


def common_first(arguments: Sequence[str]) -> list[str]:
    """Move --quiet and --log to the front, since people add them at the end; after -- nothing is moved."""
    common, rest = list[str](), list(arguments)
    end = rest.index("--") if "--" in rest else len(rest)
    at = 0
    while at < end:
        width = 2 if rest[at] == "--log" else 1 if rest[at] == "--quiet" or rest[at].startswith("--log=") else 0
        if not width:
            at += 1
            continue
        common += rest[at : at + width]
        del rest[at : at + width]
        end -= width
    return [*common, *rest]
