"""Work folders: kept for the next process after a kill, gone after a success or a fault, never shared."""

import json
import os

import numpy as np
import pytest

from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.files import map_npy
from shadow_gnn.base.work_folder import NPY_HEAD_BYTES, TemporaryScratch, finished, open_work_folder, work_folder_of


def leave(target, job):
    """Do a part of a job and end without a word."""

    def do():
        with open_work_folder(target, job) as work:
            work.rows("part", (3,), np.int64).write(0, np.array([7, 8, 9]))
            work.remember("part", {"done": 2})
            work.place.mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do()


def test_the_next_process_finds_what_was_left(tmp_path):
    leave(tmp_path / "g", {"seed": 1})
    with open_work_folder(tmp_path / "g", {"seed": 1}) as work:
        assert work.resumed
        assert work.recall("part") == {"done": 2}
        assert work.rows("part", (3,), np.int64)[:].tolist() == [7, 8, 9]
        assert work.recall("other") is None
        assert not work.place.exists()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("job", [{"seed": 2}, {"seed": 1, "more": None}, {}])
def test_another_job_starts_from_scratch(tmp_path, job):
    leave(tmp_path / "g", {"seed": 1})
    with open_work_folder(tmp_path / "g", job) as work:
        assert not work.resumed
        assert sorted(os.listdir(work.folder)) == ["job.json"]


def test_a_fault_leaves_nothing(tmp_path):
    def fail():
        with open_work_folder(tmp_path / "g", {}) as work:
            work.remember("part", {})
            raise WriteError("full")

    with pytest.raises(WriteError, match="full"):
        fail()
    assert os.listdir(tmp_path) == []


def test_two_processes_cannot_work_on_one_result(tmp_path):
    with open_work_folder(tmp_path / "g", {}) as work:
        work.remember("part", {"done": 1})
        with pytest.raises(WriteError, match="g: another process is making it"), open_work_folder(tmp_path / "g", {}):
            pass
        assert work.recall("part") == {"done": 1}


def test_dropped_rows_are_gone(tmp_path):
    with open_work_folder(tmp_path / "g", {}) as work:
        work.rows("part", (3,), np.int64)
        work.drop("part")
        work.drop("never there")
        assert sorted(os.listdir(work.folder)) == ["job.json"]


def test_finished_rows_are_a_npy_file_without_what_was_behind_them(tmp_path):
    with open_work_folder(tmp_path / "g", {}) as work:
        work.rows("part", (9,), np.int32, head_bytes=NPY_HEAD_BYTES)
        rows = work.rows("part", (0,), np.int32, head_bytes=NPY_HEAD_BYTES)
        rows.append(np.array([4, 5, 6]))
        done = finished(rows)
        assert map_npy(done.npy_path).tolist() == [4, 5, 6]
        assert (done.dtype, done.shape, len(done), done[1:].tolist()) == (np.int32, (3,), 3, [5, 6])


def test_nameless_scratch_keeps_rows_while_it_lasts_and_remembers_nothing(tmp_path):
    scratch = TemporaryScratch(tmp_path)
    scratch.rows("part", (2,), np.int64).write(0, np.array([1, 2]))
    assert scratch.rows("part", (2,), np.int64)[:].tolist() == [1, 2]
    scratch.drop("part")
    assert scratch.rows("part", (2,), np.int64)[:].tolist() == [0, 0]
    scratch.remember("part", {"done": 1})
    assert scratch.recall("part") is None
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match=r"\.g\.work: cannot be made"), open_work_folder(tmp_path / "file" / "g", {}):
        pass


def test_a_damaged_state_is_named(tmp_path):
    leave(tmp_path / "g", {})
    (work_folder_of(tmp_path / "g") / "part.json").write_text("[")
    with pytest.raises(WriteError, match=r"part.json: is not JSON"), open_work_folder(tmp_path / "g", {}) as work:
        work.recall("part")


def test_the_job_is_compared_as_json_holds_it(tmp_path):
    leave(tmp_path / "g", {"shares": (1, 2)})
    assert json.loads((work_folder_of(tmp_path / "g") / "job.json").read_text())["job"] == {"shares": [1, 2]}
    with open_work_folder(tmp_path / "g", {"shares": (1, 2)}) as work:
        assert work.resumed


def refused(target, words):
    with pytest.raises(WriteError, match=words), open_work_folder(target, {}):
        pass


def test_a_link_is_not_taken_for_a_work_folder(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "thesis.txt").write_text("years of work")
    work_folder_of(tmp_path / "g").symlink_to(tmp_path / "victim")
    refused(tmp_path / "g", r"\.g\.work: cannot be made: is a link")
    assert (tmp_path / "victim" / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("name", ["thesis.txt", "job.json", ".hidden.tmp"])
def test_a_folder_of_somebody_else_is_not_emptied(tmp_path, name):
    folder = work_folder_of(tmp_path / "g")
    folder.mkdir()
    (folder / name).write_text("{}")
    refused(tmp_path / "g", "was not made by this program|its checksum does not fit")
    assert (folder / name).read_text() == "{}"


def test_a_work_folder_killed_before_its_first_file_is_used(tmp_path):
    folder = work_folder_of(tmp_path / "g")
    folder.mkdir()
    (folder / ".job.json.0123456789ab.shadow.tmp").write_text("{")
    with open_work_folder(tmp_path / "g", {}) as work:
        assert not work.resumed
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["job", "part"])
def test_a_changed_state_is_refused(tmp_path, name):
    leave(tmp_path / "g", {"seed": 7})
    path = work_folder_of(tmp_path / "g") / f"{name}.json"
    path.write_text(path.read_text().replace("7" if name == "job" else "2", "3", 1))
    with (
        pytest.raises(WriteError, match=rf"{name}.json: was edited or damaged"),
        open_work_folder(tmp_path / "g", {"seed": 7}) as work,
    ):
        work.recall("part")


class Killed(BaseException):
    """Stands for the end of the process."""


def kill_at_removal(monkeypatch, number):
    """Let the next removal of a file but so many end the process."""
    real, left = os.unlink, [number]

    def unlink(*arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        real(*arguments, **options)

    monkeypatch.setattr(os, "unlink", unlink)


def check_nothing_is_resumed(folder):
    with open_work_folder(folder / "g", {"seed": 1}) as work:
        assert not work.resumed
        assert work.recall("part") is None
        assert sorted(os.listdir(work.folder)) == ["job.json"]
    assert os.listdir(folder) == []


@pytest.mark.parametrize("number", range(3))
def test_parts_of_a_finished_job_that_were_being_removed_are_not_resumed_from(tmp_path, monkeypatch, number):
    leave(tmp_path / "g", {"seed": 1})
    with monkeypatch.context() as patch, pytest.raises(Killed), open_work_folder(tmp_path / "g", {"seed": 1}):
        kill_at_removal(patch, number)
    check_nothing_is_resumed(tmp_path)


@pytest.mark.parametrize("number", range(2))
def test_parts_of_another_job_that_were_being_removed_are_not_resumed_from(tmp_path, monkeypatch, number):
    leave(tmp_path / "g", {"seed": 1})
    kill_at_removal(monkeypatch, number)
    with pytest.raises(Killed), open_work_folder(tmp_path / "g", {"seed": 2}):
        pass
    monkeypatch.undo()
    check_nothing_is_resumed(tmp_path)
