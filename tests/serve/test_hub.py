"""The writer of several workers, with workers that are only sockets here."""

from __future__ import annotations

import json
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from tests.extract.changed import Plain

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.graph.changes.live_graph import KeyConflict, LiveGraph, Made, ReadOnly
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.serve.channel import Channel
from shadow_gnn.serve.faults import fault_message, fault_of
from shadow_gnn.serve.hub import Hub
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.requests import AddNodesBody, RemoveNodesBody
from shadow_gnn.serve.waiting import Draining, QueueFull
from shadow_gnn.serve.worker import RemoteWriter, _follow


class Worker:
    """The other end of a channel, read by hand."""

    def __init__(self, hub):
        here, self.socket = socket.socketpair()
        self.socket.settimeout(60)
        self.gone = threading.Event()
        self.reader = hub.join(Channel(here), lambda _: self.gone.set())
        self._lines = self.socket.makefile("rb")
        hub.met.append(self)

    def send(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def read(self):
        return json.loads(self._lines.readline())

    def join(self, version):
        self.send(joins=version)
        told = self.read()["follow"]
        self.send(at=told)
        return told

    def die(self):
        if not self.gone.is_set():
            self._lines.close()
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()
            assert self.gone.wait(60)
            self.reader.channel.close()

    def silent(self):
        """Tell whether nothing has been sent."""
        self.socket.settimeout(0.2)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(60)
        return False


@pytest.fixture
def hub(tmp_path):
    plain = Plain(4, False, False, wide=False)
    plain.set(0, 1, 1.0)
    save_graph(plain.graph(), tmp_path / "g")
    found = Hub(LiveGraph(open_graph(tmp_path / "g"), tmp_path / "log"), Limits())
    found.met = []
    yield found
    for worker in found.met:
        worker.die()
    found.close()


def node(name):
    return AddNodesBody.model_validate({"nodes": [{"name": name, "features": [0.0, 1.0, 2.0]}], "key": name})


def update(worker, number, body):
    worker.send(update=number, kind=type(body).__name__, body=body.model_dump_json(by_alias=True))


def test_an_update_is_answered_when_every_worker_has_it(hub):
    one, other = Worker(hub), Worker(hub)
    assert (one.join(0), other.join(0)) == (0, 0)
    update(one, 7, node("a"))
    assert one.read() == {"follow": 1}
    assert other.read() == {"follow": 1}
    one.send(at=1)
    assert one.silent()
    assert hub.slowest()[0] is other.reader
    other.send(at=1)
    assert one.read() == {"done": 7, "version": 1, "first_node": 4}
    assert hub.slowest() is None


def test_a_worker_that_reads_nothing_is_found_while_messages_to_it_block(hub):
    stuck = Worker(hub)
    stuck.join(0)
    versions = range(1, 100_000)
    sending = threading.Thread(target=lambda: [hub._publish(version, int) for version in versions], daemon=True)
    sending.start()
    sending.join(1)
    assert sending.is_alive()
    found = []
    looking = threading.Thread(target=lambda: found.append(hub.slowest()), daemon=True)
    looking.start()
    looking.join(30)
    assert found[0][0] is stuck.reader
    stuck.die()
    sending.join(60)
    assert not sending.is_alive()


def test_updates_do_not_wait_for_a_worker_that_is_gone_and_a_new_one_is_told_the_version(hub):
    one, other = Worker(hub), Worker(hub)
    one.join(0)
    other.join(0)
    update(one, 1, node("a"))
    assert one.read() == {"follow": 1}
    one.send(at=1)
    assert one.silent()
    other.die()
    assert one.read() == {"done": 1, "version": 1, "first_node": 4}
    third = Worker(hub)
    third.send(joins=0)
    assert third.read() == {"follow": 1}
    update(one, 2, node("b"))
    assert one.read() == {"follow": 2}
    one.send(at=2)
    assert one.silent()  # The new one counts from the moment it has joined.
    assert third.read() == {"follow": 2}
    third.send(at=1)
    assert one.silent()
    third.send(at=2)
    assert one.read()["version"] == 2


def test_faults_reach_the_worker_that_asked(hub):
    one = Worker(hub)
    one.join(0)
    update(one, 1, RemoveNodesBody(nodes=["nobody"]))
    assert one.read() == {"follow": 0}
    one.send(at=0)
    answer = one.read()
    assert (answer["done"], answer["fault"]) == (1, "ValueError")
    assert "must be a name of the graph" in answer["line"]


def test_a_reload_is_answered_after_the_last_worker(hub):
    one, other, third = Worker(hub), Worker(hub), Worker(hub)
    for worker in (one, other, third):
        worker.join(0)
    one.send(reload=5, run="a")
    asked = [worker.read() for worker in (one, other, third)]
    assert [question["run"] for question in asked] == ["a", "a", "a"]
    one.send(reloaded=asked[0]["reload"], result={"x": 1})
    other.send(reloaded=asked[1]["reload"], fault="ValueError", line="no")
    assert one.silent()
    third.die()
    assert one.read() == {"done": 5, "fault": "ValueError", "line": "no"}


def test_compaction_is_told_to_workers(hub):
    one = Worker(hub)
    one.join(0)
    hub.writer.update(node("a"))
    assert one.read() == {"follow": 1}
    one.send(at=1)
    one.send(compact=3)
    assert one.read() == {"done": 3, "version": 1}
    assert one.read() == {"follow": 1}
    assert hub.live.folder_version == 1
    reader = LiveGraph(open_graph(hub.live.stored.path), hub.live.log.folder, follow=True)
    assert (reader.version, reader.graph.num_nodes) == (1, 5)
    np.testing.assert_allclose(reader.graph.x.rows(np.array([4])), [[0.0, 1.0, 2.0]])
    reader.close()


@pytest.mark.parametrize("kind", [KeyConflict, ReadOnly, ValueError, WriteError, QueueFull, Draining])
def test_faults_keep_their_kind_and_line(kind):
    found = fault_of(fault_message(kind("a line")))
    assert (type(found), str(found)) == (kind, "a line")
    assert isinstance(fault_of(fault_message(UnicodeError("x"))), ValueError)


def test_a_remote_writer_gives_answers_to_those_who_wait_and_ends_with_the_writer():
    here, there = socket.socketpair()
    lines = there.makefile("rb")
    writer = RemoteWriter(Channel(here))
    first, second = writer.update(node("a")), writer.update(node("b"))
    numbers = [json.loads(lines.readline())["update"] for _ in range(2)]
    assert len(writer) == 2
    writer.finish({"done": numbers[1], "version": 2, "first_node": 9})
    writer.finish({"done": numbers[0], "fault": "KeyConflict", "line": "used"})
    assert second.result() == Made(2, 9)
    with pytest.raises(KeyConflict, match="used"):
        first.result()
    third = writer.compact()
    writer.end()
    with pytest.raises(Draining):
        third.result()
    with pytest.raises(Draining):
        writer.reload(None)
    for end in (here, there, lines):
        end.close()


def test_a_worker_that_cannot_follow_says_so_and_ends():
    here, there = socket.socketpair()

    def damaged(version):
        raise FolderError("updates.log: is damaged at byte 7")

    service = SimpleNamespace(live=SimpleNamespace(catch_up=damaged))
    _follow(service, Channel(there), 3)
    with here, here.makefile("rb") as lines:
        said = [json.loads(line) for line in lines]  # Up to the end of the channel.
    assert said == [{"note": "a worker cannot follow the log: updates.log: is damaged at byte 7"}]
