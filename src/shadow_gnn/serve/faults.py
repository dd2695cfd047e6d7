"""Faults: errors of a request as messages that another process can send on, and back.

Not for: statuses of HTTP (app.py).
"""

from __future__ import annotations

from shadow_gnn.base.errors import ShadowError, WriteError
from shadow_gnn.graph.changes.live_graph import KeyConflict, ReadOnly
from shadow_gnn.serve.waiting import Draining, QueueFull

_KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (KeyConflict, ReadOnly, ValueError, WriteError, ShadowError, QueueFull, Draining)
}


def fault_message(error: BaseException) -> dict[str, str]:
    """Return the kind of an error, the nearest that is known, and its line."""
    kind = next((base.__name__ for base in type(error).__mro__ if base.__name__ in _KINDS), ShadowError.__name__)
    return {"fault": kind, "line": str(error)}


def fault_of(message: dict[str, str]) -> Exception:
    """Return the error of a message."""
    return _KINDS.get(message["fault"], ShadowError)(message["line"])
