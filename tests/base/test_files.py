"""Files: atomic writing and distrustful reading."""

import errno
import io
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import WriteError
from shadow_gnn.base.files import (
    NpyError,
    map_npy,
    new_folder,
    npy_head,
    read_bytes,
    read_npy_header,
    read_object,
    write_file,
    write_npy,
)
from shadow_gnn.base.work_folder import NPY_HEAD_BYTES, finished


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.int64),
        np.ones((3, 2), np.float16),
        np.zeros((0, 5), np.float32),
        np.zeros(0, np.int32),
        np.arange(6, dtype=np.int8).reshape(2, 3).T,
    ],
)
def test_npy_round_trip_and_numpy_agrees(tmp_path, array):
    path = tmp_path / "a.npy"
    written = write_npy(path, array)
    back = map_npy(path)
    assert written.num_bytes == path.stat().st_size
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(np.load(path, allow_pickle=False), array)
    assert not back.flags.writeable


def test_fortran_order_is_read_as_numpy_reads_it(tmp_path):
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(map_npy(tmp_path / "a.npy"), array)


def test_object_array_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    with pytest.raises(NpyError, match="plain array"):
        map_npy(tmp_path / "a.npy")


def test_truncated_and_grown_files_are_refused(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(10))
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with pytest.raises(NpyError):
            map_npy(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(NpyError, match="must have 208 bytes"):
        map_npy(path)


def test_shape_that_overflows_is_refused(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(10))
    path.write_bytes(path.read_bytes().replace(b"(10,), }" + b" " * 40, b"(4294967296, 4294967296, 2), }".ljust(48)))
    with pytest.raises(NpyError, match="impossible shape"):
        map_npy(path)


def test_long_header_is_refused(tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00" + (20_000).to_bytes(4, "little") + b" " * 20_000)
    with pytest.raises(NpyError, match="20000 bytes"):
        map_npy(path)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_header_is_refused_or_gives_an_array_of_the_files_size(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "a.npy"
    np.save(path, np.arange(10))
    raw = bytearray(path.read_bytes())
    raw[data.draw(st.integers(0, 127))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        array = map_npy(path)
    except NpyError:
        return
    assert array.nbytes <= len(raw)


def header_only(shape):
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize("shape", ["(4\x0c 2)", "(4 2,)", "(,)", "(-1,)", "(1,,2)", "(" + "1" * 9000 + "x)", "2"])
def test_odd_shapes_are_refused_at_once(tmp_path, shape):
    path = tmp_path / "a.npy"
    path.write_bytes(header_only(shape))
    begin = time.perf_counter()
    with pytest.raises(NpyError, match="plain array"):
        map_npy(path)
    assert time.perf_counter() - begin < 0.1


def test_pipe_is_refused_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "a.npy")
    with pytest.raises(OSError, match="not a regular file"):
        map_npy(tmp_path / "a.npy")


def test_link_is_refused_on_request(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    (tmp_path / "b.npy").symlink_to(tmp_path / "a.npy")
    assert len(map_npy(tmp_path / "b.npy")) == 3
    with pytest.raises(OSError, match="symbolic links"):
        map_npy(tmp_path / "b.npy", follow_links=False)


def fail_writes_from(monkeypatch, number, error=errno.ENOSPC):
    calls = {"left": number}
    real = os.write

    def write(handle, data):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise OSError(error, os.strerror(error))
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)


def test_full_disk_keeps_the_old_file_and_names_path_and_bytes(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    path.write_bytes(b"old")
    fail_writes_from(monkeypatch, 0)
    with pytest.raises(WriteError, match=r"result\.json.*cannot be written \(3 bytes needed\): No space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_failed_fsync_is_an_error(tmp_path, monkeypatch):
    def fsync(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(WriteError, match="Input/output error"):
        write_file(tmp_path / "a", b"x")
    assert os.listdir(tmp_path) == []


def test_short_writes_are_completed(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:7]))
    write_npy(tmp_path / "a.npy", np.arange(20))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.arange(20))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_folder_vanishes_on_any_exception(tmp_path, error):
    def fill_half():
        with new_folder(tmp_path / "out") as folder:
            write_npy(folder / "a.npy", np.arange(3))
            raise error

    with pytest.raises(error):
        fill_half()
    assert os.listdir(tmp_path) == []


def test_existing_folder_is_refused_or_swapped(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").touch()
    with pytest.raises(WriteError, match="must not exist"), new_folder(out):
        pass
    with new_folder(out, overwrite=True) as folder:
        (folder / "new").touch()
        assert (out / "old").exists()
    assert os.listdir(out) == ["new"]
    assert os.listdir(tmp_path) == ["out"]


def test_folder_is_swapped_where_exchange_is_unknown(tmp_path, monkeypatch):
    import ctypes

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    out = tmp_path / "out"
    out.mkdir()
    with new_folder(out, overwrite=True) as folder:
        (folder / "new").touch()
    assert os.listdir(out) == ["new"]
    assert os.listdir(tmp_path) == ["out"]


def test_sigkill_leaves_nothing_under_the_final_name(tmp_path):
    program = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        import numpy as np
        from shadow_gnn.base.files import new_folder, write_npy
        with new_folder(Path(sys.argv[1])) as folder:
            write_npy(folder / "a.npy", np.arange(3))
            print("half", flush=True)
            time.sleep(60)
        """
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "out")], stdout=subprocess.PIPE, env=environment
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"half\n"
        child.kill()
    assert not (tmp_path / "out").exists()
    with new_folder(tmp_path / "out") as folder:
        (folder / "a").touch()
    assert os.listdir(tmp_path / "out") == ["a"]


def test_mapping_a_large_sparse_file_costs_no_memory_and_milliseconds(tmp_path):
    path = tmp_path / "a.npy"
    head = b"{'descr': '<i8', 'fortran_order': False, 'shape': (4294967296,), }".ljust(117) + b"\n"
    with open(path, "wb") as handle:
        handle.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
        handle.truncate(10 + len(head) + 8 * 4294967296)
    begin = time.perf_counter()
    array = map_npy(path)
    assert time.perf_counter() - begin < 0.1
    assert array[4294967295] == 0


def test_a_small_file_is_read_whole_and_a_larger_one_refused(tmp_path):
    path = tmp_path / "some.json"
    path.write_text('{"a": [1, 2]}')
    assert read_bytes(path, 1 << 50, ValueError) == b'{"a": [1, 2]}'
    assert read_object(path, 13, ValueError) == {"a": [1, 2]}
    with pytest.raises(ValueError, match=r"some.json: must have at most 12 bytes"):
        read_bytes(path, 12, ValueError)


@pytest.mark.parametrize(("text", "fault"), [("{", "is not JSON"), ("[]", "must hold a JSON object"), ("[" * 9999, "")])
def test_what_is_not_a_json_object_is_named(tmp_path, text, fault):
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(LookupError, match=rf"some.json: {fault}"):
        read_object(path, 1 << 20, LookupError)
    with pytest.raises(LookupError, match=r"none.json: cannot be read: No such file"):
        read_object(tmp_path / "none.json", 1 << 20, LookupError)


@pytest.mark.parametrize("links", [True, False])
def test_a_finished_file_is_linked_or_else_copied(tmp_path, monkeypatch, links):
    rows = DiskRows((1000,), np.int32, tmp_path, name="done.npy", head_bytes=NPY_HEAD_BYTES)
    rows.write(0, np.arange(1000))
    expected = write_npy(tmp_path / "first.npy", finished(rows)[:])

    def refused(*_):
        raise OSError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr("os.link", refused)
    assert write_npy(tmp_path / "second.npy", rows) == expected
    assert (tmp_path / "second.npy").read_bytes() == (tmp_path / "done.npy").read_bytes()
    assert (tmp_path / "done.npy").stat().st_nlink == (2 if links else 1)


@pytest.mark.parametrize("length", [0, 1, 10**9, 10**17])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32"])
def test_the_head_of_an_array_of_one_dimension_has_128_bytes(dtype, length):
    head = npy_head(np.dtype(dtype), (length,))
    assert len(head) == 128
    found = read_npy_header(io.BytesIO(head))
    assert (found.dtype, found.shape, found.data_offset) == (np.dtype(dtype), (length,), 128)


def test_a_given_place_must_be_free(tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    (place / "thesis").write_text("of somebody")
    with pytest.raises(WriteError, match="g: cannot be written: File exists"), new_folder(tmp_path / "g", place=place):
        pass
    assert (place / "thesis").read_text() == "of somebody"


def test_a_given_place_is_used(tmp_path):
    place = tmp_path / "place"
    with new_folder(tmp_path / "g", place=place) as folder:
        assert folder == place
        write_file(folder / "new", b"x")
    assert sorted(path.name for path in (tmp_path / "g").iterdir()) == ["new"]
    assert not place.exists()
