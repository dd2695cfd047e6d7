"""Space for arrays: in memory or in a file without a name, and one line where a disk has no room."""

import numpy as np
import pytest

from shadow_gnn.base.disk_arrays import DiskRows, new_array
from shadow_gnn.base.errors import WriteError


def test_a_mapped_array_works_like_one_in_memory(tmp_path):
    array = new_array((3, 5), np.int64, tmp_path / "not" / "there" / "yet")
    array[:] = np.arange(15).reshape(3, 5)
    assert (array.dtype, array.shape, array.sum()) == (np.int64, (3, 5), 105)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_an_empty_array_needs_no_file(tmp_path, shape):
    assert new_array(shape, np.float32, tmp_path).shape == shape


def test_a_disk_without_room_is_one_line(tmp_path):
    with pytest.raises(WriteError, match=r"cannot hold an array \(\d+ bytes needed\)"):
        new_array((1 << 40, 1 << 10), np.float32, tmp_path)


def test_rows_on_a_disk_are_written_and_read_in_slices(tmp_path):
    rows = DiskRows((6, 2), np.int32, tmp_path / "not" / "there" / "yet")
    rows.write(4, np.array([[9, 10], [11, 12]]))
    rows.write(0, np.arange(8, dtype=np.int64).reshape(4, 2))
    assert (len(rows), rows.shape, rows.dtype) == (6, (6, 2), np.int32)
    assert rows[:].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [9, 10], [11, 12]]
    assert rows[3:5].tolist() == [[6, 7], [9, 10]]
    assert rows[5:3].shape == (0, 2)
    assert rows[4:99].tolist() == [[9, 10], [11, 12]]
    rows.shorten(4)
    assert rows[2:].tolist() == [[4, 5], [6, 7]]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("start", "shape"), [(5, (2, 2)), (-1, (1, 2)), (0, (1, 3))])
def test_rows_on_a_disk_keep_their_bounds(tmp_path, start, shape):
    with pytest.raises(ValueError, match=r"DiskRows: block must fit \(6, 2\)"):
        DiskRows((6, 2), np.int32, tmp_path).write(start, np.zeros(shape))
    with pytest.raises(ValueError, match="got a step of 2"):
        DiskRows((6, 2), np.int32, tmp_path)[::2]


def test_rows_for_a_disk_without_room_are_one_line(tmp_path):
    with pytest.raises(WriteError, match=r"cannot hold an array \(\d+ bytes needed\)"):
        DiskRows((1 << 50,), np.float32, tmp_path)


def test_rows_with_a_name_are_found_again_and_grow(tmp_path):
    rows = DiskRows((2, 2), np.int32, tmp_path, name="part", head_bytes=16)
    rows.write(0, np.array([[1, 2], [3, 4]]))
    rows.append(np.array([[5, 6]]))
    rows.write_head(b"0123456789abcdef")
    rows.flush()
    assert (tmp_path / "part").read_bytes() == b"0123456789abcdef" + np.arange(1, 7, dtype=np.int32).tobytes()
    again = DiskRows((3, 2), np.int32, tmp_path, name="part", head_bytes=16)
    assert again[:].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert again.mapped().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert not again.mapped().flags.writeable
    with pytest.raises(ValueError, match="data must have 16 bytes, got 3"):
        again.write_head(b"abc")


def test_rows_without_a_name_can_be_mapped(tmp_path):
    rows = DiskRows((0,), np.int64, tmp_path)
    assert rows.mapped().tolist() == []
    rows.append(np.array([4, 5]))
    assert rows.mapped().tolist() == [4, 5]


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    rows = DiskRows((2,), np.int64, tmp_path, name="part")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(WriteError, match=r"part: cannot be written \(16 bytes needed\): No space left on device"):
        rows.write(0, np.array([1, 2]))
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteError, match=r"part: cannot be written: No space left on device"):
        rows.flush()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("keep")
    (tmp_path / "part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="part: cannot hold an array"):
        DiskRows((2,), np.int64, tmp_path, name="part")
    assert (tmp_path / "elsewhere").read_text() == "keep"
