"""Files that are cut while they are mapped: an exception in the thread that reads, in a process that lives on."""

import json
import subprocess
import sys

import pytest

READS = {
    "copy": "np.array(array)",
    "sum": "array.sum()",
    "fancy": "array.take(np.arange(len(array)))",
    "hash": "hashlib.blake2b(array.view(np.uint8).data).hexdigest()",
    "thread": "ThreadPoolExecutor(1).submit(array.copy).result()",
}
SCRIPT = """
import hashlib, json, os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import numpy as np
from shadow_gnn.base.cut_files import FileCut
from shadow_gnn.base.files import map_npy
path, read = Path(sys.argv[1]), sys.argv[2]
np.save(path, np.arange(1 << 20))
array = map_npy(path)
os.truncate(path, 8192)
try:
    eval(read)
    print(json.dumps("nothing was raised"))
except FileCut as error:
    print(json.dumps(str(error)))
np.save(path, np.arange(1 << 20))
assert map_npy(path).sum() == sum(range(1 << 20))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("read", READS)
def test_a_read_of_a_cut_file_is_an_exception_that_names_it(tmp_path, read):
    path = tmp_path / "a file.npy"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), READS[read]], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == f"{path}: was cut while it was open"
