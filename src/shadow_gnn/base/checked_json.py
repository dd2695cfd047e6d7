"""Checked JSON: an object in a file that holds the checksum of its own content, compared on reading.

Not for: JSON from elsewhere, which has no checksum (read_object of files.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shadow_gnn.base.files import checksum_of, read_object

_KEY = "checksum"


def dump_checked(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a file with an object and its checksum."""
    plain = json.loads(json.dumps(dict(content)))
    return (json.dumps({**plain, _KEY: _checksum(plain)}, indent=1) + "\n").encode()


def read_checked(
    path: Path, max_bytes: int, fault: Callable[[str], Exception], *, follow_links: bool = True
) -> dict[str, Any]:
    """Read an object after comparing its checksum; otherwise raise the fault, which names the file."""
    return without_checksum(path, read_object(path, max_bytes, fault, follow_links=follow_links), fault)


def without_checksum(path: Path, content: Mapping[str, Any], fault: Callable[[str], Exception]) -> dict[str, Any]:
    """Compare the checksum of an object that was read, and return the object without it."""
    plain = {name: value for name, value in content.items() if name != _KEY}
    if content.get(_KEY) != _checksum(plain):
        raise fault(f"{path}: was edited or damaged: its checksum does not fit")
    return plain


def _checksum(content: Mapping[str, Any]) -> str:
    return checksum_of(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
