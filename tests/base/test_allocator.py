"""keep_freed_memory: large blocks are reused instead of being mapped again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS_OF_40_LARGE_ARRAYS = """
import resource, sys
import numpy as np
from shadow_gnn.base.allocator import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
def fill():
    np.ones(40_000_000 // 8)
fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(40):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(mode: str) -> int:
    command = [sys.executable, "-c", FAULTS_OF_40_LARGE_ARRAYS, mode]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_large_arrays_cause_no_page_faults_once_memory_is_kept() -> None:
    kept, plain = faults("keep"), faults("plain")
    assert kept < plain / 10
