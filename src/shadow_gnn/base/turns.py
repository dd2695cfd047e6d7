"""Turns: how soon a thread that wants to run Python code gets its turn.

Not for: the library itself. The setting changes the whole process, so only our services use it.
"""

from __future__ import annotations

import sys

SECONDS = 0.0005
"""Most time in which one thread lets another one wait; Python's own choice is ten times as long."""


def take_short_turns() -> None:
    """Let threads of Python take turns more often.

    A batch of predictions gives its turn away for each of its dozens of products and calls into the core. Next to
    a thread that answers many small requests, it would wait for most of them for the whole time.
    """
    sys.setswitchinterval(SECONDS)
