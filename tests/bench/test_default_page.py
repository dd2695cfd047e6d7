"""The page of the default: the chosen normal GNN, the weights of validation and the counts, on drawn scores."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "study"))

from default_page import NORMALS, PARTS, page, read_graph  # noqa: E402
from default_search import NETWORKS, recipe_of  # noqa: E402
from tests.communities import communities  # noqa: E402

NUM_NODES = 500


def keep(folder, graph, network, seed, skill):
    """Write predictions of which a share is correct."""
    rng, kept = np.random.default_rng([seed, len(network), int(100 * skill)]), {}
    for split in ("valid", "test"):
        label = np.arange(NUM_NODES) % 4
        scores = 0.5 * rng.random((NUM_NODES, 4))
        chosen = np.where(rng.random(NUM_NODES) < skill, label, (label + 1) % 4)
        scores[np.arange(NUM_NODES), chosen] += 1
        kept |= {split: scores.astype(np.float16), f"{split}_label": label}
    np.savez(folder / f"{graph}--{network}--{seed}.npz", cpu_seconds=10.0, epoch=1, **kept)


@pytest.fixture
def folder(tmp_path):
    for network, skill in zip((*NORMALS, *PARTS), (0.5, 0.7, 0.6, 0.72, 0.8), strict=True):
        keep(tmp_path, "a", network, 0, skill)
    keep(tmp_path, "a", PARTS[0], 1, 0.72)
    keep(tmp_path, "a", PARTS[1], 1, 0.8)
    keep(tmp_path, "b", NORMALS[0], 0, 0.9)
    return tmp_path


def test_page_compares_with_the_best_normal_network_and_names_missing_graphs(folder):
    graph = read_graph(folder, "a")
    assert graph.normal == NORMALS[1]
    assert graph.seeds == [0, 1]
    text = page(folder, ["a", "b"])
    (row,) = (line for line in text.splitlines() if line.startswith("| a |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "3"
    assert cells[2] == f"{100 * graph.correct(NORMALS[1], 0, 'test').mean():.2f} (1)"
    default = np.mean([graph.default(seed, "test")[0].mean() for seed in (0, 1)])
    assert cells[5] == f"{100 * default:.2f} (2)"
    assert cells[-1] == "2.0"
    assert "At least 0.3 points above it: 1 of 1 graphs." in text
    assert "Not finished: b." in text


def test_weights_come_from_validation_alone(folder):
    before = read_graph(folder, "a").default(0, "valid")[1]
    path = folder / f"a--{PARTS[1]}--0.npz"
    kept = dict(np.load(path))
    kept["test"] = kept["test"][::-1]
    np.savez(path, **kept)
    assert read_graph(folder, "a").default(0, "valid")[1] == before


@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_has_a_recipe(network):
    recipe = recipe_of(communities(), network, 3, 0.01)
    assert recipe.seed == 3
    assert recipe.is_normal == ("normal" in network)
    assert recipe.inputs.labels == ("labels" in network or "demo" in network)
