"""Numbered trials in a fork, watched by a process that reports a trial that kills the fork or never ends."""

from __future__ import annotations

import mmap
import os
import signal
import sys
import time
from collections.abc import Callable

DEAF = 30.0
"""Seconds until a trial that answers nothing is given up."""
FAULT = 3
"""Exit code of trials that found a fault and reported it; others are of the fork's death."""


def watch(what: str, numbers: range, work: Callable[[range, Callable[[int], None]], int]) -> int:
    """Let a fork work through numbers, telling each one as it begins; return an exit code.

    what: names the trials in reports, such as "call". work returns an exit code.
    """
    at = mmap.mmap(-1, 8)

    def tell(number: int) -> None:
        at[:8] = number.to_bytes(8, "little")

    pid = os.fork()
    if pid == 0:
        code = work(numbers, tell)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    last, since = bytes(at[:8]), time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        number = int.from_bytes(at[:8], "little")
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code not in (0, FAULT):
                print(f"{what} {number}: the process died with {code}", file=sys.stderr)
            return int(code != 0)
        if bytes(at[:8]) != last:
            last, since = bytes(at[:8]), time.monotonic()
        if time.monotonic() - since > DEAF:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            print(f"{what} {number}: is deaf to signals", file=sys.stderr)
            return 1
        time.sleep(0.02)
