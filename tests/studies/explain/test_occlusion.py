"""Occlusion: every effect equals that of a scope rebuilt without the part, one after the other."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.nn.scopes import EXTRACTORS, make_branch, random_graph, shake
from tests.studies.explain.test_saliency import model_of

from shadow_gnn.extract import PprExtractor, Subgraphs
from shadow_gnn.extract.subgraphs import offsets
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.ensemble import MeanEnsemble
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.copies import copies_of, copies_without, single_scopes
from shadow_gnn.studies.explain.occlusion import occlusion_parts
from shadow_gnn.studies.explain.on_batches import explain_batches
from shadow_gnn.tasks.task import LinkTask, NodeTask

CLASSES = NodeTask("classes", 4)
GRAPHS = {"undirected": random_graph(), "directed": random_graph(undirected=False)}
MODELS = {
    "gcn": {"layer": "gcn"},
    "sage": {"layer": "sage", "num_layers": 3},
    "gat": {"layer": "gat", "encoding": "hop"},
    "gin": {"layer": "gin", "readout": "sum"},
    "conv": {"layer": "SAGEConv"},
    "mean": {"layer": "sage", "readout": "mean", "encoding": "ppr"},
}


def rebuilt(scope, *, without_node=None, without_edges=()):
    """Return a scope as if one of its nodes, or some of its edges (receiver, sender), had never been there."""
    kept = [node for node in range(len(scope.node_id)) if node != without_node]
    place = {node: row for row, node in enumerate(kept)}
    rows = []
    for node in kept:
        span = range(scope.indptr[node], scope.indptr[node + 1])
        rows.append(
            [
                (place[int(scope.indices[at])], int(scope.edge_pos[at]))
                for at in span
                if int(scope.indices[at]) != without_node and (node, int(scope.indices[at])) not in without_edges
            ]
        )
    edges = [edge for row in rows for edge in row]
    return Subgraphs(
        targets=scope.targets,
        ptr=np.array([0, len(kept)]),
        node_id=scope.node_id[kept],
        hop=scope.hop[kept],
        score=scope.score[kept],
        indptr=offsets(np.array([len(row) for row in rows])),
        indices=np.array([sender for sender, _ in edges], np.int32),
        edge_pos=np.array([position for _, position in edges], np.int64),
        nodes_touched=scope.nodes_touched,
        edges_touched=scope.edges_touched,
    )


def batch_of_scopes(graph, scopes, model):
    layout = model.layouts[0]
    batch = collate(graph, scopes, order=layout.order, edge_arrays=["weight", "attr"])
    return replace(batch, x=batch.x.double())


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "unweighted"])
def test_effects_equal_those_of_rebuilt_scopes(options, kind, weighted):
    graph, model = GRAPHS[kind], model_of(weighted=weighted, **options)
    scope = EXTRACTORS["ppr"](graph, [7])
    batch = batch_of_scopes(graph, scope, model)
    parts = occlusion_parts(model, [batch], Answer.of(CLASSES, model(batch)), directed=kind == "directed")
    answer = Answer.of(CLASSES, model(batch).detach())
    whole = answer(model(batch))[0].item()

    def effect(**changes):
        return whole - answer(model(batch_of_scopes(graph, rebuilt(scope, **changes), model)))[0].item()

    own = {int(node): row for row, node in enumerate(batch.node_id)}
    receiver = np.repeat(np.arange(len(scope.node_id)), np.diff(scope.indptr))
    pairs = list(zip(receiver.tolist(), scope.indices.tolist(), strict=True))
    for node in range(len(scope.node_id)):
        row = own[int(scope.node_id[node])]
        changes = {"without_node": node} if node else {"without_edges": [p for p in pairs if p[1] == node]}
        assert parts.nodes[0][row].item() == pytest.approx(effect(**changes), abs=1e-9)
    senders, receivers = batch.edge_index().tolist()
    for place, (to, sender) in enumerate(pairs):
        if place % 3:
            continue
        gone = [(to, sender)] if kind == "directed" else [(to, sender), (sender, to)]
        places = [
            at
            for at, ends in enumerate(zip(receivers, senders, strict=True))
            if tuple(own[int(scope.node_id[end])] for end in (to, sender))
            in (ends, ends[::-1] if kind != "directed" else ends)
        ]
        total = sum(parts.edges[0][at].item() for at in places)
        assert total == pytest.approx(effect(without_edges=gone), abs=1e-9)


def test_columns_are_set_to_their_means():
    model, graph = model_of(layer="gat"), GRAPHS["undirected"]
    batch = batch_of_scopes(graph, EXTRACTORS["ppr"](graph, [7]), model)
    found = explain_batches(model, batch, CLASSES, method="occlusion")
    answer = Answer.of(CLASSES, model(batch).detach())
    for column in range(5):
        x = batch.x.clone()
        x[:, column] = 0
        expected = answer(model(batch)) - answer(model(replace(batch, x=x)))
        assert found.columns[0, column].item() == pytest.approx(expected.item(), abs=1e-9)


def test_many_scopes_and_branches_equal_single_ones():
    graph = GRAPHS["undirected"]
    branches = [shake(make_branch("sage")), shake(make_branch("gcn", "mean", encoding="none"))]
    model = ShadowGNN(branches, Head(8, 4), MeanEnsemble()).double().eval()
    extractors = [PprExtractor(8, edge_pos=True), PprExtractor(14, edge_pos=True)]

    def batches_of(targets):
        made = []
        for extractor, layout in zip(extractors, model.layouts, strict=True):
            batch = collate(graph, extractor(graph, targets), order=layout.order, edge_arrays=["weight", "attr"])
            made.append(replace(batch, x=batch.x.double()))
        return made

    together = explain_batches(model, batches_of([3, 7, 12]), CLASSES, method="occlusion")
    for number, target in enumerate([3, 7, 12]):
        alone = explain_batches(model, batches_of([target]), CLASSES, method="occlusion")
        for branch, batch in enumerate(batches_of([3, 7, 12])):
            rows = batch.subgraph == number
            torch.testing.assert_close(together.nodes[branch][rows], alone.nodes[branch])
            edges = batch.subgraph[batch.edge_index()[1]] == number
            torch.testing.assert_close(together.edges[branch][edges], alone.edges[branch])
    # A node goes from both branches: the same effect in each.
    first, second = batches_of([3])
    found = explain_batches(model, batches_of([3]), CLASSES, method="occlusion")
    known = dict(zip(second.node_id.tolist(), found.nodes[1].tolist(), strict=True))
    for node, effect in zip(first.node_id.tolist(), found.nodes[0].tolist(), strict=True):
        assert known.get(node, effect) == effect


def test_all_versions_of_a_scope_of_200_nodes_are_one_batch():
    graph = random_graph(400, 1200)
    model = model_of(layer="sage")
    batch = batch_of_scopes(graph, PprExtractor(200, edge_pos=True, tolerance=1e-7)(graph, [7]), model)
    assert batch.num_nodes == 200
    sizes = []
    hook = model.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0][0])))
    explain_batches(model, batch, CLASSES, method="occlusion")
    hook.remove()
    assert sizes[:3] == [1, 1, 200]  # The prediction, the answer, and all nodes.


def test_the_ends_of_a_pair_stay_and_lose_their_messages():
    graph = GRAPHS["undirected"]
    model = ShadowGNN([shake(make_branch("sage", encoding="drnl", num_targets=2))], Head(8, 1)).double().eval()
    batch = collate(graph, PprExtractor(12, edge_pos=True)(graph, [[3, 7]]), edge_arrays=["weight", "attr"])
    batch = replace(batch, x=batch.x.double())
    found = explain_batches(model, batch, LinkTask(), method="occlusion")
    assert found.chosen is None
    ends = batch.target_node[0]
    keep = ~torch.isin(batch.indices, ends[:1])[None]
    without = copies_without(batch, torch.ones(1, batch.num_nodes, dtype=torch.bool), keep)
    expected = model(batch)[0, 0] - model(without)[0, 0]
    assert found.nodes[0][ends[0]].item() == pytest.approx(expected.item(), abs=1e-9)


def test_copies_are_the_scope_itself_and_scopes_can_be_separated():
    graph, model = GRAPHS["undirected"], model_of(layer="sage")
    for order in ("hop", "subgraph"):
        batch = collate(graph, EXTRACTORS["ppr"](graph, [3, 7, 12]), order=order, edge_arrays=["weight", "attr", "id"])
        batch = replace(batch, x=batch.x.double())
        expected = model(batch)
        for number, scope in enumerate(single_scopes(batch)):
            assert scope.order == order
            torch.testing.assert_close(model(scope)[0], expected[number])
            copies = copies_of(scope, 3)
            assert copies.targets[:, 0].tolist() == [int(batch.targets[number, 0])] * 3
            assert copies.num_edges == 3 * scope.num_edges
            torch.testing.assert_close(model(copies), expected[number].expand(3, -1))
    with pytest.raises(ValueError, match="copies_without: batch must have one scope, got 3"):
        copies_of(batch, 2)
    nodes = torch.zeros(1, scope.num_nodes, dtype=torch.bool)
    with pytest.raises(ValueError, match="copies_without: targets must be kept"):
        copies_without(scope, nodes, torch.ones(1, scope.num_edges, dtype=torch.bool))
