"""Small pickles that ask for much memory are refused at once."""

import pickle
import time

import numpy as np
import pytest
import torch

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.formats.pickled import read_pickled, read_torch


def test_nested_references_are_refused_at_once(tmp_path):
    value = [0]
    for _ in range(40):
        value = [value, value]
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(value))
    begin = time.monotonic()
    with pytest.raises(SourceError, match="it repeats its own values too often"):
        read_pickled(tmp_path / "a.pkl")
    assert time.monotonic() - begin < 1


def test_a_tensor_that_repeats_one_value_is_refused(tmp_path):
    torch.save(torch.zeros(1).expand(700_000_000), tmp_path / "a.pt")
    with pytest.raises(SourceError, match="repeats the values of its storage"):
        read_torch(tmp_path / "a.pt")


def test_many_copies_of_a_tensor_are_refused(tmp_path):
    whole = torch.zeros(1 << 20)
    torch.save([whole[number:] for number in range(100)], tmp_path / "a.pt")
    with pytest.raises(SourceError, match="copies its own bytes too often"):
        read_torch(tmp_path / "a.pt")


def test_depth_is_one_line(tmp_path):
    (tmp_path / "a.pkl").write_bytes(b"]" * 50_000 + b"a" * 49_999 + b".")
    with pytest.raises(SourceError, match="must be a pickle of plain arrays"):
        read_pickled(tmp_path / "a.pkl")


def test_shared_arrays_are_still_read(tmp_path):
    array = np.arange(5)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps([array, array, {"a": [1, 2]}]))
    assert [part.tolist() for part in read_pickled(tmp_path / "a.pkl")[:2]] == [[0, 1, 2, 3, 4]] * 2
