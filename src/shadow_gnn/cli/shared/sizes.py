"""Sizes: reads numbers such as 2GB, 1.1e8 and 60/20/20.

Not for: their meaning.
"""

from __future__ import annotations

import re

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_LEAST_MEMORY, _MOST_MEMORY = 10**6, 10**18


def memory_bytes(text: str, owner: str) -> int:
    """Return the bytes of a text such as 2GB or 500MB, in powers of 1000; at least a megabyte."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or found[2].upper() not in _UNITS:
        raise ValueError(f"{owner} must be a size such as 2GB or 500MB, got {text!r}")
    size = float(found[1]) * _UNITS[found[2].upper()]
    if not _LEAST_MEMORY <= size < _MOST_MEMORY:
        raise ValueError(f"{owner} must be from 1MB to below 10^18 bytes, got {text!r:.40}")
    return int(size)


def count(text: str, owner: str) -> int:
    """Return a whole number that may be written as 1e6."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1 << 53 or value != int(value):
        raise ValueError(f"{owner} must be a whole number such as 1000000 or 1e6, got {text!r}")
    return int(value)


def shares(text: str, owner: str) -> tuple[float, float, float]:
    """Return three percentages such as 60/20/20; shares that sum to at most 1, such as 0.6/0.2/0.2, mean the same."""
    try:
        train, valid, test = (float(part) for part in text.split("/"))
    except ValueError:
        raise ValueError(f"{owner} must be three percentages such as 60/20/20, got {text!r}") from None
    if 0 < train + valid + test <= 1 + 1e-9:
        return 100 * train, 100 * valid, 100 * test
    return train, valid, test
