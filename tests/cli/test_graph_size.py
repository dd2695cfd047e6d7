"""Anonymous memory of `shadow train` and `shadow predict`: the same for a graph a hundred times as large."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shadow_gnn.graph.generators.folder import generate_graph
from shadow_gnn.graph.generators.plan import GraphPlan

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="anonymous memory is read from /proc"),
]

NEAR = 12 * 2**20
"""Bytes that two runs may differ by; a single number for each node of the larger graph would be 8 MB, a copy of its
features 16 MB and its lists 48 MB, and more than one of them would be there at a time."""
RECIPE = """
graph = "unnamed"
[extractor]
kind = "ppr"
topk = 50
[model]
layer = "gat"
num_layers = 2
hidden_dim = 32
[training]
num_epochs = 1
batch_size = 64
"""


def anonymous_peak(*arguments):
    """Run a command and return the most anonymous memory that it was seen to have."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=os.pathsep.join(sys.path))
    command = [sys.executable, "-m", "shadow_gnn", *map(str, arguments)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        peak = 0
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            now = [int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:")]
            peak = max([peak, *now])
            time.sleep(0.002)
        assert process.stdout is not None
        assert process.returncode == 0, process.stdout.read().decode()
    assert peak > 2**20
    return peak


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two graphs of the same communities and about as many targets: 10^4 and 10^6 nodes."""
    root = tmp_path_factory.mktemp("sizes")
    for name, num_nodes, share in (("small", 10_000, 5.0), ("large", 1_000_000, 0.05)):
        shares = (share, share / 4, share / 4)
        plan = GraphPlan("dcsbm", num_nodes, 12, num_columns=8, num_classes=4, shares=shares)
        generate_graph(plan, root / name, memory_bytes=100_000_000, num_threads=1)
    (root / "recipe.toml").write_text(RECIPE)
    return root


def test_memory_of_training_and_prediction_does_not_grow_with_the_graph(folders):
    names = ("small", "large")
    run = folders / "run-small"
    trained = [
        anonymous_peak("train", folders / "recipe.toml", "--graph", folders / name, "--out", folders / f"run-{name}")
        for name in names
    ]
    assert trained[1] - trained[0] < NEAR, trained
    predicted = [
        anonymous_peak("predict", run, "--graph", folders / name, "--targets", "test", "--out", folders / f"{name}.csv")
        for name in names
    ]
    assert predicted[1] - predicted[0] < NEAR, predicted
