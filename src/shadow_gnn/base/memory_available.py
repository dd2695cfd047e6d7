"""Available memory: how much this process may still use, and whether a memory need fits.

Not for: the need of a training method (memory_needs.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from shadow_gnn.base.memory_needs import MemoryNeed


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may still use: the system's free memory, limited by its control groups.

    root: the folder with proc and sys. None if the system does not report it.

    >>> available = sg.available_memory()
    >>> available is None or available > 0
    True
    """
    found = [size for size in (_free_memory(root), *_group_limits(root)) if size is not None]
    return min(found) if found else None


def check_need(need: MemoryNeed, available: int | None, *, advice: Sequence[str] = ()) -> None:
    """Raise unless a memory need is within the available bytes; None if those are unknown.

    advice: remedies, the most promising first; by default those for this training method.

    >>> need = sg.full_batch_need(sg.GraphCounts(1000, 5000, 64, 7), sg.ModelCounts())
    >>> sg.check_need(need, available=10**9)
    """
    if available is None or need.total <= available:
        return
    largest = max(need.parts, key=lambda name: need.parts[name])
    tries = ", or ".join(advice or advice_for(need))
    raise ValueError(
        f"memory: {need.name} needs about {readable(need.total)} "
        f"({readable(need.parts[largest])} of it {largest}), got {readable(available)}; try {tries}"
    )


def advice_for(need: MemoryNeed) -> list[str]:
    """Return settings that lower the memory need of a training method."""
    if need.name == "full":
        return ['training.method = "shadow"', "a smaller model.hidden_dim", 'training.precision = "bf16"']
    if need.name in ("raw", "smoothed", "sgc", "lp") or need.name.startswith("sign"):
        return ["fewer powers", "shadow train, whose memory does not grow with the graph"]
    tries = ["a lower training.batch_size"]
    if need.parts.get("cached scopes", 0) * 2 > need.total:
        tries = ["a lower training.cache_megabytes", 'training.cache = "disk"']
    if need.name in ("saint", "neighbor"):
        tries.append('training.method = "shadow"')
    return [*tries, "a smaller model.hidden_dim", 'training.precision = "bf16"']


def readable(size: int) -> str:
    """Format a number of bytes for people, in powers of 1000."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.2g} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def _free_memory(root: Path) -> int | None:
    """Return the free memory of the whole machine."""
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass  # Not Linux: the methods below are portable.
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
    """Return the bytes left below the limit of each control group of this process, in either version."""
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
    """Return the bytes left in a group and its parents; in a container, its own group is the mount itself."""
    own = mount / path.lstrip("/")
    groups = [own, *own.parents][: len(own.parents) - len(mount.parents) + 1]
    return [_left_in(group, limit, usage, reclaimable) for group in groups]


def _left_in(group: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    most, used = _number(group / limit), _number(group / usage)
    # Without a limit, version 1 reports a number larger than any machine's memory.
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
