"""Report: outcomes as a Markdown page with its pictures.

Not for: tables on a terminal (cli/studies/theory.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shadow_gnn.base.files import write_file
from shadow_gnn.studies.theory.outcome import Check, Outcome
from shadow_gnn.studies.theory.plots import draw

PAGE = "theory.md"
_SIGNS = {"at most": "≤", "at least": "≥", "exactly": "="}


def write_report(outcomes: Sequence[Outcome], folder: Path) -> Path:
    """Write a page and a PNG for each outcome that has a picture; a missing folder is created."""
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        if outcome.picture is not None:
            draw(outcome.picture, folder / f"{outcome.name}.png")
    page = folder / PAGE
    write_file(page, report_text(outcomes).encode())
    return page


def report_text(outcomes: Sequence[Outcome]) -> str:
    """Return the page."""
    parts = ["# Theory, checked\n"]
    for outcome in outcomes:
        parts += [f"\n## {outcome.name}: {outcome.paper}\n\n{outcome.title}.\n\n"]
        parts += ["| statement | measured | bound | holds |\n| --- | --- | --- | --- |\n"]
        parts += [
            f"| {_escaped(check.statement)} | {measured(check)} | {bound(check)} | {verdict(check)} |\n"
            for check in outcome.checks
        ]
        if outcome.picture is not None:
            parts += [f"\n![{outcome.picture.title}]({outcome.name}.png)\n"]
    return "".join(parts)


def measured(check: Check) -> str:
    """Return the measured number as text."""
    return f"{check.measured:.3g}"


def bound(check: Check) -> str:
    """Return the bound with its sign as text."""
    return f"{_SIGNS[check.relation]} {check.bound:.3g}"


def verdict(check: Check) -> str:
    """Return whether the check holds as text."""
    return "yes" if check.holds else "NO"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
