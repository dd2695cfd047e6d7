"""Work folder: a hidden folder next to a result for the parts of a long job, which can then resume after a kill.

Not for: results (graph/store.py) or arrays of a job that cannot resume (disk_arrays.py).
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from shadow_gnn.base.checked_json import dump_checked, read_checked
from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.files import npy_head, write_file
from shadow_gnn.base.temporary import is_real_folder, is_temporary, remove_abandoned, temporary_name

NPY_HEAD_BYTES = 128
_MAX_STATE_BYTES = 16 << 20
_JOB, _FORMAT = "job.json", "shadow-work"


class Scratch(Protocol):
    """Where a long job keeps its arrays and its progress."""

    def rows(self, name: str, shape: tuple[int, ...], dtype: Any, *, head_bytes: int = 0) -> DiskRows:
        """Return an array on disk: the existing one of that name, or a new one."""
        ...

    def drop(self, name: str) -> None:
        """Remove an array that is no longer needed."""
        ...

    def recall(self, stage: str) -> dict[str, Any] | None:
        """Return the saved state of a stage; None if there is none."""
        ...

    def remember(self, stage: str, state: Mapping[str, Any]) -> None:
        """Save the state of a stage; arrays that belong to it must have been flushed."""
        ...


class TemporaryScratch:
    """Scratch in unnamed files, which disappear however the process ends; saves no state."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, or its nearest existing parent."""
        self._folder = folder
        self._rows: dict[str, DiskRows] = {}

    def rows(self, name: str, shape: tuple[int, ...], dtype: Any, *, head_bytes: int = 0) -> DiskRows:
        """Return the array of that name, created on first use."""
        found = self._rows.get(name)
        if found is None or found.shape != shape:
            found = self._rows[name] = DiskRows(shape, dtype, self._folder, head_bytes=head_bytes)
        return found

    def drop(self, name: str) -> None:
        """Release an array; its space is freed with the last reference."""
        self._rows.pop(name, None)

    def recall(self, stage: str) -> dict[str, Any] | None:
        """Return None."""
        return None

    def remember(self, stage: str, state: Mapping[str, Any]) -> None:
        """Do nothing."""


class WorkFolder:
    """Scratch in a named folder, kept for the next process if this one is killed; open_work_folder makes it."""

    def __init__(self, folder: Path, *, resumed: bool, replaced: bool = False) -> None:
        """Use an existing folder. resumed: it has parts of the same job; replaced: parts of another were removed."""
        self.folder, self.resumed, self.replaced = folder, resumed, replaced

    @property
    def place(self) -> Path:
        """Where the result is assembled; leftovers of a killed process are removed."""
        return self.folder / "result"

    def rows(self, name: str, shape: tuple[int, ...], dtype: Any, *, head_bytes: int = 0) -> DiskRows:
        """Return the array of that name."""
        return DiskRows(shape, dtype, self.folder, name=f"{name}.npy", head_bytes=head_bytes)

    def drop(self, name: str) -> None:
        """Remove an array."""
        (self.folder / f"{name}.npy").unlink(missing_ok=True)

    def recall(self, stage: str) -> dict[str, Any] | None:
        """Return the state of a stage that the last process saved."""
        path = self.folder / f"{stage}.json"
        return read_checked(path, _MAX_STATE_BYTES, WriteError, follow_links=False) if os.path.lexists(path) else None

    def remember(self, stage: str, state: Mapping[str, Any]) -> None:
        """Replace the saved state of a stage in one step."""
        write_file(self.folder / f"{stage}.json", dump_checked(state))


def finished(rows: DiskRows) -> DiskRows:
    """Complete a named array with room for a header as a .npy file; write_npy then links to it."""
    if rows.path is not None:
        rows.shorten(len(rows))
        rows.write_head(npy_head(rows.dtype, rows.shape))
        rows.flush()
        rows.npy_path = rows.path
    return rows


def work_folder_of(target: Path) -> Path:
    """Return the hidden folder next to a result."""
    target = Path(os.path.realpath(target))
    return target.with_name(f".{target.name[:150]}.work")


@contextmanager
def open_work_folder(target: Path, job: Mapping[str, Any], *, keep: bool = False) -> Iterator[WorkFolder]:
    """Open the work folder of a result; parts of an earlier process are kept only if its job was the same.

    The folder is removed at the end and after a fault. After Ctrl-C or a kill it stays, for the next process to resume.
    job: everything that the parts depend on, as JSON. keep: leave the folder after a fault too, for faults that can
    come from another process or from the disk.
    """
    folder = work_folder_of(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_abandoned(folder.parent)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        reason = "is a link" if folder.is_symlink() else error.strerror or error
        raise WriteError(f"{folder}: cannot be made: {reason}") from error
    try:
        _lock(folder, handle, target)
        wanted, found = json.loads(json.dumps(dict(job))), _job_of(folder)
        if found != wanted:
            _empty(folder)
            write_file(folder / _JOB, dump_checked({"format": _FORMAT, "job": wanted}))
        work = WorkFolder(folder, resumed=found == wanted, replaced=found not in (None, wanted))
        _remove(work.place)
        try:
            yield work
        except Exception:
            if not keep:
                _discard(folder)
            raise
        _discard(folder)
    finally:
        os.close(handle)


def _job_of(folder: Path) -> Any:
    """Return the job of an earlier process, None for an empty folder; refuse a folder that is not of this program."""
    if os.path.lexists(folder / _JOB):
        content = read_checked(folder / _JOB, _MAX_STATE_BYTES, WriteError, follow_links=False)
        if content.get("format") == _FORMAT:
            return content.get("job")
    elif all(is_temporary(name) for name in os.listdir(folder)):  # Killed before the first file was complete.
        return None
    raise WriteError(f"{folder}: exists already and was not made by this program; move it away or choose another name")


def _lock(folder: Path, handle: int, target: Path) -> None:
    """Lock the folder for this process: the system releases the lock when the process ends."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.lstat(folder)):
            return
    except OSError:
        pass  # Locked, or removed in the meantime by the process that had locked it.
    raise WriteError(f"{target}: another process is making it")


def _discard(folder: Path) -> None:
    """Remove the folder, first its name: after a kill in between, nobody resumes from the parts that are left."""
    place = temporary_name(folder)
    with suppress(OSError):
        os.rename(folder, place)
        shutil.rmtree(place, ignore_errors=True)


def _empty(folder: Path) -> None:
    """Remove the parts of another job, after its name, so that a kill in between leaves nothing to resume from."""
    write_file(folder / _JOB, dump_checked({"format": _FORMAT, "job": None}))
    for path in folder.iterdir():
        if path.name != _JOB:
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a folder with its contents, or a file, if it exists."""
    if is_real_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
