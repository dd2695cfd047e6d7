"""`shadow serve` as a process: its client, SIGTERM, SIGKILL under updates, tokens and refusals at the start."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from tests.cli.called import fault
from tests.communities import one_thread  # noqa: F401

from shadow_gnn.client import AsyncClient, Client, ServiceError


@pytest.fixture
def folder(trained):
    return trained("plain")


class Process:
    """A service on a free port."""

    def __init__(self, folder, log, *more, **environment):
        command = [sys.executable, "-m", "shadow_gnn", "serve", folder / "run", "--graph", folder / "g"]
        command += [] if log is None else ["--updates", log]
        self.process = subprocess.Popen(
            [*map(str, command), "--port", "0", "--json", *map(str, more)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )
        lines = []
        while "}\n" not in lines:
            lines.append(self.process.stdout.readline())
            assert lines[-1], self.process.stderr.read()
        self.facts = json.loads("".join(lines))
        self.url = self.facts["url"]

    def end(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def test_the_client_reaches_every_path_and_sigterm_ends_after_the_last_answer(folder, tmp_path):
    process = Process(folder, tmp_path / "log")
    with Client(process.url) as client:
        assert client.predict([1])["predictions"][0]["id"] == 1
        new = {"features": [0.0, 1.0, 2.0], "edges": [{"to": 5}]}
        assert client.predict(new_nodes=[new])["predictions"][0]["new"] == 0
        (node,) = client.add_nodes([new])["ids"]
        client.set_edges([{"from": node, "to": 3}])
        assert [3, node] in client.scope(node)["edges"]
        client.remove_edges([{"from": node, "to": 3}])
        client.remove_nodes([node])
        assert client.retrieve({1: 2.0, 4: 1.0}, topk=5)["nodes"]
        assert client.explain(1, top=3)["nodes"][0]["contribution"] != 0
        assert client.explain(new_nodes=[new], run="run")["prediction"]["new"] == 0
        with pytest.raises(ServiceError, match="422: links: run must be one that predicts links") as error:
            client.links([(1, 2)])
        assert error.value.status == 422
        with pytest.raises(ServiceError, match="predicts links"):
            client.recommend(1)

    async def use() -> None:
        async with AsyncClient(process.url) as client:
            found = await asyncio.gather(*(client.predict([node]) for node in range(20)))
            assert [answer["predictions"][0]["id"] for answer in found] == list(range(20))
            (node,) = (await client.add_nodes([new]))["ids"]
            await client.set_edges([{"from": node, "to": 3}])
            await client.remove_edges([{"from": node, "to": 3}])
            await client.remove_nodes([node])
            assert (await client.scope(1))["nodes"]
            assert (await client.retrieve([1, 4]))["nodes"]
            assert (await client.explain(1, explained_class=0))["class"] == 0
            assert (await client.state())["graph_version"] == 8
            with pytest.raises(ServiceError):
                await client.links([(1, 2)])
            with pytest.raises(ServiceError):
                await client.recommend(1)

    asyncio.run(use())
    code, _, err = process.end(signal.SIGTERM)
    assert (code, err) == (0, "")


def test_killed_under_updates_every_acknowledged_one_is_there_once(folder, tmp_path):
    acknowledged: list[int] = []
    sent = 0
    for kill in range(3):
        process = Process(folder, tmp_path / "log")
        with Client(process.url, retries=0) as client:
            assert client.predict([0])["graph_version"] == process.facts["version"] >= len(acknowledged)
            assert client.predict([0])["graph_version"] <= sent
            if acknowledged:  # Sent once more with its key, an update is not made again.
                before = client.predict([0])["graph_version"]
                client.add_nodes([{"features": [0.0, 0.0, float(acknowledged[-1])]}], key=f"update {acknowledged[-1]}")
                assert client.predict([0])["graph_version"] == before
            timer = threading.Timer(0.2 + 0.1 * kill, process.process.kill)
            timer.start()
            try:
                while True:
                    sent += 1
                    client.add_nodes([{"features": [0.0, 0.0, float(sent)]}], key=f"update {sent}")
                    acknowledged.append(sent)
            except Exception:
                timer.join()
        process.process.communicate()
    process = Process(folder, tmp_path / "log")
    assert len(acknowledged) <= process.facts["version"] <= sent
    process.end(signal.SIGTERM)


def test_a_token_is_needed_for_other_machines_and_sent_by_the_client(folder, tmp_path):
    def refused(*more: object) -> str:
        return fault("serve", folder / "run", "--graph", folder / "g", *more)

    assert "--token-file or SHADOW_TOKEN must be given" in refused("--host", "0.0.0.0")
    (tmp_path / "token").write_text("short")
    assert "must hold a token of at least 16 printable" in refused("--token-file", tmp_path / "token")
    process = Process(folder, tmp_path / "log", SHADOW_TOKEN="a-token-of-some-length")
    with Client(process.url) as client, pytest.raises(ServiceError, match="401"):
        client.predict([1])
    with Client(process.url, token="a-token-of-some-length") as client:
        assert client.predict([1])
    assert "is in use by another process" in refused("--updates", tmp_path / "log", "--port", 0)
    process.end(signal.SIGTERM)


def test_the_client_tries_again_when_the_service_is_busy_or_gone(folder, tmp_path):
    begin = time.monotonic()
    with Client("http://127.0.0.1:9", retries=1) as client, pytest.raises(Exception, match="refused"):
        client.predict([1])
    assert time.monotonic() - begin > 0.04
