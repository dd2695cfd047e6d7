"""LiveGraph: a graph folder and the updates made to it, which are safe in a log before they count.

Not for: requests that come from outside (serve), or folding the log into a new folder (compact.py).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.log import Key, UpdateLog
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


@dataclass(frozen=True)
class Made:
    """An update that was made."""

    version: int
    """Version of the graph after it."""
    first_node: int
    """Id of its first new node, if it has any."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """An update that is made when the id of its first new node is known."""

    make: Callable[[int], Update]
    """Returns the update; a ValueError refuses it."""
    key: str | None = None
    digest: str = ""


Wish = Update | Wanted


class RepeatedKeys:
    """The latest idempotency keys, each with the digest of its update and what it gave."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        """Start with keys that are known."""
        self._known = OrderedDict((key, (digest, Made(version, first))) for key, digest, version, first in keys)

    def find(self, key: str | None, digest: str) -> Made | None:
        """Return what the update with this key gave, None if the key is new."""
        if key is None or (found := self._known.get(key)) is None:
            return None
        if found[0] != digest:
            raise KeyConflict(f"update: key must be new for another update, {key!r} was used before")
        return found[1]

    def add(self, update: Update, made: Made) -> None:
        """Remember an update; the oldest ones are forgotten."""
        if update.key is not None:
            self._known[update.key] = (update.digest, made)
            while len(self._known) > KEPT_KEYS:
                self._known.popitem(last=False)

    def rows(self) -> list[Key]:
        """Return all that is known, the oldest first."""
        return [(key, digest, made.version, made.first_node) for key, (digest, made) in self._known.items()]


class LiveGraph:
    """A graph with its updates. `lock` keeps it as it is while it is read; `committing` keeps new updates waiting."""

    def __init__(self, stored: Graph, log: Path | None = None, *, note: Callable[[str], None] = lambda _: None) -> None:
        """Open a graph with the updates of its log; without a log folder it takes updates that no restart knows.

        note: receives a line if a record that was not finished was cut off.
        """
        self.stored, self.lock, self.committing = stored, threading.RLock(), threading.RLock()
        self.listeners: list[Callable[[Update], None]] = []
        """Called with each update, under the lock, after it was made."""
        self.log = None if log is None else UpdateLog(log, stored)
        self.graph = ChangedGraph(stored)
        self.names = None if stored.node_name is None else NameIndex(stored.node_name)
        self.columns = (
            None if stored.column_names is None else {name: at for at, name in enumerate(stored.column_names)}
        )
        """Place of each feature column by name."""
        first = 0 if self.log is None else self.log.head.first
        self.version = first
        """Updates since the first graph folder: the number of the next one."""
        self.keys = RepeatedKeys(() if self.log is None else self.log.head.keys)
        if self.log is not None:
            if self.log.cut:
                note(f"{self.log.path}: {self.log.cut} bytes of an unfinished last update were cut off")
            for record in self.log.records:
                self._apply(Update.from_bytes(record))
            self.log.records.clear()

    def commit(self, wishes: Sequence[Wish]) -> list[Made | Exception]:
        """Make updates safe in the log, together, then visible; return what each gave, or why it was refused.

        An update with a known key is not made again. A WriteError means that none was made.
        """
        with self.committing:
            trial = Trial(self)
            results = [trial.result(wish) for wish in wishes]
            if trial.fresh:
                if self.log is not None:
                    self.log.append([update.to_bytes() for update in trial.fresh])
                with self.lock:
                    for update in trial.fresh:
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
        self.keys.add(update, Made(self.version, first))
        for listener in self.listeners:
            listener(update)

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
        self.fresh: list[Update] = []
        """Updates to make."""
        self._live, self._taken = live, RepeatedKeys()
        self._num_nodes = live.graph.num_nodes
        self._names: set[str] = set()

    def result(self, wish: Wish) -> Made | Exception:
        """Return what an update gives, or the ValueError that refuses it."""
        try:
            known = self._live.keys.find(wish.key, wish.digest) or self._taken.find(wish.key, wish.digest)
            if known is not None:
                return known
            if isinstance(wish, Wanted):
                wish = replace(wish.make(self._num_nodes), key=wish.key, digest=wish.digest)
            return self._take(wish)
        except ValueError as error:
            return error

    def _take(self, update: Update) -> Made:
        """Check an update and count it; raise a ValueError if it does not fit."""
        graph = self._live.graph
        update.check(graph, extra_nodes=self._num_nodes - graph.num_nodes)
        names = self._live.names
        for name in update.names or ():
            if name in self._names or (names is not None and names.find(name) is not None):
                raise ValueError(f"update: names of new nodes must be new, {name!r} is taken")
        self._names.update(update.names or ())
        self.fresh.append(update)
        made = Made(self._live.version + len(self.fresh), self._num_nodes)
        self._num_nodes += update.num_nodes
        self._taken.add(update, made)
        return made
