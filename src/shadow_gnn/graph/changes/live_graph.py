"""LiveGraph: a graph folder and the updates made to it, which are safe in a log before they count.

Not for: requests that come from outside (serve), or folding the log into a new folder (compact.py).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.log import Key, UpdateLog, identity_of
from shadow_gnn.graph.changes.log_reader import LogReader
from shadow_gnn.graph.changes.update import Update, in_one_go
from shadow_gnn.graph.name_index import NameIndex
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph

KEPT_KEYS = 100_000
"""Latest idempotency keys that are remembered."""
_REPLAYED = 5000
"""Updates that are read from a log and made together: more would need more memory."""


def log_folder(graph: Graph | Path) -> Path:
    """Return the usual folder of the log of a graph folder: next to it."""
    path = graph.path if isinstance(graph, Graph) else graph
    if path is None:
        raise ValueError("log: graph must be a folder, or the log must be named")
    return path.with_name(f"{path.name}.updates")


class KeyConflict(ValueError):
    """An idempotency key was used for another update before."""


class ReadOnly(ValueError):
    """The graph follows a log that another process writes."""


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


class GraphState:
    """A stored graph with the updates made to it so far."""

    def __init__(self, stored: Graph, first: int = 0, keys: Sequence[Key] = ()) -> None:
        """Start without updates. first: how many the stored graph already holds; keys: of the latest of them."""
        self.stored, self.first, self.version = stored, first, first
        self.graph = ChangedGraph(stored)
        self.names = None if stored.node_name is None else NameIndex(stored.node_name)
        self.keys = RepeatedKeys(keys)

    def apply(self, updates: Sequence[Update], *, log: Path | None = None) -> None:
        """Make updates, one after the other as far as anyone can see; those of a log must still be checked."""
        for update in in_one_go(updates):
            first = self.graph.num_nodes
            if log is None:
                update.apply(self.graph)
            else:
                _apply_logged(update, self.graph, log)
            self._note_names(update, first)
        first = self.graph.num_nodes - sum(update.num_nodes for update in updates)
        for update in updates:
            self.version += 1
            self.keys.add(update, Made(self.version, first))
            first += update.num_nodes

    def replay(self, records: Sequence[bytes], log: Path) -> None:
        """Make the updates of a log, some thousands at a time."""
        for start in range(0, len(records), _REPLAYED):
            self.apply(_updates_of(records[start : start + _REPLAYED], log), log=log)

    def _note_names(self, update: Update, first: int) -> None:
        """Make names of new nodes known, and forget those of removed ones."""
        if self.names is None:
            return
        for number, name in enumerate(update.names or ()):
            self.names.add(name, first + number)
        for node in update.remove_nodes:
            if (old := self._old_name(node)) is not None:
                self.names.remove(old)

    def freeze(self) -> ChangedGraph:
        """Return the graph as it is; further updates are made in a layer above it."""
        frozen = self.graph
        self.graph = ChangedGraph(self.stored, under=frozen)
        return frozen

    def _old_name(self, node: int) -> str | None:
        """Return the name that a node had before it was removed, None if another node has that name now."""
        assert self.names is not None
        assert self.graph.names is not None
        name = self.graph.names.original(node)
        return name if self.names.find(name) == node else None


def _updates_of(records: Sequence[bytes], log: Path) -> list[Update]:
    """Read the records of a log; a FolderError names it."""
    try:
        return [Update.from_bytes(record) for record in records]
    except FolderError as error:
        raise FolderError(f"{log}: {error}") from error


def _apply_logged(update: Update, graph: ChangedGraph, log: Path) -> None:
    """Make an update of a log; a FolderError says that it does not fit, as that of a stranger with a checksum."""
    try:
        update.check_values(graph)
        update.apply(graph)
    except ValueError as error:
        raise FolderError(f"{log}: an update does not fit the graph: {error}") from error


Listener = Callable[[Update | None], None]
"""Called under the lock for each update that was made; with None after the stored graph was replaced."""


class LiveGraph:
    """A graph with its updates. `lock` keeps it as it is while it is read; `committing` keeps new updates waiting."""

    def __init__(
        self,
        stored: Graph,
        log: Path | None = None,
        *,
        follow: bool = False,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Open a graph with the updates of its log; without a log folder it takes updates that no restart knows.

        follow: read the log that another process writes, and take no updates. note: receives a line if a record that
        was not finished was cut off.
        """
        self.lock, self.committing = threading.RLock(), threading.RLock()
        self.listeners: list[Listener] = []
        self.columns = (
            None if stored.column_names is None else {name: at for at, name in enumerate(stored.column_names)}
        )
        """Place of each feature column by name."""
        self.log, self.reader = None, None
        self._stopped: str | None = None  # Why the followed log cannot be followed any more.
        if log is not None and follow:
            self.reader = LogReader(log, stored)
        elif log is not None:
            self.log = UpdateLog(log, stored)
        source = self.reader or self.log
        self.state = GraphState(stored) if source is None else GraphState(stored, source.head.first, source.head.keys)
        try:
            self._read_all(note)
        except BaseException:
            self.close()
            raise

    def _read_all(self, note: Callable[[str], None]) -> None:
        """Make the updates that the log has."""
        if self.reader is not None:
            self.catch_up()
        if self.log is not None:
            if self.log.cut:
                note(f"{self.log.path}: {self.log.cut} bytes of an unfinished last update were cut off")
            self.state.replay(self.log.take_records(), self.log.path)

    @property
    def stored(self) -> Graph:
        """The graph below all updates."""
        return self.state.stored

    @property
    def graph(self) -> ChangedGraph:
        """The graph with all updates."""
        return self.state.graph

    @property
    def names(self) -> NameIndex | None:
        """Nodes by name."""
        return self.state.names

    @property
    def version(self) -> int:
        """Updates since the first graph folder: the number of the next one."""
        return self.state.version

    @property
    def folder_version(self) -> int:
        """Updates that the graph folder itself holds: the log has those after them."""
        return self.state.first

    @property
    def keys(self) -> RepeatedKeys:
        """The latest idempotency keys."""
        return self.state.keys

    def commit(self, wishes: Sequence[Wish]) -> list[Made | Exception]:
        """Make updates safe in the log, together, then visible; return what each gave, or why it was refused.

        An update with a known key is not made again. A WriteError means that none was made.
        """
        with self.committing:
            if self.reader is not None:
                raise ReadOnly("update: must be sent to the service that writes the log, this one follows it")
            trial = Trial(self)
            results = [trial.result(wish) for wish in wishes]
            if trial.fresh:
                if self.log is not None:
                    self.log.append([update.to_bytes() for update in trial.fresh])
                self._apply(trial.fresh)
            return results

    def catch_up(self, stop: int | None = None) -> int:
        """Make the updates that the followed log has by now, up to a version; return the version of the graph."""
        with self.committing:
            assert self.reader is not None
            if self._stopped is not None:
                raise FolderError(self._stopped)
            if self.reader.ended():
                self._follow_again(stop)
            self._make_read(self.reader, stop)
            return self.version

    def adopt(self, state: GraphState) -> None:
        """Continue with another state of the same graph, such as one with fewer updates on a compacted folder."""
        with self.lock:
            self.state = state
            for listener in self.listeners:
                listener(None)

    def close(self) -> None:
        """Close the log."""
        for source in (self.log, self.reader):
            if source is not None:
                source.close()

    def _make_read(self, reader: LogReader, stop: int | None) -> None:
        """Make the updates that the followed log has by now; after one that cannot be made, none is made any more."""
        records = reader.read(stop)
        try:
            self._apply(_updates_of(records, reader.path), log=reader.path)
        except FolderError as error:
            self._stopped = str(error)
            raise

    def _apply(self, updates: Sequence[Update], *, log: Path | None = None) -> None:
        if updates:
            with self.lock:
                self.state.apply(updates, log=log)
                for update in updates:
                    for listener in self.listeners:
                        listener(update)

    def _follow_again(self, stop: int | None) -> None:
        """Open the log that has taken the place of the followed one, with the folder that it is of."""
        assert self.reader is not None
        self._make_read(self.reader, stop)
        reader = LogReader(self.reader.path.parent)
        path = self.stored.path
        stored = None if path is None else open_graph(path)
        if stored is not None and identity_of(stored) == reader.head.graph:
            state = GraphState(stored, reader.head.first, reader.head.keys)
            state.replay(reader.read(stop), reader.path)
            self.adopt(state)
        elif reader.head.first <= self.version:  # A copy of the old folder: all later updates are in the log.
            reader.skip_to(self.version)
        else:
            reader.close()
            raise FolderError(f"{reader.path}: is of a newer graph folder than {path}; copy that one and start again")
        self.reader.close()
        self.reader = reader


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
