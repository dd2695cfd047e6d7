"""A few seconds of what `make fuzz` does for longer: kept inputs, random changes of them, damaged folders."""

import os
import random
import subprocess
import sys

import pytest
from tests.fuzz.fuzz_readers import attempt, inputs_of, mutated
from tests.fuzz.kept import kept_inputs
from tests.fuzz.readers import READERS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@pytest.mark.parametrize("name", sorted(READERS))
def test_known_inputs_and_a_few_others_end_well(name, tmp_path):
    known = inputs_of(name)
    ends = [attempt(name, data, tmp_path / "place") for data in known]
    assert "used" in ends[: len(READERS[name].seeds())]
    for number in range(15):
        attempt(name, mutated(random.Random(f"test {number}"), known), tmp_path / "place")


def test_inputs_are_kept_for_every_reader_and_the_core():
    assert [name for name in (*READERS, "core") if not kept_inputs(name)] == []


def test_damaged_folders_are_refused_or_equal(tmp_path):
    command = [sys.executable, "-m", "tests.fuzz.damaged_folders", "--folders", "150", "--seed", "5"]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("150 damaged folders of seed 5: refused")
    assert "other results" not in done.stdout


def test_a_fault_is_not_taken_for_a_refusal(tmp_path, monkeypatch):
    def broken(data, place):
        raise KeyError("no such column")

    monkeypatch.setitem(READERS, "recipe", type(READERS["recipe"])(lambda: [b""], broken))
    with pytest.raises(KeyError):
        attempt("recipe", b"", tmp_path / "place")
