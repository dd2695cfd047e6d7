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
    waited: float = 0.0
    """Seconds of these in which others had the processor."""
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


def waited(pid: int) -> float:
    """Return the seconds that the main thread of a process waited for a processor; 0 if the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


class Trial:
    """A command that runs in a fork, in a group of processes of its own."""

    def __init__(self, argv: Sequence[str], folder: Path, before: Callable[[], object] = lambda: None) -> None:
        """Start it in a folder; before: called first in the fork."""
        # Pipes, since files would be cut by the limits that are tried; nothing is read before the end.
        self._pipes = [os.pipe() for _ in range(2)]
        for _, writing in self._pipes:
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._begin, self._waited = time.monotonic(), 0.0
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # It may vanish before the fork runs.
        self.pid = os.fork()
        if self.pid == 0:
            self._run(argv, place, before)
        os.close(place)
        with suppress(OSError):
            os.setpgid(self.pid, self.pid)
        for _, writing in self._pipes:
            os.close(writing)
        self._handle = os.pidfd_open(self.pid)
        self._early = b""

    def says(self, end: str, patience: float = PATIENCE) -> str:
        """Wait until its output ends so, and return it; without that end if the process ended before."""
        reading, late = self._pipes[0][0], time.monotonic() + patience
        while not self._early.endswith(end.encode()) and time.monotonic() < late:
            if not select.select([reading], [], [], patience)[0] or not (part := os.read(reading, 1 << 16)):
                break
            self._early += part
        return self._early.decode()

    def signal_after(self, seconds: float, number: int = signal.SIGKILL) -> None:
        """Send a signal after some seconds, unless it has ended."""
        if not self.ends_within(seconds):
            self._begin, self._waited = time.monotonic(), waited(self.pid)
            os.kill(self.pid, number)

    def ending(self, patience: float = PATIENCE) -> Ending:
        """Wait for the end; a command that takes longer is killed, and its code is -SIGKILL."""
        if not self.ends_within(patience):
            os.kill(self.pid, signal.SIGKILL)
        self.ends_within(patience)
        times = {"seconds": time.monotonic() - self._begin, "waited": waited(self.pid) - self._waited}
        status = os.waitpid(self.pid, 0)[1]
        os.close(self._handle)
        left = self._outlived()
        said = []
        for reading, _ in self._pipes:
            with open(reading, "rb") as file:
                said.append(file.read().decode(errors="replace"))
        said[0] = self._early.decode(errors="replace") + said[0]
        return Ending(os.waitstatus_to_exitcode(status), *said, left=left, **times)

    def ends_within(self, seconds: float) -> bool:
        """Wait some seconds; return whether it has ended by then."""
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _outlived(self) -> bool:
        """Tell whether processes of the group are there after five seconds, and end them."""
        for _ in range(500):
            try:
                os.killpg(self.pid, 0)
            except (ProcessLookupError, PermissionError):
                return False
            time.sleep(0.01)
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        return True

    def _run(self, argv: Sequence[str], place: int, before: Callable[[], object]) -> None:
        code: Any = 99
        try:
            self._call(argv, place, before)
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
        finally:  # Whatever happens, also for lack of memory: a fork never returns.
            with suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 0)

    def _call(self, argv: Sequence[str], place: int, before: Callable[[], object]) -> None:
        os.setpgid(0, 0)
        for number, (_, writing) in enumerate(self._pipes, start=1):
            os.dup2(writing, number)
            os.close(writing)
        os.fchdir(place)
        os.close(place)
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
