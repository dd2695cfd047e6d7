"""Some hundred random hostile calls into every entry of the core; `make fuzz-core` makes 100,000 of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_hostile_calls_return_or_raise_named_errors() -> None:
    command = [sys.executable, "-m", "tests.core.hostile_calls", "--calls", "800", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("800 calls of seed 7, ")
