"""Start: everything that a process of a service needs, opened from the folders that the command names.

Not for: sockets and signals (server.py), or several processes (workers.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from shadow_gnn.extract import BaseExtractor
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictor import Note, ignore_note
from shadow_gnn.recipe.extractor_table import parse_extractor
from shadow_gnn.recipe.faults import checked_extractor
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.served_run import ServedRun, open_served
from shadow_gnn.serve.service import Service
from shadow_gnn.serve.writer import Writer


@dataclass(frozen=True)
class Start:
    """The runs to serve; a worker gets them as JSON."""

    runs: Mapping[str, str]
    """Folders by name; the first one answers requests that name none."""
    extractor: str | None = None
    """Scopes in place of those of training: a kind or a TOML table."""
    cached: int = 1000
    """Scopes that are kept, of each extractor."""

    def to_json(self) -> str:
        """Write everything as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Start:
        """Read what to_json has written."""
        return cls(**json.loads(text))

    @property
    def chosen(self) -> BaseExtractor | None:
        """The extractor that was chosen."""
        if self.extractor is None:
            return None
        try:
            table = parse_extractor(self.extractor)
        except ValueError as error:
            raise ValueError(f"serve: --extractor {error}") from None
        return checked_extractor(table, "serve")

    def open_run(self, name: str, graph: Graph, note: Note = ignore_note, warn: Note = ignore_note) -> ServedRun:
        """Open a run as its folder is now."""
        return open_served(Path(self.runs[name]), graph, self.chosen, note=note, warn=warn)

    def service(
        self,
        graph: Graph,
        live: Callable[[], LiveGraph],
        writer: Callable[[LiveGraph, Limits], Writer],
        *,
        note: Note = ignore_note,
        warn: Note = ignore_note,
    ) -> Service:
        """Open all runs, then the live graph: a run that cannot be served is refused before the log is touched."""
        runs = {name: self.open_run(name, graph, note, warn) for name in self.runs}
        limits, opened = Limits(), live()
        return Service(
            runs,
            live=opened,
            writer=writer(opened, limits),
            limits=limits,
            note=note,
            cached=self.cached,
            open_run=self.open_run,
        )
