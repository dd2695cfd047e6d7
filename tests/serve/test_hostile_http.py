"""Requests made up by schemathesis from the OpenAPI description: no 500, no undocumented answer.

All checks but one: the description cannot say which nodes a graph has, so that some requests that fit it are refused.

SHADOW_CASES=5000 python -m pytest -s -m slow --timeout 7200 tests/serve/test_hostile_http.py
Makes up to so many requests for each of the paths.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
import uvicorn
from tests.communities import one_thread  # noqa: F401
from tests.serve.runs import open_service, train

from shadow_gnn.serve.app import create_app


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_requests_made_from_the_description_find_no_fault(kind, tmp_path):
    pytest.importorskip("schemathesis")
    service = open_service(train(kind, tmp_path / "run"), tmp_path / "log")
    opened = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_level="critical"))
    thread = threading.Thread(target=lambda: server.run(sockets=[opened]))
    thread.start()
    url = f"http://127.0.0.1:{opened.getsockname()[1]}"
    try:
        while not server.started:
            time.sleep(0.01)
        count = os.environ.get("SHADOW_CASES", "50")
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json", "--checks", "all"]
        command += ["--exclude-checks", "positive_data_acceptance"]
        command += ["--max-examples", count, "--phases", "examples,coverage,fuzzing", "--generation-database", "none"]
        done = subprocess.run([*command, "--no-color"], capture_output=True, text=True, check=False, cwd=tmp_path)
        print(done.stdout[-1500:])  # How many requests were made; shown by -s.
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert httpx.get(f"{url}/healthz").status_code == 200
    finally:
        server.should_exit = True
        thread.join()
