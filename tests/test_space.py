"""Space for arrays: in memory or in a file without a name, and one line where a disk has no room."""

import numpy as np
import pytest

from shadow_gnn.errors import WriteError
from shadow_gnn.space import new_array


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
