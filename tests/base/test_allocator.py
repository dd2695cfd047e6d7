"""Allocator: large blocks are reused instead of being mapped again, and given back when asked."""

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


ANONYMOUS_MEGABYTES = """
import ctypes, sys, threading
from pathlib import Path
from shadow_gnn.base.allocator import give_back_memory, keep_freed_memory
keep_freed_memory()
library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
def megabytes():
    (line,) = [row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("RssAnon")]
    return int(line.split()[1]) // 1024
def work():
    blocks = [library.malloc(1 << 20) for _ in range(60)]
    for block in blocks:
        ctypes.memset(block, 1, 1 << 20)
    if sys.argv[1] == "a block after it":
        library.malloc(1 << 20)
    for block in blocks:
        library.free(block)
    if sys.argv[2] == "give back":
        assert give_back_memory()
before = megabytes()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(megabytes() - before)
"""


def growth(*words: str) -> int:
    command = [sys.executable, "-c", ANONYMOUS_MEGABYTES, *words]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
@pytest.mark.parametrize("blocks", ["nothing after it", "a block after it"])
def test_memory_of_large_work_in_a_thread_is_given_back_when_asked(blocks) -> None:
    assert growth(blocks, "leave") > 40
    assert growth(blocks, "give back") < 5
