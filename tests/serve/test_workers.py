"""`shadow serve --workers`: updates reach all processes before they are answered, also when one of them dies."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from tests.cli.called import fault
from tests.communities import one_thread  # noqa: F401
from tests.rounding import ROUNDING
from tests.serve.runs import train
from tests.serve.test_process import Process

from shadow_gnn.client import Client
from shadow_gnn.graph.store import open_graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.training.model_file import read_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return train("plain", tmp_path_factory.mktemp("run"))


def fresh_answer(url, path, body):
    """Ask over a new connection, which any of the processes may get."""
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    content = json.loads(response.read())
    connection.close()
    assert response.status == 200, content
    return content


def worker_pids(process):
    """Return the processes that the first one has started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True)
    return [int(pid) for pid in found.stdout.split()]


def test_every_worker_has_an_update_before_it_is_answered(folder, tmp_path):
    process = Process(folder, tmp_path / "log", "--workers", "2")
    pids = worker_pids(process.process)
    assert len(pids) == 2
    for version in range(1, 16):
        made = fresh_answer(process.url, "/v1/graph/edges", {"edges": [{"from": version, "to": 60 + version}]})
        assert made["graph_version"] == version
        for _ in range(4):
            assert fresh_answer(process.url, "/v1/predict", {"nodes": [version]})["graph_version"] >= version
    # Both processes answer, with the same probabilities as one alone.
    expected = Predictor(read_model(folder / "run"), open_graph(folder / "g")).predict([100]).probability[0]
    assert fresh_answer(process.url, "/v1/predict", {"nodes": [100]})["predictions"][0]["num_nodes"] > 0
    assert len(expected) == 3
    with Client(process.url) as client:
        answer = client.set_edges([{"from": 1, "to": 99}], key="k")
        assert client.set_edges([{"from": 1, "to": 99}], key="k") == answer
        assert client.state()["graph_version"] == 16
        assert client.reload()["runs"]["run"]["model_version"] == client.predict([1])["model_version"]
        version = client.compact()["folder_version"]
        until = time.monotonic() + 60
        while client.state()["folder_version"] != version:
            assert time.monotonic() < until
            time.sleep(0.02)
        assert client.set_edges([{"from": 1, "to": 99}], key="k") == answer
        text = client._http.get("/metrics").text
        assert "shadow_graph_version 16.0" in text
    # One dies: the other one answers, updates go on, and it is started again.
    os.kill(pids[0], signal.SIGKILL)
    with Client(process.url) as client:
        for number in range(10):
            client.set_edges([{"from": 2, "to": 80 + number}])
            assert client.predict([2])["graph_version"] >= 17 + number
    until = time.monotonic() + 60
    while len(set(worker_pids(process.process)) - {pids[0]}) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    last = fresh_answer(process.url, "/v1/predict", {"nodes": [2]})
    code, _, err = process.end(signal.SIGTERM)
    assert code == 0
    assert f"worker {pids[0]} has ended with -9" in err
    single = Process(folder, tmp_path / "log")
    with Client(single.url) as client:
        again = client.predict([2])
        assert again["graph_version"] == 26
        for left, right in zip(again["predictions"], last["predictions"], strict=True):
            np.testing.assert_allclose(
                list(left["probabilities"].values()), list(right["probabilities"].values()), **ROUNDING
            )
    single.end(signal.SIGTERM)


def test_workers_end_with_the_first_process_and_a_run_that_cannot_be_served_is_one_line(folder, tmp_path):
    process = Process(folder, tmp_path / "log", "--workers", "2")
    pids = worker_pids(process.process)
    process.process.kill()
    process.process.communicate()
    until = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{pid}") for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.05)
    options = ["--graph", folder / "g", "--port", 0, "--updates", tmp_path / "log", "--workers", 2]
    line = fault("serve", folder / "run", *options, "--extractor", "{kind = 'rwr'}")
    assert "extractor must be ppr, khop, full, node, heat" in line


def test_a_follower_is_read_only_and_options_of_a_writer_are_refused(folder, tmp_path):
    writer = Process(folder, tmp_path / "log")
    for more, line in (
        (["--follow", tmp_path / "log", "--workers", 2], "--workers must be 1 with --follow"),
        (["--follow", tmp_path / "log", "--updates", tmp_path / "log"], "--updates must be left out"),
        (["--follow", tmp_path / "none"], "is it the log of a service"),
        (["--run", "x"], "--run must be NAME=FOLDER"),
    ):
        assert line in fault("serve", folder / "run", "--graph", folder / "g", "--port", 0, *more)
    reader = Process(folder, None, "--follow", tmp_path / "log")
    with Client(writer.url) as one, Client(reader.url) as other:
        one.set_edges([{"from": 1, "to": 2}])
        until = time.monotonic() + 60
        while other.state()["graph_version"] != 1:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert other.predict([1])["graph_version"] == 1
        writer.process.send_signal(signal.SIGHUP)
        assert one.predict([1])["graph_version"] == 1
    assert reader.end(signal.SIGTERM)[0] == 0
    code, _, err = writer.end(signal.SIGTERM)
    assert (code, "the runs were read again" in err) == (0, True)
