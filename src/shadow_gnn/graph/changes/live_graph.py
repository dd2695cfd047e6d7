"""LiveGraph: a graph folder and the updates made to it, which are safe in a log before they count.

Not for: requests that come from outside (serve), or folding the log into a new folder (compact.py).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from shadow_gnn.base.files import checksum_of
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.log import UpdateLog
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.graph.name_index import NameIndex
from shadow_gnn.graph.record import Graph

KEPT_KEYS = 100_000
"""Latest idempotency keys that are remembered."""


def log_folder(graph: Graph | Path) -> Path:
    """Return the usual folder of the log of a graph folder: next to it."""
    path = graph.path if isinstance(graph, Graph) else graph
    if path is None:
        raise ValueError("log: graph must be a folder, or the log must be named")
    return path.with_name(f"{path.name}.updates")


class KeyConflict(ValueError):
    """An idempotency key was used for another update before."""


class RepeatedKeys:
    """The latest idempotency keys, each with a checksum of its update and the version that it gave."""

    def __init__(self, keys: Sequence[tuple[str, str]] = (), version: int = 0) -> None:
        """Start with keys of updates up to a version."""
        self._known = OrderedDict((key, (sum_, version)) for key, sum_ in keys)

    def version_of(self, update: Update) -> int | None:
        """Return the version that an update with this key gave, None if the key is new."""
        if update.key is None or (found := self._known.get(update.key)) is None:
            return None
        if found[0] != _sum_of(update):
            raise KeyConflict(f"update: key must be new for another update, {update.key!r} was used before")
        return found[1]

    def add(self, update: Update, version: int) -> None:
        """Remember an update; the oldest ones are forgotten."""
        if update.key is not None:
            self._known[update.key] = (_sum_of(update), version)
            while len(self._known) > KEPT_KEYS:
                self._known.popitem(last=False)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the keys with their checksums, the oldest first."""
        return [(key, sum_) for key, (sum_, _) in self._known.items()]


def _sum_of(update: Update) -> str:
    return checksum_of(update.to_bytes())


class LiveGraph:
    """A graph with its updates. One thread commits; `lock` keeps the graph as it is while others read it."""

    def __init__(self, stored: Graph, log: Path | None = None, *, note: Callable[[str], None] = lambda _: None) -> None:
        """Open a graph with the updates of its log; without a log folder it takes updates that no restart knows.

        note: receives a line if a record that was not finished was cut off.
        """
        self.stored, self.lock = stored, threading.RLock()
        self.log = None if log is None else UpdateLog(log, stored)
        self.graph = ChangedGraph(stored)
        self.names = None if stored.node_name is None else NameIndex(stored.node_name)
        first = 0 if self.log is None else self.log.head.first
        self.version = first
        """Updates since the first graph folder: the number of the next one."""
        self.keys = RepeatedKeys(() if self.log is None else self.log.head.keys, first)
        if self.log is not None:
            if self.log.cut:
                note(f"{self.log.path}: {self.log.cut} bytes of an unfinished last update were cut off")
            for record in self.log.records:
                self._apply(Update.from_bytes(record))
            self.log.records.clear()

    def commit(self, updates: Sequence[Update]) -> list[int | Exception]:
        """Make updates safe in the log, together, then visible; return the version after each, or why it was refused.

        An update with a known key is not made again. A WriteError means that none was made.
        """
        results: list[int | Exception] = []
        fresh: list[Update] = []
        trial = Trial(self)
        for update in updates:
            try:
                known = trial.known(update)
                if known is None:
                    trial.take(update)
                    fresh.append(update)
                results.append(self.version + len(fresh) if known is None else known)
            except ValueError as error:
                results.append(error)
        if fresh:
            if self.log is not None:
                self.log.append([update.to_bytes() for update in fresh])
            with self.lock:
                for update in fresh:
                    self._apply(update)
        return results

    def _apply(self, update: Update) -> None:
        first = self.graph.num_nodes
        update.apply(self.graph)
        if self.names is not None:
            for number, name in enumerate(update.names or ()):
                self.names.add(name, first + number)
            for node in update.remove_nodes:
                if (old := self._old_name(node)) is not None:
                    self.names.remove(old)
        self.version += 1
        self.keys.add(update, self.version)

    def _old_name(self, node: int) -> str | None:
        """Return the name that a node had before it was removed, None if another node has that name now."""
        assert self.names is not None
        assert self.graph.names is not None
        name = self.graph.names.original(node)
        return name if self.names.find(name) == node else None

    def close(self) -> None:
        """Close the log."""
        if self.log is not None:
            self.log.close()


class Trial:
    """Checks updates that are committed together, each as if those before it were made."""

    def __init__(self, live: LiveGraph) -> None:
        """Start from the graph as it is."""
        self._live, self._taken = live, RepeatedKeys()
        self._count = 0
        self._num_nodes = live.graph.num_nodes
        self._names: set[str] = set()

    def known(self, update: Update) -> int | None:
        """Return the version of an update that was made before or is in this group."""
        found = self._live.keys.version_of(update)
        return self._taken.version_of(update) if found is None else found

    def take(self, update: Update) -> None:
        """Check an update and count it; raise a ValueError if it does not fit."""
        graph = self._live.graph
        update.check(graph, extra_nodes=self._num_nodes - graph.num_nodes)
        names = self._live.names
        for name in update.names or ():
            if name in self._names or (names is not None and names.find(name) is not None):
                raise ValueError(f"update: names of new nodes must be new, {name!r} is taken")
            self._names.add(name)
        self._count += 1
        self._num_nodes += update.num_nodes
        self._taken.add(update, self._live.version + self._count)
