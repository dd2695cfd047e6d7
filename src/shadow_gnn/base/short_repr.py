"""Short reprs: a record as one line of facts in a terminal, and as a small table in a notebook.

Not for: the facts themselves, which each record gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def as_line(name: str, facts: Mapping[str, str]) -> str:
    """Write facts as one line: Name(fact: value; ...)."""
    return f"{name}({'; '.join(f'{key}: {value}' for key, value in facts.items())})"


def as_html(name: str, facts: Mapping[str, str]) -> str:
    """Write facts as a table of HTML."""
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items())
    return f"<table><caption>{escape(name)}</caption>{rows}</table>"
