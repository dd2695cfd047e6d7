"""Serving: the explorer inside a service, on its graph as it changes and with its runs.

Not for: the explorer alone (cli/prediction/explore.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shadow_gnn.explore.explorer import Explorer
from shadow_gnn.explore.runs import ExploredRun, open_explored
from shadow_gnn.serve.service import Service


def explorer_of(service: Service, folders: Mapping[str, Path]) -> Explorer:
    """Return the explorer of a service; it opens the runs when it is first asked, and after each reload.

    It has models of its own, because explaining puts hooks into a model.
    """
    live = service.live
    explorer = Explorer(live, name=Path(str(live.stored.path or "graph")).name)

    def opened() -> list[ExploredRun]:
        return [open_explored(name, folder, live) for name, folder in folders.items()]

    explorer.open_later(opened)
    service.reload_listeners.append(lambda: explorer.open_later(opened))
    return explorer
