"""Temporary names: removed after a kill, kept while their process lives, and never those of somebody else."""

import os
import signal
import time

import pytest

from shadow_gnn.base.files import new_folder, write_file
from shadow_gnn.base.temporary import remove_abandoned, temporary_file, temporary_folder


def killed_inside(make):
    """Fork, enter a temporary file or folder, and kill the process there."""
    pid = os.fork()
    if pid == 0:
        with make():
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL


@pytest.mark.parametrize("make", [temporary_file, temporary_folder, new_folder])
def test_the_next_write_removes_what_a_killed_process_left(tmp_path, make):
    killed_inside(lambda: make(tmp_path / "out"))
    assert len(os.listdir(tmp_path)) == 1
    write_file(tmp_path / "another", b"1")
    assert os.listdir(tmp_path) == ["another"]


def test_what_a_living_process_uses_stays(tmp_path):
    with temporary_file(tmp_path / "out") as (path, _), temporary_folder(tmp_path / "out") as folder:
        pid = os.fork()
        if pid == 0:
            remove_abandoned(tmp_path)
            os._exit(0)
        os.waitpid(pid, 0)
        assert path.exists()
        assert folder.exists()
    assert os.listdir(tmp_path) == []


def test_only_names_with_our_mark_are_removed(tmp_path):
    names = [".out.0123456789ab.tmp", "out.0123456789ab.shadow.tmp", ".out.0123.shadow.tmp", ".~lock"]
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("mine")
    (tmp_path / ".link.0123456789ab.shadow.tmp").symlink_to(tmp_path / "victim")
    os.mkfifo(tmp_path / ".pipe.0123456789ab.shadow.tmp")
    before = sorted(os.listdir(tmp_path))
    begin = time.monotonic()
    remove_abandoned(tmp_path)
    assert time.monotonic() - begin < 1
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "victim" / "file").read_text() == "mine"


def test_processes_that_write_at_once_do_not_remove_each_others_files(tmp_path):
    pids = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                for turn in range(50):
                    write_file(tmp_path / f"{number}", f"{turn}".encode())
            except BaseException:
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 4
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2", "3"]
    assert {(tmp_path / name).read_text() for name in "0123"} == {"49"}
