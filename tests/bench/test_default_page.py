"""The page of the default: the chosen normal GNN, differences and counts on drawn scores, and the runs behind it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "study"))

from default_networks import NETWORKS, recipe_of  # noqa: E402
from default_page import DEFAULT, NORMALS, page, read_graph  # noqa: E402
from default_runs import train  # noqa: E402
from tests.communities import communities, one_thread  # noqa: E402, F401

from shadow_gnn.graph.store import open_graph, save_graph  # noqa: E402

NUM_NODES = 500
TOLD = {
    "weights": {"normal": 0.5, "gcn": 0.1, "scopes": 0.4},
    "members": {name: {"valid": 0.7, "test": 0.75} for name in ("normal", "gcn", "scopes")},
}


def keep(folder, graph, network, seed, skill):
    """Write predictions of which a share is correct."""
    rng, kept = np.random.default_rng([seed, len(network), int(100 * skill)]), {}
    for split in ("valid", "test"):
        label = np.arange(NUM_NODES) % 4
        scores = 0.5 * rng.random((NUM_NODES, 4))
        chosen = np.where(rng.random(NUM_NODES) < skill, label, (label + 1) % 4)
        scores[np.arange(NUM_NODES), chosen] += 1
        kept |= {split: scores.astype(np.float16), f"{split}_label": label}
    if network == DEFAULT:
        kept |= {"told": json.dumps(TOLD), "cpu_seconds": 19.0}
    np.savez(folder / f"{graph}--{network}--{seed}.npz", **{"cpu_seconds": 10.0, "epoch": 1, **kept})


@pytest.fixture
def folder(tmp_path):
    for network, skill in zip((*NORMALS, DEFAULT), (0.5, 0.7, 0.6, 0.4, 0.8), strict=True):
        for seed in (0, 1):
            keep(tmp_path, "a", network, seed, skill)
    keep(tmp_path, "b", NORMALS[0], 0, 0.9)
    keep(tmp_path, "perl-namespaces", NORMALS[0], 0, 0.9)
    keep(tmp_path, "perl-namespaces", DEFAULT, 0, 0.6)
    return tmp_path


def cells_of(text, name):
    row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_page_compares_with_the_best_normal_network_and_names_missing_graphs(folder):
    graph = read_graph(folder, "a")
    assert graph.normal == NORMALS[1]
    text = page(folder, ["a", "b"])
    cells = cells_of(text, "a")
    means = [100 * graph.correct(name, "test").mean() for name in (NORMALS[1], DEFAULT)]
    assert cells[1:4] == ["4", *(f"{mean:.2f} (2)" for mean in means)]
    assert cells[4].startswith(f"{means[1] - means[0]:+.2f} (")
    assert cells[-1] == "1.9"
    assert "At least 0.3 points above it: 1 of 1 graphs." in text
    assert "Not finished: b." in text
    assert "## Graphs that were held out" not in text


def test_two_normal_networks_are_averaged_by_probability(folder):
    graph = read_graph(folder, "a")
    one, two = (np.load(folder / f"a--{NORMALS[1]}--{seed}.npz") for seed in (0, 1))
    mean = one["test"].astype(np.float64) + two["test"]
    assert graph.pairs_correct(NORMALS[1], "test").mean() == pytest.approx((mean.argmax(1) == one["test_label"]).mean())
    assert len(read_graph(folder, "b").pairs_correct(NORMALS[0], "test")) == 0


def test_held_out_graphs_have_a_table_of_their_own(folder):
    tuned, held = page(folder, ["a", "perl-namespaces"]).split("## Graphs that were held out")
    assert "| perl-namespaces |" not in tuned
    assert "At least 0.3 points above it: 0 of 1 graphs." in held
    assert cells_of(held, "perl-namespaces")[5] == "-"


def test_a_run_of_the_default_keeps_its_scores_and_choices(tmp_path):
    save_graph(communities(), tmp_path / "g")
    graph = open_graph(tmp_path / "g")
    train(graph, "default", 1, tmp_path / "g--default--1.npz")
    (told,) = read_graph(tmp_path, "g").told(DEFAULT)
    kept = np.load(tmp_path / "g--default--1.npz")
    assert sum(told["weights"].values()) == pytest.approx(1)
    assert kept["test"].shape == (len(graph.splits["test"]), graph.num_classes)
    assert any("inputs.labels" in line for line in told["choices"])
    assert not (tmp_path / "g--default--1").exists()


@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_has_a_recipe(network):
    recipe = recipe_of(communities(), network, 3, 0.01)
    assert recipe.seed == 3
    assert recipe.is_normal == ("normal" in network)
    assert recipe.inputs.labels == ("labels" in network or "demo" in network)
