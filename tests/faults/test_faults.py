"""Short fault campaigns: each of them finds nothing, runs some trials, and a broken program would be found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import injection
from tests.faults.__main__ import NAMES

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

# Each within seconds; the full ones are `make faults`.
SHORT = {
    "kills": ["--count", "2", "--job", "import --memory", "--job", "train", "--job", "predict", "--job", "tune"],
    "chains": ["--count", "1", "--job", "nodes", "--job", "links", "--job", "warm", "--job", "joint"],
    "disk": ["--count", "6", "--job", "import", "--job", "train", "--job", "data diffuse", "--job", "tune"],
    "cuts": ["--count", "3", "--job", "train", "--job", "data info", "--job", "predict"],
    "limits": ["--count", "1", "--job", "import", "--job", "train"],
    "clock": ["--count", "1", "--job", "train", "--job", "import --memory"],
    "signals": ["--count", "1", "--job", "train", "--job", "data generate", "--job", "extract"],
    "equal": ["--count", "100", "--job", "ppr"],
    "growth": ["--count", "300"],
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    command = [sys.executable, "-m", "tests.faults", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=280)


@pytest.mark.parametrize("name", NAMES)
def test_a_short_campaign_finds_no_fault(name: str) -> None:
    done = run("--only", name, *SHORT[name])
    assert done.returncode == 0, done.stdout + done.stderr
    if injection.MISSING in done.stdout:
        pytest.skip(injection.MISSING)
    assert re.fullmatch(rf"{name}: .*[1-9].*; 0 faults; \d+ s\n", done.stdout)
