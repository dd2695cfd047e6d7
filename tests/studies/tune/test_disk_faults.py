"""A failing disk under a search: one line, and the trial stays to be resumed; a fault of the values fails the trial."""

import errno
import sqlite3
from types import SimpleNamespace

import pytest

from shadow_gnn.base.errors import FolderError, ShadowError, WriteError, is_of_machine
from shadow_gnn.studies.tune.search import Search
from shadow_gnn.studies.tune.tuning import SilentTune


def caused(fault, number):
    """Return a fault that was raised from an error of the system."""
    fault.__cause__ = OSError(number, "text")
    return fault


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (caused(WriteError("out: cannot be written"), errno.EIO), True),
        (caused(FolderError("g: cannot be read"), errno.EROFS), True),
        (caused(FolderError("g: is not a folder"), errno.ENOENT), False),
        (WriteError("out: exists already"), False),
        (ValueError("topk must be at least 1"), False),
    ],
)
def test_faults_of_the_machine_are_told_from_those_of_the_settings(error, expected):
    assert is_of_machine(error) is expected


def test_a_trial_whose_disk_fails_ends_the_search_and_is_not_marked_as_failed():
    search = Search(study=None, places=(), watcher=SilentTune())  # The study must not be touched.
    worker = SimpleNamespace(trial=4)
    with pytest.raises(ShadowError, match=r"^tune: trial 4: out: cannot be written: full; the same command resumes$"):
        search._hear(worker, {"kind": "stopped", "text": "out: cannot be written: full"})


def test_a_fault_of_the_database_is_one_line_that_names_it(tmp_path):
    pytest.importorskip("optuna")
    from sqlalchemy.exc import OperationalError

    from shadow_gnn.studies.tune.study import one_line_faults

    first = sqlite3.OperationalError("disk I/O error")
    for error in (first, OperationalError("INSERT ...", {}, first)):
        with pytest.raises(WriteError) as caught, one_line_faults(tmp_path):
            raise error
        assert str(caught.value) == (
            f"{tmp_path / 'study.sqlite'}: cannot be read or written: disk I/O error; the same command resumes"
        )
