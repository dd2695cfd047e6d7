"""An allocation that fails in the middle of a call is a MemoryError, whichever one it is; the next call is right."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, resource, sys
import numpy as np
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import Graph

rng = np.random.default_rng(0)
pairs = np.unique(rng.integers(4000, size=(20_000, 2)), axis=0)
pairs = np.unique(np.concatenate((pairs, pairs[:, ::-1])), axis=0)
indptr = np.concatenate(([0], np.cumsum(np.bincount(pairs[:, 0], minlength=4000))))
graph, extractor = Graph(indptr, pairs[:, 1].astype(np.int32)), PprExtractor(topk=100, num_threads=int(sys.argv[1]))
targets = np.arange(2000)
hard = resource.getrlimit(resource.RLIMIT_AS)[1]


def call():
    found = extractor(graph, targets)
    return [getattr(found, name).tobytes() for name in ("node_id", "score", "indptr", "indices")]


extractor(graph, targets[:20])  # Loads what a call needs.
outcomes, results = [], []
for megabytes in [*range(0, 36, 3), 1000]:
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (megabytes << 20), hard))
    try:
        results.append(call())
        outcomes.append("made")
    except MemoryError:
        outcomes.append("refused")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
results.append(call())
print(json.dumps({"outcomes": outcomes, "equal": all(result == results[-1] for result in results)}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS and /proc are those of Linux")
@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_failed_allocation_is_a_memory_error_and_the_next_call_is_right(num_threads):
    command = [sys.executable, "-c", SCRIPT, str(num_threads)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    said = json.loads(found.stdout)
    assert "refused" in said["outcomes"]
    assert said["outcomes"][-1] == "made"
    assert said["equal"]
