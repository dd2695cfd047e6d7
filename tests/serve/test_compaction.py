"""The log is folded into the folder while the service goes on; followers and restarts go on from there."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.communities import one_thread  # noqa: F401
from tests.rounding import ROUNDING
from tests.serve.runs import train

from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.changes import compact as compaction
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.log import NEXT
from shadow_gnn.graph.store import open_graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.following import Following
from shadow_gnn.serve.service import Service
from shadow_gnn.serve.waiting import Draining
from shadow_gnn.serve.writer import LocalWriter
from shadow_gnn.training.model_file import read_model


@pytest.fixture(params=["plain", "rich"])
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    return train(kind, tmp_path)


def serve(folder, *, notes=None, follow=False, **options):
    graph = open_graph(folder / "g")
    live = LiveGraph(graph, folder / "log", follow=follow)
    note = (lambda _: None) if notes is None else notes.append
    service = Service(
        Predictor(read_model(folder / "run"), graph), live=live, writer=Following(live) if follow else None
    )
    if not follow:
        service.writer.close()
        service.writer = LocalWriter(live, service.limits, note=note, **options)
    client = TestClient(create_app(service))
    client.service = service
    return client


def new_nodes(kind, count=1, start=0):
    values = {"weight": 2.0, "attributes": [2.0, 1.0]} if kind == "rich" else {}
    return {
        "nodes": [
            {
                "features": [0.5, float(start + number), 2.0],
                "edges": [{"to": 3 + number, **values}, {"to": 17, **values}],
                **({"name": f"new {start + number}"} if kind == "rich" else {}),
            }
            for number in range(count)
        ]
    }


def ask(client, path, body=None, status=200):
    response = client.post(path, json=body) if body is not None else client.get(path)
    assert response.status_code == status, response.text
    return response.json()


def wait_for(condition, seconds=60.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def probabilities(client, nodes):
    rows = ask(client, "/v1/predict", {"nodes": nodes})["predictions"]
    return np.array([list(row["probabilities"].values()) for row in rows])


def fold(client):
    version = ask(client, "/v1/graph/compact", {}, 202)["folder_version"]
    wait_for(lambda: ask(client, "/v1/state")["folder_version"] == version)
    return version


def test_answers_keys_and_restarts_are_the_same_after_folding(kind, folder):
    with serve(folder) as client:
        body = {**new_nodes(kind), "key": "k"}
        first = ask(client, "/v1/graph/nodes", body)
        scope = ask(client, "/v1/scope", {"node": 120})
        before = probabilities(client, [3, 17, 120])
        assert fold(client) == 1
        assert client.service.live.stored.num_nodes == 121
        assert ask(client, "/v1/scope", {"node": 120}) == scope
        np.testing.assert_allclose(probabilities(client, [3, 17, 120]), before, **ROUNDING)
        assert ask(client, "/v1/graph/nodes", body) == first
        later = ask(client, "/v1/graph/nodes", new_nodes(kind, start=1))
        assert later == {"graph_version": 2, "ids": [121]}
        after = probabilities(client, [3, 17, 121])
    with serve(folder) as client:
        assert ask(client, "/v1/state")["graph_version"] == 2
        assert ask(client, "/v1/graph/nodes", body) == first
        np.testing.assert_allclose(probabilities(client, [3, 17, 121]), after, **ROUNDING)


def test_updates_made_while_the_folder_is_written_are_kept(kind, folder, monkeypatch):
    """The thread that folds waits in the middle; updates, predictions and a second request to fold go on."""
    reached, go_on = threading.Event(), threading.Event()
    real = compaction.contents_with_changes

    def slow(graph):
        contents = real(graph)
        reached.set()
        assert go_on.wait(60)
        return contents

    monkeypatch.setattr(compaction, "contents_with_changes", slow)
    with serve(folder) as client:
        ask(client, "/v1/graph/nodes", new_nodes(kind))
        ask(client, "/v1/graph/compact", {}, 202)
        assert reached.wait(60)
        assert ask(client, "/v1/graph/nodes", {**new_nodes(kind, 2, start=1), "key": "k"})["ids"] == [121, 122]
        assert client.request("DELETE", "/v1/graph/nodes", json={"nodes": [5, 120]}).status_code == 200
        assert ask(client, "/v1/graph/compact", {}, 202) == {"folder_version": 1}
        middle, scope = probabilities(client, [3, 121, 122]), ask(client, "/v1/scope", {"node": 121})
        go_on.set()
        wait_for(lambda: ask(client, "/v1/state")["folder_version"] == 1)
        assert ask(client, "/v1/state")["graph_version"] == 3
        assert (client.service.live.stored.num_nodes, client.service.live.graph.num_nodes) == (121, 123)
        assert ask(client, "/v1/scope", {"node": 121}) == scope
        np.testing.assert_allclose(probabilities(client, [3, 121, 122]), middle, **ROUNDING)
        assert ask(client, "/v1/graph/nodes", {**new_nodes(kind, 2, start=1), "key": "k"})["ids"] == [121, 122]
    assert not (folder / "log" / NEXT).exists()
    with serve(folder) as client:
        assert ask(client, "/v1/scope", {"node": 121}) == scope
        np.testing.assert_allclose(probabilities(client, [3, 121, 122]), middle, **ROUNDING)


@pytest.mark.parametrize("kind", ["plain"], indirect=True)
def test_folding_begins_by_itself_after_some_updates(kind, folder):
    notes = []
    with serve(folder, notes=notes, compact_after=3) as client:
        for number in range(7):
            ask(client, "/v1/graph/edges", {"edges": [{"from": number, "to": 60 + number}]})
            wait_for(lambda: client.service.writer.compacting is False)
        wait_for(lambda: len(notes) == 2)
        assert ask(client, "/v1/state")["folder_version"] == 6
    assert "holds 3 updates more" in notes[0]


@pytest.mark.parametrize("kind", ["plain"], indirect=True)
def test_a_failed_folding_loses_nothing_and_the_end_gives_it_up(kind, folder, monkeypatch):
    notes = []

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with serve(folder, notes=notes) as client:
        ask(client, "/v1/graph/nodes", new_nodes(kind))
        before = probabilities(client, [3, 120])
        monkeypatch.setattr(compaction, "save_contents", full)
        ask(client, "/v1/graph/compact", {}, 202)
        wait_for(lambda: len(notes) == 1)
        assert "compaction has failed, the log has all updates: [Errno 28]" in notes[0]
        np.testing.assert_allclose(probabilities(client, [3, 120]), before, **ROUNDING)
        ask(client, "/v1/graph/edges", {"edges": [{"from": 1, "to": 120}]})
        monkeypatch.undo()
        assert fold(client) == 2
        ask(client, "/v1/graph/edges", {"edges": [{"from": 2, "to": 120}]})
        client.service.writer._ending.set()
        with pytest.raises(Draining):
            client.service.writer.compact()
    with serve(folder) as client:
        assert ask(client, "/v1/state")["graph_version"] == 3


def test_a_follower_has_the_updates_soon_and_goes_on_after_folding(kind, folder):
    with serve(folder) as writer, serve(folder, follow=True) as reader:
        ask(writer, "/v1/graph/nodes", new_nodes(kind))
        wait_for(lambda: ask(reader, "/v1/state")["graph_version"] == 1)
        np.testing.assert_allclose(probabilities(reader, [3, 120]), probabilities(writer, [3, 120]), **ROUNDING)
        fold(writer)
        ask(writer, "/v1/graph/nodes", new_nodes(kind, start=1))
        wait_for(lambda: ask(reader, "/v1/state")["graph_version"] == 2)
        assert reader.service.live.stored.num_nodes == 121  # It reads the new folder.
        np.testing.assert_allclose(probabilities(reader, [3, 121]), probabilities(writer, [3, 121]), **ROUNDING)
        assert ask(reader, "/v1/state")["follows"]
        refused = ask(reader, "/v1/graph/nodes", new_nodes(kind, start=2), 403)
        assert "must be sent to the service that writes the log" in refused["error"]
        ask(reader, "/v1/graph/compact", {}, 403)
        (folder / "log" / "updates.log").write_bytes(b"")
        wait_for(lambda: reader.get("/readyz").status_code == 503)
        assert "is not a log of updates" in reader.get("/readyz").json()["error"]
        assert probabilities(reader, [3]).shape == (1, 3)


def test_a_follower_with_a_copy_of_the_old_folder_goes_on_with_the_log(kind, folder, tmp_path):
    import shutil

    shutil.copytree(folder / "g", folder / "copy")
    with serve(folder) as writer:
        ask(writer, "/v1/graph/nodes", new_nodes(kind))
        live = LiveGraph(open_graph(folder / "copy"), folder / "log", follow=True)
        late = LiveGraph(open_graph(folder / "copy"), folder / "log", follow=True)
        fold(writer)
        ask(writer, "/v1/graph/nodes", new_nodes(kind, start=1))
        assert live.catch_up() == 2
        lists = [writer.service.live.graph.list_of(node)[0].tolist() for node in range(122)]
        assert [live.graph.list_of(node)[0].tolist() for node in range(122)] == lists
        fold(writer)
        fold(writer)
        ask(writer, "/v1/graph/nodes", new_nodes(kind, start=2))
        with pytest.raises(FolderError, match="is of a newer graph folder"):
            late.catch_up()
        live.close()
        late.close()
