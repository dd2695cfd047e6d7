"""Known downloads: the checksum that a file at an address must have: a pinned one, or that of its first download.

Not for: fetching (download.py), or what a dataset must contain (statistics.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shadow_gnn.base.checked_json import dump_checked, read_checked
from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import write_file

RECORD = "downloads.json"
"""File in the folder of datasets with the SHA-256 of everything that was downloaded, by address."""
PINNED: Mapping[str, str] = {
    # Published by several independent projects that download these files.
    "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip": (
        "49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276"
    ),
    "https://snap.stanford.edu/ogb/data/nodeproppred/products.zip": (
        "5ea0a112edaec2141c0a2a612dd4aed58df97ff3e1ab1a0ca8238f43cbbb50a8"
    ),
}
"""SHA-256 of public files that do not change; the publishers of the others give none."""
_MAX_BYTES = 1 << 24


def expected_checksum(address: str, data: Path) -> str | None:
    """Return the SHA-256 that a file must have, or None before its first download into a folder of datasets."""
    return PINNED.get(address) or _recorded(data).get(address)


def record_checksum(address: str, checksum: str, data: Path) -> None:
    """Keep the SHA-256 of a download for the next one."""
    write_file(data / RECORD, dump_checked({**_recorded(data), address: checksum}))


def _recorded(data: Path) -> dict[str, str]:
    path = data / RECORD
    return read_checked(path, _MAX_BYTES, SourceError) if path.exists() else {}
