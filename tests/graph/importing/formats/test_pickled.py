"""Pickled: plain arrays as Python 2, Python 3 and torch write them, and nothing else."""

import collections
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.raw_layouts import python2_pickle

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.pickled import CsrMatrix, read_pickled, read_torch

ARRAYS = {
    "edge": np.arange(12).reshape(6, 2),
    "turned": np.arange(6, dtype=np.int32).reshape(2, 3).T,
    "weight": np.linspace(0, 1, 5, dtype=np.float32),
    "big": np.arange(3, dtype=">i8"),
    "mask": np.array([True, False]),
    "empty": np.zeros((0, 2)),
}


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], np.asarray(array))
        assert found[name].dtype == np.asarray(array).dtype.newbyteorder("=")


@pytest.mark.parametrize("protocol", [1, 2, 3, 4])
def test_arrays_in_a_pickle(tmp_path, protocol):
    (tmp_path / "a").write_bytes(pickle.dumps(ARRAYS, protocol))
    assert_same(read_pickled(tmp_path / "a"), ARRAYS)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_containers_in_a_pickle(tmp_path, protocol):
    links = collections.defaultdict(list, {0: [1, 2], 1: [0], 70_000: []})
    value = {"links": links, "text": ("a", 1.5, None, True, -(1 << 40)), "ordered": collections.OrderedDict(a=1)}
    (tmp_path / "a").write_bytes(pickle.dumps(value, protocol))
    assert read_pickled(tmp_path / "a") == value


@pytest.mark.parametrize("protocol", [1, 2, 3, 4])
def test_a_matrix_in_a_pickle(tmp_path, protocol):
    matrix = sp.csr_matrix(np.array([[0, 2.5], [1, 0], [0, 0]]))
    (tmp_path / "a").write_bytes(pickle.dumps(matrix, protocol))
    found = read_pickled(tmp_path / "a")
    assert isinstance(found, CsrMatrix)
    assert (found.shape, found.indptr.tolist(), found.indices.tolist()) == ((3, 2), [0, 1, 2, 2], [1, 0])
    assert found.data.tolist() == [2.5, 1]


def test_pickles_of_python_2(tmp_path):
    matrix = sp.csr_matrix(np.array([[0, 2.5], [1, 0]]))
    for name, value in {"array": np.array([[200, -1]]), "csr": matrix, "links": {3: [1, 300]}}.items():
        (tmp_path / name).write_bytes(python2_pickle(value))
    assert read_pickled(tmp_path / "array").tolist() == [[200, -1]]
    assert read_pickled(tmp_path / "csr").data.tolist() == [2.5, 1]
    assert read_pickled(tmp_path / "links") == {3: [1, 300]}
    # Protocols 0 and 1 make a matrix by another name.
    made = b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR"
    old = python2_pickle(matrix).replace(b"cscipy.sparse.csr\ncsr_matrix\n)\x81", made)
    (tmp_path / "csr").write_bytes(old)
    assert read_pickled(tmp_path / "csr").data.tolist() == [2.5, 1]


@pytest.mark.parametrize("zipped", [True, False])
def test_arrays_in_a_file_of_torch(tmp_path, zipped):
    torch.save(ARRAYS, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    assert_same(read_torch(tmp_path / "a.pt"), ARRAYS)


def test_tensors_in_a_file_of_torch(tmp_path):
    whole = torch.arange(20)
    tensors = {
        "whole": whole,
        "part": whole[3:9].reshape(2, 3).t(),
        "half": torch.ones(3, dtype=torch.float16),
        "one": torch.tensor(4.0),
        "none": torch.zeros(0, 2),
    }
    torch.save(tensors, tmp_path / "a.pt")
    assert_same(read_torch(tmp_path / "a.pt"), {name: tensor.numpy() for name, tensor in tensors.items()})


class Caller:
    """Pickles as a call of print."""

    def __reduce__(self):
        return print, ("this must never be seen",)


@pytest.mark.parametrize(
    "value",
    [
        Caller(),
        {"edge": Caller()},
        [np.array([print], dtype=object)],
        np.dtype("O"),
        print,
        np.array(["text"]),
        {1, 2},
        1j,
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_anything_else_is_refused_and_not_run(tmp_path, capsys, value, protocol):
    (tmp_path / "a").write_bytes(pickle.dumps(value, protocol))
    with pytest.raises(SourceError, match="a: must be a pickle of plain arrays: "):
        read_pickled(tmp_path / "a")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("read", [read_pickled, read_torch])
def test_every_truncation_is_one_line(tmp_path, read):
    torch.save({"edge": np.arange(4)}, tmp_path / "a", _use_new_zipfile_serialization=False)
    whole = pickle.dumps({"edge": np.arange(4)}, 2) if read is read_pickled else (tmp_path / "a").read_bytes()
    last = whole.rindex(b".") if read is read_pickled else whole.index(b"edge") + 20
    for end in range(last):
        (tmp_path / "a").write_bytes(whole[:end])
        with pytest.raises(SourceError, match="a: must be a pickle of plain arrays: "):
            read(tmp_path / "a")


def test_damaged_bytes_never_end_in_another_error(tmp_path):
    whole = bytearray(pickle.dumps({"edge": np.arange(4), "links": {1: [2]}}, 2))
    for at in range(len(whole)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytes(whole[:at]) + bytes([whole[at] ^ change]) + bytes(whole[at + 1 :])
            (tmp_path / "a").write_bytes(damaged)
            try:
                read_pickled(tmp_path / "a")
            except SourceError as error:
                assert "must be a pickle of plain arrays" in str(error)


@pytest.mark.parametrize("member", ["a/other", "a/data.pkl"])
def test_other_zip_archives_are_refused(tmp_path, member):
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr(member, b"no pickle")
    with pytest.raises(SourceError, match=r"a\.pt: must be a pickle of plain arrays"):
        read_torch(tmp_path / "a.pt")


def test_a_tensor_beyond_its_storage_is_refused(tmp_path):
    torch.save(torch.arange(3), tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "b.pt", "w") as archive:
        for name, content in files.items():
            # The size (3,) becomes (9,), the number of values stays.
            changed = content.replace(b"K\x00K\x03\x85", b"K\x00K\x09\x85") if name.endswith("data.pkl") else content
            archive.writestr(name, changed)
    with pytest.raises(SourceError, match="goes beyond its storage"):
        read_torch(tmp_path / "b.pt")
