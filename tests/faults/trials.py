"""Commands in forks of a process that has imported everything: killed, interrupted or limited, and how each ended."""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds after which a command hangs that nobody has interrupted."""
ALLOWED = 2.0
"""Seconds within which a command answers a signal."""


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    code: int
    """Exit code, or minus the signal."""
    out: str
    err: str
    seconds: float
    """From the signal, or else from the start, to the end."""
    left: bool = False
    """Whether a process of the command outlived it."""

    @property
    def fault(self) -> str:
        """What is wrong with this ending of a command that failed or succeeded by itself; empty if nothing is."""
        if "Traceback" in self.err:
            return "traceback: " + self.err.strip().splitlines()[-1]
        if self.left:
            return "left a process"
        if self.code == 0:
            return ""
        if self.code != 2:
            return f"exit code {self.code}: {self.err[-300:]}"
        lines = self.err.splitlines()
        return "" if len(lines) == 1 and lines[0].startswith("shadow: ") else f"{len(lines)} lines: {self.err[-500:]}"


def import_everything() -> None:
    """Import what commands need, so that a fork begins at once; use one thread, as others do not survive a fork."""
    import importlib

    names = """numpy pyarrow pyarrow.parquet pyarrow.compute pyarrow.csv torch lightning_fabric
        scipy.sparse.csgraph shadow_gnn.training.runs.repeats
        shadow_gnn.graph.importing.detect shadow_gnn.inference.write_predictions shadow_gnn.inference.evaluation
        shadow_gnn.graph.verify shadow_gnn.studies.learned_scopes.phases shadow_gnn.cli.main"""
    for name in names.split():
        importlib.import_module(name)
    for name in ("optuna", "sqlalchemy.dialects.sqlite", "matplotlib.pyplot", "shadow_gnn.studies.tune.tuning"):
        with suppress(ImportError):
            importlib.import_module(name)
    import pyarrow
    import torch

    torch.set_num_threads(1)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)


class Trial:
    """A command that runs in a fork, in a group of processes of its own."""

    def __init__(self, argv: Sequence[str], folder: Path, before: Callable[[], object] = lambda: None) -> None:
        """Start it in a folder; before: called first in the fork."""
        # Pipes, since files would be cut by the limits that are tried; nothing is read before the end.
        self._pipes = [os.pipe() for _ in range(2)]
        for _, writing in self._pipes:
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._begin = time.monotonic()
        self._pid = os.fork()
        if self._pid == 0:
            self._run(argv, folder, before)
        with suppress(OSError):
            os.setpgid(self._pid, self._pid)
        for _, writing in self._pipes:
            os.close(writing)
        self._handle = os.pidfd_open(self._pid)

    def signal_after(self, seconds: float, number: int = signal.SIGKILL) -> None:
        """Send a signal after some seconds, unless it has ended."""
        if not self.ends_within(seconds):
            self._begin = time.monotonic()
            os.kill(self._pid, number)

    def ending(self, patience: float = PATIENCE) -> Ending:
        """Wait for the end; a command that takes longer is killed, and its code is -SIGKILL."""
        if not self.ends_within(patience):
            os.kill(self._pid, signal.SIGKILL)
        status = os.waitpid(self._pid, 0)[1]
        seconds = time.monotonic() - self._begin
        os.close(self._handle)
        left = self._outlived()
        said = []
        for reading, _ in self._pipes:
            with open(reading, "rb") as file:
                said.append(file.read().decode(errors="replace"))
        return Ending(os.waitstatus_to_exitcode(status), *said, seconds=seconds, left=left)

    def ends_within(self, seconds: float) -> bool:
        """Wait some seconds; return whether it has ended by then."""
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _outlived(self) -> bool:
        """Tell whether processes of the group are there after five seconds, and end them."""
        for _ in range(500):
            try:
                os.killpg(self._pid, 0)
            except (ProcessLookupError, PermissionError):
                return False
            time.sleep(0.01)
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        return True

    def _run(self, argv: Sequence[str], folder: Path, before: Callable[[], object]) -> None:
        code: Any = 99
        try:
            self._call(argv, folder, before)
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
        finally:  # Whatever happens, also for lack of memory: a fork never returns.
            with suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 0)

    def _call(self, argv: Sequence[str], folder: Path, before: Callable[[], object]) -> None:
        os.setpgid(0, 0)
        for number, (_, writing) in enumerate(self._pipes, start=1):
            os.dup2(writing, number)
            os.close(writing)
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["shadow", *argv]
        from shadow_gnn.cli.main import main

        before()
        _obey_permissions()
        main()


def _obey_permissions() -> None:
    """Give up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, with which root would write into read-only folders."""
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process.
    sets = (ctypes.c_uint32 * 6)()  # Effective, permitted and inheritable, twice 32 bits.
    libc = ctypes.CDLL(None)
    if libc.capget(head, sets) == 0:
        sets[0] &= ~6
        libc.capset(head, sets)


def run(argv: Sequence[str], folder: Path, before: Callable[[], object] = lambda: None) -> Ending:
    """Run a command to its end."""
    return Trial(argv, folder, before).ending()
