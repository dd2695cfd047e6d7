"""Download: fetch one file, whole or not at all, and unpack an archive of raw files.

Not for: the addresses (the file of each dataset). PyG's helper is not used: it disables the check of certificates,
shows no progress and mistakes a half-finished file for a complete one.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.request import urlopen

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, replace_file
from shadow_gnn.graph.importing.archive import inflate_limit, plain_members

_BLOCK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60


def download(address: str, path: Path, progress: Progress, *, expected: str | None = None) -> str:
    """Download a file to a path and return its SHA-256; after a fault nothing is left there.

    expected: the SHA-256 that it must have; None for any.
    """
    digest = hashlib.sha256()
    try:
        with urlopen(address, timeout=_TIMEOUT_SECONDS) as answer:
            if answer.headers.get_content_type() == "text/html":
                raise SourceError(f"{address}: must give a file, it gives a web page")
            total = int(answer.headers.get("Content-Length") or 0)
            blocks = _hashed(_blocks(answer, total, path.name, progress), digest, address, expected)
            replace_file(path, blocks, total)
    except (OSError, HTTPException, ValueError) as error:
        raise SourceError(f"{address}: cannot be downloaded: {getattr(error, 'reason', None) or error}") from error
    return digest.hexdigest()


def _hashed(blocks: Iterator[memoryview], digest: Any, address: str, expected: str | None) -> Iterator[memoryview]:
    """Give blocks on; after the last one, raise unless their hash is the expected one."""
    for block in blocks:
        digest.update(block)
        yield block
    if expected not in (None, digest.hexdigest()):
        raise SourceError(
            f"{address}: must give the file with SHA-256 {expected}, pinned or of its first download, got another, "
            f"{digest.hexdigest()}"
        )


def unpack(archive: Path, folder: Path, progress: Progress) -> None:
    """Unpack a zip archive without its outermost folder; existing files are kept."""
    try:
        with zipfile.ZipFile(archive) as source:
            members = [member for member in plain_members(source) if not member.is_dir()]
            if sum(member.file_size for member in members) > inflate_limit(archive.stat().st_size):
                raise SourceError(f"{archive}: would inflate to too many bytes, like a zip bomb")
            for number, member in enumerate(members):
                progress(f"unpacking {archive.name}", number, len(members))
                parts = PurePosixPath(member.filename).parts[1:]
                path = folder.joinpath(*parts)
                if not parts or ".." in parts or path.exists():
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                with source.open(member) as content:
                    replace_file(path, _blocks(content, member.file_size, path.name, progress), member.file_size)
    except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError, zlib.error) as error:
        raise SourceError(f"{archive}: is not a readable zip archive: {error}") from error


def _blocks(stream: Any, total: int, name: str, progress: Progress) -> Iterator[memoryview]:
    done = 0
    while block := stream.read(_BLOCK_BYTES):
        done += len(block)
        progress(f"{name}, MB", done >> 20, total >> 20)
        yield memoryview(block)
    if total and done != total:
        raise SourceError(f"{name}: must have {total} bytes, got {done}")
