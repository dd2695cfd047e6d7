"""Worker: one of several processes of a service; it predicts, follows the log, and sends updates to the writer.

Not for: the writer (hub.py), or a service that follows the log of another machine (following.py).
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from shadow_gnn.base import collector
from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.base.errors import ShadowError
from shadow_gnn.graph.changes.live_graph import LiveGraph, Made
from shadow_gnn.graph.store import open_graph
from shadow_gnn.serve.channel import Channel, Message
from shadow_gnn.serve.faults import fault_message, fault_of
from shadow_gnn.serve.resolve import UpdateBody
from shadow_gnn.serve.server import listen, run_server
from shadow_gnn.serve.service import Answer, Service
from shadow_gnn.serve.start import Start
from shadow_gnn.serve.waiting import Draining


class RemoteWriter:
    """The writer in another process; answers come when every worker has the update."""

    def __init__(self, channel: Channel) -> None:
        """Send over a channel; `finish` gets the answers."""
        self._channel, self._numbers, self._lock = channel, count(), threading.Lock()
        self.fault: str | None = None
        self._waiting: dict[int, Future[Message]] = {}
        self._gone = False

    def __len__(self) -> int:
        return len(self._waiting)

    def update(self, body: UpdateBody) -> Future[Made]:
        """Send an update."""
        found = self._ask("update", {"kind": type(body).__name__, "body": body.model_dump_json(by_alias=True)})
        return _mapped(found, lambda answer: Made(answer["version"], answer["first_node"]))

    def compact(self) -> Future[int]:
        """Ask for a compaction."""
        return _mapped(self._ask("compact", {}), lambda answer: int(answer["version"]))

    def reload(self, name: str | None) -> Future[Answer]:
        """Ask that all workers read runs again."""
        return _mapped(self._ask("reload", {"run": name}), lambda answer: dict(answer["result"]))

    def finish(self, message: Message) -> None:
        """Give an answer to the request that waits for it."""
        with self._lock:
            waiting = self._waiting.pop(message["done"])
        waiting.set_result(message)

    def end(self) -> None:
        """Refuse all requests that wait, as the writer is gone."""
        with self._lock:
            self._gone = True
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.set_exception(Draining())

    def close(self) -> None:
        """Nothing is left to do: requests have been answered before the service ends."""

    def _ask(self, kind: str, content: Message) -> Future[Message]:
        waiting: Future[Message] = Future()
        with self._lock:
            if self._gone:
                raise Draining
            number = next(self._numbers)
            self._waiting[number] = waiting
        self._channel.send({kind: number, **content})
        return waiting


def _mapped(source: Future[Message], form: Any) -> Future[Any]:
    """Return the future of what an answer means."""
    mapped: Future[Any] = Future()

    def done(found: Future[Message]) -> None:
        if not mapped.set_running_or_notify_cancel():
            return
        try:
            answer = found.result()
            if "fault" in answer:
                raise fault_of(answer)
            mapped.set_result(form(answer))
        except Exception as error:
            mapped.set_exception(error)

    source.add_done_callback(done)
    return mapped


@dataclass(frozen=True)
class Orders:
    """The orders of a worker at its start."""

    start: str
    """The Start, as JSON."""
    graph: str
    log: str
    host: str
    port: int
    token: str | None
    channel: int
    """File descriptor."""
    notes: bool = False
    """Whether to send notes to the user."""


def run_worker(orders: Orders) -> None:
    """Open everything, catch up with the writer, and answer requests until SIGTERM or the end of the writer."""
    collector.pause()
    keep_freed_memory()
    channel = Channel(socket.socket(fileno=orders.channel))
    writer = RemoteWriter(channel)

    def note(line: str) -> None:
        if orders.notes:
            channel.send({"note": line})

    try:
        graph = open_graph(orders.graph)
        service = Start.from_json(orders.start).service(
            graph,
            lambda: LiveGraph(graph, Path(orders.log), follow=True),
            lambda _, __: writer,
            note=note,
            warn=note,
        )
    except (ShadowError, ValueError, OSError) as error:
        channel.send(fault_message(error))
        channel.close()
        return
    service.reload = writer.reload
    caught_up, ending = threading.Event(), threading.Event()

    def handle(message: Message) -> None:
        if "follow" in message:
            _follow(service, channel, message["follow"])
            caught_up.set()
        elif "reload" in message:
            _reload(service, channel, message)
        else:
            writer.finish(message)

    def ended() -> None:
        writer.end()
        caught_up.set()
        ending.set()

    channel.listen(handle, ended)
    channel.send({"joins": service.live.version})
    caught_up.wait()
    if ending.is_set():
        service.close()
        return
    opened = listen(orders.host, orders.port, shared=True)
    run_server(service, opened, orders.token, lambda: channel.send({"ready": True}), ending=ending)


def _follow(service: Service, channel: Channel, version: int) -> None:
    """Make the updates up to a version; without them this worker must not answer, and ends."""
    try:
        channel.send({"at": service.live.catch_up(version)})
    except (ShadowError, OSError) as error:
        channel.send({"note": f"a worker cannot follow the log: {error}"})
        channel.close()


def _reload(service: Service, channel: Channel, message: Message) -> None:
    number = message["reload"]

    def done(found: Future[Answer]) -> None:
        error = found.exception()
        answer = fault_message(error) if error is not None else {"result": found.result()}
        channel.send({"reloaded": number, **answer})

    try:
        service.reload_here(message["run"]).add_done_callback(done)
    except ValueError as error:
        channel.send({"reloaded": number, **fault_message(error)})


if __name__ == "__main__":
    run_worker(Orders(**json.loads(sys.stdin.read())))
