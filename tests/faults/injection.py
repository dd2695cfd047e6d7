"""The injector of faults: built with the C compiler, preloaded into the process of the campaign, armed in its forks."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = {"write": 1, "fsync": 2, "rename": 4, "open": 8, "mmap": 16}
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EROFS": errno.EROFS}
ONCE, FROM_THEN_ON, KILL = range(3)
MISSING = "needs a C compiler on Linux"


def build(folder: Path) -> Path | None:
    """Build the library in a folder; None where that is not possible."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return None
    folder.mkdir(exist_ok=True)
    library, source = folder / "injector.so", Path(__file__).with_name("injector.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def restart_with_injector(module: str) -> None:
    """Start this program again with the injector and one thread; return if it is there."""
    if "SHADOW_FAULTS" in os.environ:
        return
    environment = dict(os.environ, OMP_NUM_THREADS="1", SHADOW_FAULTS=sys.executable)
    library = build(Path(tempfile.mkdtemp(prefix="shadow-injector-")))
    if library is not None:
        environment |= {"LD_PRELOAD": str(library)}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", module, *sys.argv[1:]]
    os.execve(sys.executable, command, environment)


def remove_injector() -> None:
    """Remove the built library, which the process keeps until it ends."""
    if library := os.environ.pop("LD_PRELOAD", ""):
        shutil.rmtree(Path(library).parent)


def is_there() -> bool:
    """Tell whether the injector is preloaded."""
    return hasattr(ctypes.CDLL(None), "faults_arm")


def arm(folder: Path, kinds: int, at: int, error: int = 0, action: int = ONCE) -> None:
    """Count the operations below a folder in this process and its forks, and let the at-th fail or kill."""
    ctypes.CDLL(None).faults_arm(os.fsencode(folder), kinds, ctypes.c_long(at), error, action)


def num_seen() -> int:
    """Return the operations since the last fork was armed."""
    seen = ctypes.CDLL(None).faults_seen
    seen.restype = ctypes.c_long
    return int(seen())


def let_clock_jump(seed: int) -> None:
    """Let the clock of the wall jump by up to 20 years, again and again."""
    ctypes.CDLL(None).faults_clock(seed)
