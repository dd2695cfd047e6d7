"""IdleThreads: let the threads of a matrix product sleep while they wait, so that other work gets their cores.

Not for: the library itself. The setting changes the whole process, so only our commands use it.
"""

from __future__ import annotations

import os
import sys

_POLICY, _SPINS = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"
_FEW = "10000"
"""Looks at a barrier before a thread sleeps: 0.1 ms, longer than between two layers; OpenMP's own choice is 3 ms."""


def sleep_when_idle() -> bool:
    """Choose short waits for OpenMP, unless the environment chooses; return False if torch is loaded already.

    A thread that spins at a barrier holds a core that the thread it waits for may need: next to a busy process, a small
    forward pass then takes 50 times as long. Call it once, before torch is imported. Processes started later inherit
    the choice.
    """
    if not (_POLICY in os.environ or _SPINS in os.environ):
        os.environ[_POLICY], os.environ[_SPINS] = "passive", _FEW
    return "torch" not in sys.modules
