"""Runs that are killed at random moments and resumed end like uninterrupted runs, to the last digit."""

import json
import os

import pytest
from tests.killed import run_script

SCRIPT = """
import json, random, sys
from pathlib import Path
import torch
import lightning_fabric
from shadow_gnn.training.checkpoint import read_checkpoint
from shadow_gnn.base.errors import RunError
from shadow_gnn.training.runs.run import resume_run, train_recipe
from shadow_gnn.training.runs.folder import open_run
from shadow_gnn.graph.store import save_graph
from tests.communities import communities, near_ring, small_recipe
from tests.killed import kill_and_finish, seconds_of

torch.set_num_threads(1)
root, num_chains, seed, changes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
rng = random.Random(seed)
save_graph(near_ring() if changes.get("task__kind") == "link" else communities(), root / "g")
if "training__init" in changes:
    normal = small_recipe(graph=str(root / "g"), extractor=None, training__method="full", training__num_epochs=2)
    changes["training__init"] = str(train_recipe(normal, root / "source").folder)
recipe = small_recipe(graph=str(root / "g"), **changes)

def train(folder):
    return lambda: resume_run(folder) if folder.exists() else train_recipe(recipe, folder)

def summary(folder):
    result = {name: value for name, value in open_run(folder).result.items() if "seconds" not in name}
    rows = [line.rsplit(",", 3)[0] for line in (folder / "metrics.csv").read_text().splitlines()]
    last = read_checkpoint(max((folder / "checkpoints").glob("epoch-*")))
    tensors = {name: tensor.numpy().tobytes().hex() for name, tensor in last.tensors.items()}
    return result, rows, tensors, (folder / "model.safetensors").read_bytes()

duration = seconds_of(train(root / "whole"))
expected = summary(root / "whole")
kills = resumed = 0
for chain in range(num_chains):
    folder = root / f"chain-{chain}"

    def check():
        global resumed
        resumed += folder.exists() and any(folder.rglob("checkpoints/epoch-*"))
        for path in folder.rglob("checkpoints/*.safetensors"):
            read_checkpoint(path)  # A file with a final name is complete.

    moments = (rng.uniform(0, 0.7 * duration) for _ in range(rng.randint(1, 5)))
    kills += kill_and_finish(train(folder), moments, check)
    assert summary(folder) == expected, folder
    assert not list(folder.rglob("*.tmp"))
print(json.dumps({"kills": kills, "resumed": resumed}))
"""

NODES = {"training__num_epochs": 6, "training__batch_size": 8, "training__patience": 4}
# Everything that is drawn again in an epoch of links: their share, the negatives and the scopes.
LINKS = {
    **NODES,
    "task__kind": "link",
    "link__epoch_share": 0.15,
    "link__num_negatives": 2,
    "link__negatives": "degree",
    "link__use_valid_edges": True,
    "extractor__kind": "stochastic-ppr",
    "inputs__graph_degree": True,
    "model__encoding": "drnl",
    "model__readout": "sort",
    "training__cache": "disk",
    "training__monitor": "auc",
}

PACKED = {**NODES, "training__pack": True}
INIT = {**NODES, "training__init": "source"}
WARM = {**NODES, "training__warm_start": "neighbor", "training__warm_epochs": 6}
JOINT = {**NODES, "training__method": "joint", "joint__block_size": 4, "joint__max_nodes": 60}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("changes", [NODES, LINKS, WARM, JOINT], ids=["nodes", "links", "warm", "joint"])
def test_kills_change_nothing(tmp_path, changes):
    found = run_script(SCRIPT, tmp_path, 3, 1, json.dumps(changes))
    assert found["kills"] >= 3
    assert found["resumed"] >= 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize(
    "changes", [NODES, LINKS, PACKED, INIT, WARM, JOINT], ids=["nodes", "links", "packed", "init", "warm", "joint"]
)
def test_many_chains_of_kills_change_nothing(tmp_path, changes):
    found = run_script(SCRIPT, tmp_path, 40, 2, json.dumps(changes))
    assert found["kills"] >= 40
