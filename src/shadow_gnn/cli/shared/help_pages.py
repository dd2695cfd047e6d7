"""Help pages: `--help` in plain text, with commands and options under headings.

Not for: the words themselves, which are at each command. Typer draws headings with rich, which takes longer to load
than the page to print, and adds frames that disturb pipes and screen readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from shadow_gnn.cli.shared.voice import common_first

_LONGEST_SUMMARY = 240
_WIDEST_NAME = 30
_DEFAULT = re.compile(r"\[default: \((.*?)\)([;\]])")
"""A default in words, which Typer puts into parentheses."""


def new_app(text: str, *, epilog: str | None = None, completion: bool = False) -> typer.Typer:
    """Return an app with headings on its pages, and -h for help."""
    return typer.Typer(
        cls=_Root if completion else _Group,
        help=text,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


class Command(TyperCommand):
    """A command with its options under headings (rich_help_panel)."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        _write_parameters(self.get_params(ctx), ctx, formatter)


def add_command(
    app: typer.Typer, name: str, command: Any, heading: str | None = None, cls: type[Command] = Command
) -> None:
    """Add a command to an app, under a heading of its page; cls: for a command with a longer help page."""
    app.command(name, cls=cls, rich_help_panel=heading)(command)


class _Group(TyperGroup):
    """A group with its commands under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_parameters(self.get_params(ctx), ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        _write_sections(_command_rows(self), formatter)


class _Root(_Group):
    """The group of all commands, whose options may stand anywhere on the line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, common_first(args))


def _write_parameters(parameters: Iterable[Any], context: Any, formatter: Any) -> None:
    """Write arguments first, then options under headings, then other options."""
    rows = []
    for parameter in parameters:
        if (record := parameter.get_help_record(context)) is not None:
            default = "Arguments" if parameter.param_type_name == "argument" else "Options"
            text = _DEFAULT.sub(r"[default: \1\2", record[1])
            rows.append((getattr(parameter, "rich_help_panel", None) or default, (record[0], text)))
    rank = {"Arguments": 0, "Options": 2}
    _write_sections(sorted(rows, key=lambda row: rank.get(row[0], 1)), formatter)


def _command_rows(group: _Group) -> list[tuple[str, tuple[str, str]]]:
    """Return (heading, (name, summary)) of every command, those of inner groups first."""
    inner, own = [], []
    for name, command in group.commands.items():
        heading = getattr(command, "rich_help_panel", None) or "Commands"
        if isinstance(command, _Group):
            inner += [(heading, (f"{name} {row[0]}", row[1])) for _, row in _command_rows(command)]
        elif not command.hidden:
            own.append((heading, (name, command.get_short_help_str(_LONGEST_SUMMARY))))
    return inner + own


def _write_sections(rows: Sequence[tuple[str, tuple[str, str]]], formatter: Any) -> None:
    """Write rows under their headings; the second columns of all sections are aligned."""
    width = min(max((len(name) for _, (name, _) in rows), default=0), _WIDEST_NAME)
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, (name, text) in rows:
        sections.setdefault(heading, []).append((name.ljust(width), text))
    for heading, lines in sections.items():
        with formatter.section(heading):
            formatter.write_dl(lines, col_max=_WIDEST_NAME)
