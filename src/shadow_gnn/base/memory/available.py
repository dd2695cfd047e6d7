"""How much memory this process may still use.

Not for: how much it will need (needs.py).
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may still use: what the system has free and its control groups allow.

    root: where /proc and /sys are. None where nothing can be found out.
    """
    found = [size for size in (_free_memory(root), *_group_limits(root)) if size is not None]
    return min(found) if found else None


def _free_memory(root: Path) -> int | None:
    """Return what the whole machine has to give."""
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass  # Not Linux: the next ways are portable.
    try:
        return int(import_module("psutil").virtual_memory().available)
    except ImportError:
        pass
    names = getattr(os, "sysconf_names", {})
    pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in names else "SC_PHYS_PAGES"
    try:
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _group_limits(root: Path) -> list[int | None]:
    """Return what is left below the limit of each control group above this process, in either version."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    left: list[int | None] = []
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            left += _left(root / "sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            left += _left(root / "sys/fs/cgroup/memory", path, *names)
    return left


def _left(mount: Path, path: str, limit: str, usage: str, reclaimable: str) -> list[int | None]:
    """Return what is left in a group and in those around it; in a container, its own group is the mount itself."""
    own = mount / path.lstrip("/")
    groups = [own, *own.parents][: len(own.parents) - len(mount.parents) + 1]
    return [_left_in(group, limit, usage, reclaimable) for group in groups]


def _left_in(group: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    most, used = _number(group / limit), _number(group / usage)
    # Version 1 writes a number beyond any machine where there is no limit.
    if most is None or used is None or most >= 2**60:
        return None
    try:
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        dropped = int(statistics.get(reclaimable, 0))
    except (OSError, ValueError):
        dropped = 0
    return max(most - used + dropped, 0)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
