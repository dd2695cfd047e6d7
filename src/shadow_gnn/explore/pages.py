"""Pages: the files of the page, read once, so that no request can name a file.

Not for: answers (routes.py).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

from shadow_gnn.base.files import checksum_of

INDEX = "index.html"
FOLDER = Path(__file__).parent / "static"

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Of every file: nothing from other hosts, no script in the page itself."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    content: bytes
    compressed: bytes
    """The same by gzip."""
    media_type: str
    tag: str
    """Changes with the content."""


def read_assets(folder: Path = FOLDER) -> dict[str, Asset]:
    """Read all files of the page by name."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in _TYPES:
            content = path.read_bytes()
            packed = gzip.compress(content, mtime=0)
            found[path.name] = Asset(content, packed, _TYPES[path.suffix], f'"{checksum_of(content)}"')
    return found
