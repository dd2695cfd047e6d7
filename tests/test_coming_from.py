"""Coming from another library: calls of the page's tables next to ours, where the other library is installed.

DGL and OGB are not among the requirements of the tests: `make test-others` installs them in a place of their own.
"""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from shadow_gnn import Loader, ModelRecipe, Recipe, build_model, from_edges, from_pyg
from shadow_gnn.extract import FullExtractor, KhopExtractor, PprExtractor, RwrExtractor
from shadow_gnn.tasks.metrics import Scores
from shadow_gnn.tasks.task import NodeTask

PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text()
NUM_NODES = 60


def rows(title):
    """Return (theirs, ours) of a section of the page."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^\| (.*?) \| (.*?) \|$", section, re.MULTILINE)
    return [row for row in found if set(row[0]) != {"-"} and " ".join(row) != f"{title} shadow-gnn"]


def ends():
    """Return the two ends of 90 undirected edges without self-loops or repetitions."""
    rng = np.random.default_rng(0)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(NUM_NODES, size=(90, 2)).tolist() if len(set(pair)) == 2}
    return np.array(sorted(pairs)).T


@pytest.fixture
def data():
    first, second = ends()
    edges = torch.from_numpy(np.concatenate([[first, second], [second, first]], axis=1))
    return Data(x=torch.rand(NUM_NODES, 4), edge_index=edges, y=torch.arange(NUM_NODES) % 3)


@pytest.fixture
def graph(data):
    return from_pyg(data)


@pytest.mark.parametrize("title", ["PyG", "DGL", "OGB", "SEAL", "GraphSAINT", "The authors' code"])
def test_every_library_has_a_table(title):
    assert len(rows(title)) >= 3


def test_pyg_data_keeps_features_edges_and_labels(data, graph):
    assert (graph.num_nodes, len(graph.indices)) == (data.num_nodes, data.num_edges)
    assert graph.y.tolist() == data.y.tolist()
    np.testing.assert_array_equal(graph.x.rows(np.arange(NUM_NODES)), data.x)


def test_get_ppr_has_our_scores(data, graph):
    pytest.importorskip("numba", reason="numba is not installed")
    from torch_geometric.utils import get_ppr

    (_, theirs), scores = get_ppr(data.edge_index, alpha=0.15, eps=1e-7, target=torch.tensor([7]))
    expected = dict(zip(theirs.tolist(), scores.tolist(), strict=True))
    scope = PprExtractor(teleport=0.15, tolerance=1e-9, topk=NUM_NODES)(graph, [7])[0]
    assert set(scope.node_id.tolist()) == set(expected)
    found = dict(zip(scope.node_id.tolist(), (scope.score / scope.score.sum()).tolist(), strict=True))
    total = sum(expected.values())
    for node, score in expected.items():
        assert found[node] == pytest.approx(score / total, abs=1e-4)


def test_loader_of_khop_scopes_has_a_batch_for_pyg(graph):
    recipe = ModelRecipe(layer="sage", hidden_dim=16, num_layers=5)
    model = build_model(recipe, in_dim=4, out_dim=3, seed=0)
    extractor = KhopExtractor(num_hops=2, fanout=20)
    first = next(iter(Loader(graph, extractor, range(NUM_NODES), batch_size=16, model=model)))
    assert model(first).shape == (16, 3)
    assert isinstance(first.to_pyg(), Batch)


@pytest.mark.parametrize("option", [{"layer": "TransformerConv"}, {"skip": "max"}, {"readout": "mean"}])
def test_names_of_pyg_are_options_of_a_model(graph, option):
    model = build_model(ModelRecipe(num_layers=2, hidden_dim=8, **option), in_dim=4, out_dim=3, seed=0)
    (batch,) = Loader(graph, FullExtractor(num_hops=2), [0, 7], model=model)
    assert model(batch).shape == (2, 3)


@pytest.fixture
def dgl(monkeypatch):
    monkeypatch.setenv("DGLBACKEND", "pytorch")
    return pytest.importorskip("dgl", reason="dgl is not installed")


@pytest.fixture
def their_graph(dgl):
    first, second = map(torch.from_numpy, ends())
    return dgl.to_bidirected(dgl.graph((first, second), num_nodes=NUM_NODES))


def test_dgl_graph_has_our_edges(their_graph, graph):
    first, second = ends()
    ours = from_edges(first, second, NUM_NODES)
    assert their_graph.num_edges() == len(ours.indices) == len(graph.indices)


def test_scopes_of_dgl_hold_our_nodes(dgl, their_graph, graph):
    sampler = dgl.dataloading.ShaDowKHopSampler([20, 20])
    for extractor in (FullExtractor(num_hops=2), KhopExtractor(num_hops=2, fanout=20)):
        for target in range(0, NUM_NODES, 7):
            nodes, _, sub = sampler.sample(their_graph, torch.tensor([target]))
            scope = extractor(graph, [target])[0]
            assert sorted(scope.node_id.tolist()) == sorted(nodes.tolist())
            assert len(scope.indices) == sub.num_edges()


@pytest.mark.filterwarnings("default")  # DGL advises on processes.
def test_dataloader_of_dgl_has_as_many_batches(dgl, their_graph, graph):
    sampler = dgl.dataloading.ShaDowKHopSampler([20, 20])
    theirs = dgl.dataloading.DataLoader(their_graph, torch.arange(NUM_NODES), sampler, batch_size=16)
    ours = Loader(graph, KhopExtractor(num_hops=2, fanout=20), range(NUM_NODES), batch_size=16)
    assert len(list(theirs)) == len(list(ours)) == 4


def test_neighbors_of_pinsage_are_in_our_random_walks(dgl, their_graph, graph):
    sampler = dgl.sampling.PinSAGESampler(their_graph, "_N", "_N", 2, 0.5, 200, 5)
    theirs = set(sampler(torch.tensor([7])).edges()[0].tolist())
    ours = set(RwrExtractor(topk=NUM_NODES, num_walks=2000)(graph, [7])[0].node_id.tolist())
    assert theirs <= ours


def test_evaluator_of_ogb_has_our_accuracy():
    evaluate = pytest.importorskip("ogb.nodeproppred", reason="ogb is not installed").Evaluator
    rng = np.random.default_rng(0)
    y, logits = rng.integers(40, size=500), torch.from_numpy(rng.normal(size=(500, 40))).float()
    logits[torch.arange(250), torch.from_numpy(y[:250])] += 10
    theirs = evaluate(name="ogbn-arxiv").eval({"y_true": y[:, None], "y_pred": logits.argmax(1).numpy()[:, None]})
    scores = Scores(NodeTask("classes", 40))
    scores.update(logits, torch.from_numpy(y))
    assert scores.compute()["accuracy"] == pytest.approx(theirs["acc"])


def settings():
    """Give every `key = value` of our side of the page."""
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    for _, ours in (row for title in titles for row in rows(title)):
        yield from re.findall(r"`([a-z]+\.[a-z_]+ = [^`]+)`", ours)


@pytest.mark.parametrize("setting", sorted(set(settings())))
def test_setting_of_the_page_is_one_of_a_recipe(setting):
    table = tomllib.loads(setting)
    if "link" in table or "hits50" in setting:
        table.setdefault("task", {})["kind"] = "link"
    extractor = {"kind": "ppr", "topk": 10} if table.get("training", {}).get("method") is None else None
    Recipe.model_validate({"graph": "debian", "extractor": extractor, **table})


def test_page_has_settings():
    assert len(set(settings())) > 8
