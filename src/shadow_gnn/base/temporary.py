"""Temporary names: a file or folder is made under one, next to its final name; those of a killed process are removed.

Not for: taking the final name (files.py), or parts that outlive a kill on purpose (work_folder.py).
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"\..*\.[0-9a-f]{12}\.shadow\.tmp", re.DOTALL)


@contextmanager
def temporary_file(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield a new file next to `path` and its descriptor; at the end it is removed, unless it was renamed.

    The process holds a lock on it, which tells others that it is in use.
    """

    def make(place: Path) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(place, flags, 0o666)

    place, handle = _new(path, make)
    try:
        yield place, handle
    finally:
        os.close(handle)
        place.unlink(missing_ok=True)


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder next to `path`, locked in the same way; at the end its name is removed, whatever it holds."""

    def make(place: Path) -> int:
        place.mkdir()
        return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)

    place, handle = _new(path, make)
    try:
        yield place
    finally:
        os.close(handle)
        shutil.rmtree(place, ignore_errors=True)


def temporary_name(path: Path) -> Path:
    """Return a new temporary name next to `path`."""
    return path.with_name(f".{path.name[:150]}.{secrets.token_hex(6)}.shadow.tmp")


def is_temporary(name: str) -> bool:
    """Tell whether a name is one that this module gives."""
    return _NAME.fullmatch(name) is not None


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files and folders of processes that have ended; what cannot be removed stays."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if is_temporary(name):
                with suppress(OSError):
                    _remove_if_free(folder / name)


def remove_abandoned_below(folder: Path) -> None:
    """Remove the same in a folder and in all folders below it."""
    for inner, _, _ in os.walk(folder):
        remove_abandoned(Path(inner))


def is_real_folder(path: Path) -> bool:
    """Tell whether a path is a folder itself, not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _new(path: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Make and lock a temporary name, again if another process took it for abandoned before it was locked."""
    remove_abandoned(path.parent)
    while True:
        place = temporary_name(path)
        handle = make(place)
        if _lock(handle) is not False and _has_name(handle, place):
            return place, handle
        os.close(handle)


def _lock(handle: int) -> bool | None:
    """Lock an open file or folder; return False if another process has the lock, None if the disk has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _has_name(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(place))
    except FileNotFoundError:
        return False


def _remove_if_free(place: Path) -> None:
    handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        if found.st_uid == os.geteuid() and _lock(handle) and _has_name(handle, place):
            if stat.S_ISDIR(found.st_mode):
                shutil.rmtree(place, ignore_errors=True)
            elif stat.S_ISREG(found.st_mode):
                place.unlink()
    finally:
        os.close(handle)
