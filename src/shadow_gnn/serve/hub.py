"""Hub: the writer's side of the workers: it commits their updates, and answers when every worker has them.

Not for: starting processes (workers.py), or the worker's side (worker.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from shadow_gnn.graph.changes.live_graph import LiveGraph, Made
from shadow_gnn.serve.channel import Channel, Message
from shadow_gnn.serve.faults import fault_message
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.requests import AddNodesBody, RemoveEdgesBody, RemoveNodesBody, SetEdgesBody
from shadow_gnn.serve.resolve import UpdateBody
from shadow_gnn.serve.waiting import Draining, QueueFull
from shadow_gnn.serve.writer import LocalWriter

_BODIES: dict[str, type[UpdateBody]] = {
    kind.__name__: kind for kind in (AddNodesBody, SetEdgesBody, RemoveEdgesBody, RemoveNodesBody)
}


@dataclass(eq=False)
class Reader:
    """A worker, as the hub sees it."""

    channel: Channel
    version: int | None = None
    """Updates that it has made; None until it follows."""
    behind_since: float | None = None
    """Since when it has not had all updates."""
    ready: threading.Event = field(default_factory=threading.Event)
    """Set when it answers requests."""


@dataclass(eq=False)
class _Reloading:
    """Workers that read their runs again, and who asked for it."""

    waiting: set[Reader]
    answer: Callable[[Message], None]
    result: Message


class Hub:
    """The live graph of a service with workers."""

    def __init__(
        self, live: LiveGraph, limits: Limits, *, compact_after: int = 0, note: Callable[[str], None] = lambda _: None
    ) -> None:
        """Start the writer; workers join later."""
        self.live = live
        self.readers: list[Reader] = []
        self._changed = threading.RLock()
        self._unseen: list[tuple[int, Callable[[], None]]] = []
        self._reloading: dict[int, _Reloading] = {}
        self._num_reloads = 0
        self.writer = LocalWriter(live, limits, compact_after=compact_after, publish=self._publish, note=note)

    def join(self, channel: Channel, ended: Callable[[Reader], None]) -> Reader:
        """Listen to a worker; ended: called when it is gone, after all that waited for it goes on."""
        reader = Reader(channel)

        def gone() -> None:
            self._forget(reader)
            ended(reader)

        channel.listen(partial(self._handle, reader), gone)
        return reader

    def reload(self, name: str | None, answer: Callable[[Message], None] = lambda _: None) -> None:
        """Let every worker read a run again, or all runs; answer: called with the result of the last one."""
        with self._changed:
            self._num_reloads += 1
            number = self._num_reloads
            self._reloading[number] = _Reloading(set(self.readers), answer, {"result": {}})
            for reader in list(self.readers):
                reader.channel.send({"reload": number, "run": name})
            self._finish_reload(number)

    def slowest(self) -> tuple[Reader, float] | None:
        """Return the reader that has been behind longest, and for how many seconds; None if none is.

        It waits for nobody: whoever sends to a worker that hangs holds the lock until that worker is ended.
        """
        since_of = [(reader.behind_since, reader) for reader in tuple(self.readers)]
        behind = [(since, reader) for since, reader in since_of if since is not None]
        if not behind:
            return None
        since, reader = min(behind, key=lambda one: one[0])
        return reader, time.monotonic() - since

    def close(self) -> None:
        """Finish the updates that wait, and close the log."""
        self.writer.close()
        self.live.close()

    def _publish(self, version: int, done: Callable[[], None]) -> None:
        """Tell all workers of a version; done: called when all of them have made its updates."""
        with self._changed:
            self._unseen.append((version, done))
            for reader in self.readers:
                reader.behind_since = reader.behind_since or time.monotonic()
                reader.channel.send({"follow": version})
        self._finish_seen()

    def _finish_seen(self) -> None:
        with self._changed:
            least = min((reader.version or 0 for reader in self.readers), default=None)
            seen = [one for one in self._unseen if least is None or one[0] <= least]
            self._unseen = [one for one in self._unseen if not (least is None or one[0] <= least)]
        for _, done in seen:
            done()

    def _forget(self, reader: Reader) -> None:
        with self._changed:
            if reader in self.readers:
                self.readers.remove(reader)
            for number, one in list(self._reloading.items()):
                one.waiting.discard(reader)
                self._finish_reload(number)
        reader.ready.set()
        self._finish_seen()

    def _handle(self, reader: Reader, message: Message) -> None:
        if "joins" in message:
            with self.live.committing, self._changed:  # No update is between the version it is told and its place here.
                reader.version, reader.behind_since = message["joins"], time.monotonic()
                self.readers.append(reader)
                reader.channel.send({"follow": self.live.version})
        elif "at" in message:
            with self._changed:
                reader.version = message["at"]
                if message["at"] >= self.live.version:
                    reader.behind_since = None
            self._finish_seen()
        elif "ready" in message:
            reader.ready.set()
        elif "update" in message:
            self._update(reader, message)
        elif "compact" in message:
            self._answer(reader, message["compact"], self.writer.compact, lambda version: {"version": version})
        elif "reload" in message:
            self.reload(message["run"], lambda found: self._send_done(reader, message["reload"], found))
        elif "reloaded" in message:
            self._reloaded(reader, message)

    def _update(self, reader: Reader, message: Message) -> None:
        def start() -> Future[Made]:
            return self.writer.update(_BODIES[message["kind"]].model_validate_json(message["body"]))

        self._answer(
            reader, message["update"], start, lambda made: {"version": made.version, "first_node": made.first_node}
        )

    def _answer(
        self, reader: Reader, number: int, start: Callable[[], Future[Any]], form: Callable[[Any], Message]
    ) -> None:
        """Start work for a worker, and send it the result when it is there."""
        try:
            found = start()
        except (ValueError, QueueFull, Draining) as error:
            self._send_done(reader, number, fault_message(error))
            return

        def done(future: Future[Any]) -> None:
            error = future.exception()
            self._send_done(reader, number, fault_message(error) if error is not None else form(future.result()))

        found.add_done_callback(done)

    def _send_done(self, reader: Reader, number: int, content: Message) -> None:
        reader.channel.send({"done": number, **content})

    def _reloaded(self, reader: Reader, message: Message) -> None:
        with self._changed:
            number = message.pop("reloaded")
            if number in self._reloading:
                one = self._reloading[number]
                one.waiting.discard(reader)
                if "fault" not in one.result:
                    one.result = message
                self._finish_reload(number)

    def _finish_reload(self, number: int) -> None:
        one = self._reloading[number]
        if not one.waiting:
            del self._reloading[number]
            one.answer(one.result)
