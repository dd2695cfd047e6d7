"""Which faults are a want of memory, and what is said of them."""

import errno
import re

import numpy as np
import pytest
import torch
from pyarrow.lib import ArrowException

from shadow_gnn.cli.shared.shortage import shortage_line


def fault_of(work):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        work()
    return caught.value


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (
            lambda: np.empty(1 << 50),
            r"train: not enough memory \(Unable to allocate 8.00 PiB .*\); lower training.batch",
        ),
        (
            lambda: torch.empty(1 << 50),
            r"train: not enough memory \(you tried to allocate \d+ bytes.*\); lower training",
        ),
        (lambda: bytearray(1 << 62), "train: not enough memory; lower training.batch_size"),
    ],
    ids=["numpy", "torch", "python"],
)
def test_libraries_say_it_in_their_own_ways(work, said):
    line = shortage_line(fault_of(work), ["train", "recipe.toml"])
    assert line is not None
    assert "\n" not in line
    assert re.match(said, line), line


def test_each_command_has_something_to_lower():
    assert "--memory" in str(shortage_line(MemoryError(), ["data", "import"]))
    assert "--topk" in str(shortage_line(RuntimeError("can't start new thread"), ["extract", "g"]))
    threads = ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable")
    assert "--memory" in str(shortage_line(threads, ["data", "import"]))
    assert "several processes" in str(shortage_line(OSError(errno.ENOMEM, "Cannot allocate memory"), ["predict", "r"]))
    assert "close other programs" in str(shortage_line(MemoryError(), ["runs"]))
    assert str(shortage_line(MemoryError(), [])).startswith("shadow: not enough memory; ")


def test_other_faults_are_not_a_shortage():
    for error in (RuntimeError("shapes do not fit"), ValueError("out of memory"), OSError(errno.ENOSPC, "full")):
        assert shortage_line(error, ["train"]) is None
