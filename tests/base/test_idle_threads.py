"""sleep_when_idle: threads of a matrix product do not hold a core while they wait."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SETTINGS = """
from shadow_gnn.base.idle_threads import sleep_when_idle
assert sleep_when_idle()
import torch
assert not sleep_when_idle()
torch.ones(512, 512) @ torch.ones(512, 512)
"""


def settings_of_openmp(**environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run(
        [sys.executable, "-c", SETTINGS],
        check=True,
        capture_output=True,
        text=True,
        env={**kept, "OMP_DISPLAY_ENV": "verbose", **environment},
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("torch has another OpenMP than GNU's")
    return done.stderr


def test_openmp_reads_the_setting_when_torch_is_loaded():
    shown = settings_of_openmp()
    assert "GOMP_SPINCOUNT = '10000'" in shown
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in shown


def test_a_choice_of_the_environment_is_kept():
    assert "GOMP_SPINCOUNT = '77'" in settings_of_openmp(GOMP_SPINCOUNT="77")
    assert "OMP_WAIT_POLICY = 'ACTIVE'" in settings_of_openmp(OMP_WAIT_POLICY="active")


@pytest.mark.parametrize("command", ["serve", "explore"])
def test_commands_that_serve_choose_before_torch_is_loaded(command):
    code = f"""
from typer.testing import CliRunner
from shadow_gnn.base import idle_threads
from shadow_gnn.cli.main import app
early = []
choose = idle_threads.sleep_when_idle
idle_threads.sleep_when_idle = lambda: early.append(choose())
CliRunner().invoke(app, ["{command}", "no-such-place"])
assert early == [True], early
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=kept, check=False)
    assert done.returncode == 0, done.stderr
