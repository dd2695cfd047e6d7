"""The vector path of the innermost loop against the plain one, compiled on the spot."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("c++")


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
def test_vector_path_equals_the_plain_one(tmp_path: Path) -> None:
    program = tmp_path / "check"
    core = HERE.parents[1] / "core"
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    command = [str(COMPILER), "-std=c++17", "-O2", f"-I{core}", str(HERE / "pick_check.cpp"), "-o", str(program)]
    subprocess.run(command, check=True, env=environment)
    done = subprocess.run([program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout in ("same\n", "no vector path on this machine\n")
