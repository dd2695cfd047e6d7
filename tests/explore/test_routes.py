"""The explorer over HTTP: its files, headers, faults and token, alone and next to a service."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys

import httpx
import pytest
from fastapi.testclient import TestClient
from tests.communities import one_thread  # noqa: F401
from tests.explore.explored import open_explorer, scope, train
from tests.serve.runs import open_service
from typer.testing import CliRunner

from shadow_gnn.base.errors import RunError
from shadow_gnn.cli.main import app
from shadow_gnn.explore.explorer import Explorer
from shadow_gnn.explore.pages import FOLDER, read_assets
from shadow_gnn.explore.routes import add_explorer, create_explorer_app
from shadow_gnn.explore.serving import explorer_of
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.graph.store import open_graph
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.served_run import open_served
from shadow_gnn.serve.service import Service

TOKEN, LOCAL = "0123456789abcdef", "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return train("rich", tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def client(folder):
    served = create_explorer_app(open_explorer(folder))
    with TestClient(served, LOCAL, raise_server_exceptions=False) as found:
        yield found


def test_the_page_and_its_files_are_sent_with_strict_headers(client):
    assets = read_assets()
    paths = {"/": "index.html"} | {f"/explore/{name}": name for name in assets}
    assert "cytoscape.js" in paths.values()
    for path, name in paths.items():
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.content == (FOLDER / name).read_bytes()
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    kinds = {"/": "text/html", "/explore/main.js": "text/javascript", "/explore/page.css": "text/css"}
    for path, kind in kinds.items():
        assert client.get(path).headers["content-type"].startswith(kind)


def test_files_are_compressed_for_those_who_can_read_it(client):
    plain = client.get("/explore/cytoscape.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with client.stream("GET", "/explore/cytoscape.js", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < len(plain.content) / 2


def test_all_files_together_are_small():
    assert sum(len(asset.compressed) for asset in read_assets().values()) <= 300 << 10


@pytest.mark.parametrize(
    "path",
    ["/explore/../explorer.py", "/explore/..%2fexplorer.py", "/explore/%2e%2e/explorer.py", "/explore/", "/explore/x"],
)
def test_no_path_names_another_file(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert list(answer.json()) == ["error"]


def test_questions_are_answered(client):
    about = client.get("/v1/explore/about").json()
    assert about["runs"][0]["name"] == "run"
    assert client.get("/v1/explore/find", params={"text": "n11", "limit": 2}).json()["nodes"][0]["id"] == 11
    found = client.post("/v1/explore/scope", json={"node": "n11", "run": "run", "explain": True})
    assert found.status_code == 200
    assert found.json()["nodes"][0]["name"] == "n11"
    while (split := client.get("/v1/explore/split", params={"run": "run", "split": "test"}).json())["progress"] < 1:
        pass
    assert split["count"] == 30
    picked = client.post("/v1/explore/pick", json={"by": "wrong", "run": "run", "split": "test"}).json()
    assert picked["progress"] == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "line"),
    [
        ("POST", "/v1/explore/scope", {"node": 999}, 422, "node: must be node ids from 0 to 119, got 999"),
        ("POST", "/v1/explore/scope", {"node": 1, "deep": 3}, 422, "body.deep: Extra inputs are not permitted"),
        ("POST", "/v1/explore/scope", {"node": -1}, 422, "body.node"),
        ("POST", "/v1/explore/scope", b"{", 400, "body: must be JSON"),
        ("POST", "/v1/explore/pick", {"by": "luck"}, 422, "body.by"),
        ("GET", "/v1/explore/find", None, 422, "query.text: Field required"),
        ("GET", "/v1/explore/find?text=a&limit=0", None, 422, "find: limit must be from 1 to 1000, got 0"),
        ("GET", "/v1/explore/find?text=" + 1001 * "a", None, 422, "find: text must have at most 1000 characters"),
        ("GET", "/v1/explore/split?run=no", None, 422, "run: must be one of run, got 'no'"),
        ("GET", "/v1/explore/nothing", None, 404, "Not Found"),
        ("GET", "/v1/explore/scope", None, 405, "Method Not Allowed"),
    ],
)
def test_faults_are_one_line(client, method, path, body, status, line):
    content = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
    answer = client.request(method, path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    (text,) = answer.json().values()
    assert text.startswith(line)
    assert "\n" not in text


def test_a_token_guards_answers_but_not_the_page(folder):
    with TestClient(create_explorer_app(open_explorer(folder), token=TOKEN)) as client:
        assert client.get("/").status_code == client.get("/explore/main.js").status_code == 200
        assert client.get("/v1/explore/about").status_code == 401
        assert client.post("/v1/explore/scope", json={"node": 1}).status_code == 401
        given = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get("/v1/explore/about", headers=given).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "[", "", "0.0.0.0"])
def test_other_names_of_this_machine_are_refused(client, host):
    for path in ("/", "/v1/explore/about"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 403
        assert answer.json()["error"].startswith("host: must be localhost")


@pytest.mark.parametrize("host", ["localhost:1", "[::1]:80", "127.0.0.1"])
def test_every_name_of_this_machine_alone_is_welcome(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


def test_large_bodies_are_refused(folder):
    explorer = open_explorer(folder)
    with TestClient(create_explorer_app(explorer), LOCAL) as client:
        body = b'{"node": "' + b"a" * explorer.limits.body_bytes + b'"}'
        assert client.post("/v1/explore/scope", content=body).status_code == 413


def test_a_service_shows_its_graph_with_all_updates(folder):
    service = open_service(folder)
    explorer = explorer_of(service, {"run": folder / "run"})
    served = create_app(service, extend=lambda app: add_explorer(app, explorer))
    with TestClient(served) as client:
        assert client.get("/").status_code == 200
        before = client.post("/v1/explore/scope", json={"node": 3, "run": "run"}).json()
        predicted = client.post("/v1/predict", json={"nodes": [3]}).json()["predictions"][0]
        assert predicted["class"] == before["prediction"]["number"]
        edge = {"from": "n3", "to": "n80", "weight": 2.0, "attributes": [1.0, 1.0]}
        assert client.post("/v1/graph/edges", json={"edges": [edge]}).status_code == 200
        after = client.post("/v1/explore/scope", json={"node": 3, "run": "run", "explain": True}).json()
        predicted = client.post("/v1/predict", json={"nodes": [3]}).json()["predictions"][0]
        shown = {one["name"]: one["probability"] for one in after["prediction"]["probabilities"]}
        assert shown == pytest.approx(predicted["probabilities"], rel=1e-5)
        assert 80 in [node["id"] for node in after["nodes"]]
        assert (before["graph_version"], after["graph_version"]) == (0, 1)
        undone = {"node": 3, "run": "run", "edits": {"remove_edges": [{"from": 3, "to": 80}]}}
        again = client.post("/v1/explore/scope", json=undone).json()
        assert [node["id"] for node in again["nodes"]] == [node["id"] for node in before["nodes"]]
        assert client.post("/v1/explore/scope", json={"node": 3, "extractor": {"kind": "katz"}}).status_code == 200
    explorer.close()


def test_a_service_that_reads_its_runs_again_shows_the_new_ones(folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(folder / "run", run)
    graph = open_graph(folder / "g")
    service = Service({"run": open_served(run, graph)}, open_run=lambda *_: open_served(run, graph))
    explorer = explorer_of(service, {"run": run})
    served = create_app(service, extend=lambda app: add_explorer(app, explorer))
    with TestClient(served) as client:
        assert [one["name"] for one in client.get("/v1/explore/about").json()["runs"]] == ["run"]
        first = explorer.runs["run"]
        client.get("/v1/explore/about")
        assert explorer.runs["run"] is first
        assert client.post("/v1/reload", json={}).status_code == 200
        client.get("/v1/explore/about")
        assert explorer.runs["run"] is not first
    explorer.close()


def test_a_service_starts_without_pyg():
    rooms = "shadow_gnn.serve.start, shadow_gnn.explore.routes, shadow_gnn.explore.serving"
    code = f"import sys, {rooms}; print('torch_geometric' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_removed_node_of_a_live_graph_has_no_name(folder):
    service = open_service(folder)
    explorer = Explorer(service.live, name="g")
    service.live.commit([Update(remove_nodes=(7,))])
    assert scope(explorer, node=7)["nodes"][0]["name"] == ""
    explorer.close()
    service.close()


@pytest.fixture
def started(folder):
    """Return a function that starts `shadow explore` and gives its process and its facts."""
    processes = []

    def start(*more, **environment):
        command = [sys.executable, "-m", "shadow_gnn", "explore", folder / "g", "--no-open", "--json", *more]
        process = subprocess.Popen(
            [*map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )
        processes.append(process)
        lines = []
        while "}\n" not in lines:
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
        return process, json.loads("".join(lines))

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_the_command_serves_until_a_signal(started, folder):
    process, facts = started("--run", folder / "run")
    assert facts["runs"] == ["run"]
    assert httpx.get(facts["url"]).text.lower().startswith("<!doctype html>")
    about = httpx.get(facts["url"] + "v1/explore/about").json()
    assert (about["graph"]["name"], about["graph"]["nodes"]) == ("g", 120)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def refused(*arguments):
    done = CliRunner().invoke(app, ["explore", *map(str, arguments)])
    assert isinstance(done.exception, (ValueError, RunError))
    return str(done.exception)


def test_other_machines_need_a_token(folder, monkeypatch):
    monkeypatch.delenv("SHADOW_TOKEN", raising=False)
    assert refused(folder / "g", "--host", "0.0.0.0").startswith(
        "explore: --token-file or SHADOW_TOKEN must be given to serve other machines"
    )


def test_a_folder_without_a_run_is_refused(folder, tmp_path):
    assert refused(folder / "g", "--run", tmp_path / "none").startswith(str(tmp_path / "none"))


def test_runs_in_folders_of_the_same_name_are_told_apart(folder, monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr("shadow_gnn.serve.server.run_app", lambda app, opened, started: (started(), opened.close()))
    monkeypatch.setattr("webbrowser.open", shown.append)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    (tmp_path / "other").symlink_to(folder)
    both = ["--run", folder / "run", "--run", tmp_path / "other" / "run"]
    done = CliRunner().invoke(app, ["explore", *map(str, (folder / "g", *both, "--json", "--token-file", token))])
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert facts["runs"] == [str(folder / "run"), str(tmp_path / "other" / "run")]
    assert shown == [f"{facts['url']}#token={TOKEN}"]


def test_a_missing_library_is_named_with_its_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in ("shadow_gnn.explore.routes", "shadow_gnn.serve.server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert refused(folder / "g") == "explore: uvicorn must be installed; pip install 'shadow-gnn[serve]'"
