"""CPU time: processor seconds used so far by this process and its ended children.

Not for: elapsed time, which also grows while other programs run.
"""

from __future__ import annotations

import resource
import time


def cpu_seconds() -> float:
    """Return user and system time of all threads of this process and of children that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
