"""The files in docs/serving-running.md, the Dockerfile and compose.yaml name options, paths and times that exist."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from tests.serve.runs import open_service
from typer.main import get_command

from shadow_gnn.cli.main import app
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.server import DRAIN_SECONDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serving-running.md").read_text()
BLOCKS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
DOCKER = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
(UNIT,) = [block for block in BLOCKS if block.startswith("[Unit]")]
(PODS,) = [[*yaml.safe_load_all(block)] for block in BLOCKS if block.startswith("apiVersion")]
(ENTRY,) = [json.loads(text) for text in re.findall(r"^ENTRYPOINT (.*)$", DOCKER, re.MULTILINE)]


def options_of_serve() -> set[str]:
    command = get_command(app).commands["serve"]
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")}


def unit() -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read_string(UNIT)
    return dict(parser["Service"])


def pod() -> dict[str, object]:
    return PODS[0]["spec"]["template"]["spec"]


def readers() -> list[str]:
    (found,) = re.findall(r"`command: \[(.*?)\]`", PAGE, re.DOTALL)
    return [word.strip() for word in found.split(",")]


@pytest.mark.parametrize(
    "words",
    [
        shlex.split(unit()["ExecStart"]),
        [*ENTRY, *COMPOSE["services"]["shadow"]["command"]],
        [*ENTRY, *pod()["containers"][0]["args"]],
        readers(),
    ],
    ids=["systemd", "compose", "kubernetes", "readers"],
)
def test_commands_have_options_that_exist(words):
    assert Path(words[0]).name == "shadow"
    assert words[1] == "serve"
    given = {word for word in words if word.startswith("--")}
    assert given <= options_of_serve()
    assert {"--graph", "--host"} < given
    assert ("--follow" in given) != ("--updates" in given)


def test_health_checks_ask_paths_that_exist(trained):
    paths = {getattr(route, "path", "") for route in create_app(open_service(trained("plain"))).routes}
    (container,) = pod()["containers"]
    asked = {container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")}
    asked |= set(re.findall(r"http://127\.0\.0\.1:8080(/\w+)", DOCKER))
    assert asked == {"/healthz", "/readyz"} <= paths
    ports = {container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")}
    assert ports == {8080} == {container["ports"][0]["containerPort"], PODS[1]["spec"]["ports"][0]["targetPort"]}


def test_every_way_waits_longer_than_the_last_answers_may_take():
    waits = [
        int(unit()["TimeoutStopSec"]),
        pod()["terminationGracePeriodSeconds"],
        int(COMPOSE["services"]["shadow"]["stop_grace_period"].removesuffix("s")),
        *map(int, re.findall(r"--stop-timeout (\d+)", PAGE)),
    ]
    assert len(waits) == 4
    assert min(waits) > DRAIN_SECONDS


def test_prometheus_sends_the_token_that_the_service_reads():
    service, prometheus = COMPOSE["services"]["shadow"], COMPOSE["services"]["prometheus"]
    assert service["secrets"] == prometheus["secrets"] == ["token"]
    (job,) = yaml.safe_load(COMPOSE["configs"]["prometheus"]["content"])["scrape_configs"]
    assert job["authorization"]["credentials_file"] == service["command"][1] == "/run/secrets/token"
    assert job["static_configs"] == [{"targets": ["shadow:8080"]}]


def test_the_user_of_the_image_is_that_of_the_pod():
    assert re.search(r"useradd .*--uid 10001 ", DOCKER)
    assert pod()["securityContext"]["runAsUser"] == pod()["securityContext"]["fsGroup"] == 10001
