"""Quality: fidelity and unfaithfulness equal PyG's own functions; planted graphs hold what they promise."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.studies.explain.test_saliency import batch_for, model_of
from torch_geometric.explain import Explainer, ExplainerAlgorithm, Explanation
from torch_geometric.explain import metric as pyg_metric

from shadow_gnn.studies.explain.planted import NUM_COLORS, ba_shapes, relay_graph, tree_cycle
from shadow_gnn.studies.explain.pyg_twin import PygTwin
from shadow_gnn.studies.explain.quality import fidelity, strongest_messages, truth_auc


class Given(ExplainerAlgorithm):
    """An algorithm that returns a given mask."""

    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def forward(self, model, x, edge_index, **options):
        return Explanation(edge_mask=self.mask)

    def supports(self):
        return True


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin"])
def test_metrics_equal_those_of_pyg(layer):
    model = model_of(layer=layer)
    changed = []
    for target in (0, 7, 12, 20, 31):
        batch = batch_for([target])
        rng = np.random.default_rng(target)
        mask = torch.from_numpy((rng.random(batch.num_edges) < 0.4).astype(np.float64))
        explainer = Explainer(
            PygTwin(model),
            algorithm=Given(mask),
            explanation_type="model",
            edge_mask_type="object",
            model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
        )
        found = explainer(batch.x, batch.edge_index(), index=batch.target_node[0])
        own = fidelity(model, batch, mask)
        assert (own.positive, own.negative) == pyg_metric.fidelity(explainer, found)
        assert own.unfaithfulness == pytest.approx(pyg_metric.unfaithfulness(explainer, found), abs=1e-6)
        changed.append(own.positive + own.negative)
    assert any(changed)


def test_a_batch_has_the_means_of_its_targets():
    model, targets = model_of(layer="gcn"), [0, 7, 12, 20]
    chosen = {target: torch.arange(batch_for([target]).num_edges) % 2 for target in targets}
    alone = [fidelity(model, batch_for([target], order="subgraph"), chosen[target]) for target in targets]
    together = fidelity(model, batch_for(targets, order="subgraph"), torch.cat(list(chosen.values())))
    for name in ("positive", "negative", "unfaithfulness"):
        mean = np.mean([getattr(one, name) for one in alone])
        assert getattr(together, name) == pytest.approx(mean, abs=1e-9)


class Contributed:
    """The fields of an explanation that quality reads."""

    def __init__(self, target, edge, contribution):
        self.targets, self.edge, self.edge_contribution = [target], np.array(edge), np.array(contribution)


def test_both_directions_of_the_strongest_edges_are_chosen():
    batch = batch_for([7])
    ends = batch.node_id[batch.edge_index()].T.tolist()
    edges = sorted({tuple(sorted(pair)) for pair in ends})
    sizes = np.linspace(-1, 0.5, len(edges))
    for either_sign, expected in ((True, edges[:2]), (False, edges[-2:])):
        found = strongest_messages(batch, Contributed(7, edges, sizes), 2, either_sign=either_sign)
        assert found.sum() == 4
        assert {tuple(sorted(ends[at])) for at in found.nonzero()[:, 0]} == set(expected)


def test_agreement_with_the_truth():
    planted = tree_cycle(3, 1)
    first = planted.graph.num_nodes - 6
    truth = sorted(planted.deciding(first))
    others = [(0, 1), (0, 2)]
    assert truth_auc(planted, Contributed(first, truth + others, [1, -2, 3, 1, 1, 1, 0.5, 0])) == 1.0
    assert truth_auc(planted, Contributed(first, truth + others, [1, 1, 1, 1, 1, 1, 2, 0])) == 0.5
    assert truth_auc(planted, Contributed(first, truth, [1, 1, 1, 1, 1, 1])) is None


@pytest.mark.parametrize(("make", "size"), [(lambda: ba_shapes(50, 8), 6), (lambda: tree_cycle(6, 8), 6)])
def test_motifs_are_where_the_labels_say(make, size):
    planted = make()
    graph = planted.graph
    known = {
        (min(node, int(other)), max(node, int(other)))
        for node in range(graph.num_nodes)
        for other in graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    }
    for node in range(graph.num_nodes):
        deciding = planted.deciding(node)
        assert len(deciding) == (size if graph.y[node] > 0 else 0)
        assert deciding <= known
        if deciding:
            assert node in {end for pair in deciding for end in pair}
    motif = np.flatnonzero(graph.y > 0)
    assert np.isin(graph.splits["test"], motif).all()
    assert not set(graph.splits["train"]) & (set(graph.splits["valid"]) | set(graph.splits["test"]))
    again = make().graph
    assert np.array_equal(again.indices, graph.indices)


def test_houses_have_a_roof_and_corners():
    graph = ba_shapes(50, 8).graph
    assert np.bincount(graph.y).tolist() == [50, 8, 16, 16]


def test_a_relay_graph_is_decided_by_two_edges():
    planted = relay_graph(2000)
    graph = planted.graph
    x, y = graph.x.matrix, graph.y
    color, is_relay, is_source = x[:, :NUM_COLORS].argmax(axis=1), x[:, 4] == 1, x[:, 5] == 1
    targets = np.flatnonzero(y >= 0)
    assert len(targets) == 1200
    for target in targets[::50]:
        near = graph.indices[graph.indptr[target] : graph.indptr[target + 1]]
        (relay,) = near[is_relay[near]]  # The only one: decoys never lead to a relay.
        senders = graph.indices[graph.indptr[relay] : graph.indptr[relay + 1]]
        (source,) = senders[is_source[senders]]
        assert y[target] == color[source]
        expected = {tuple(sorted((int(source), int(relay)))), tuple(sorted((int(target), int(relay))))}
        assert planted.deciding(int(target)) == expected
        first, second = np.array([source, target, 0]), np.array([relay, relay, 1])
        assert planted.is_deciding(int(target), second, first).tolist() == [True, True, False]
    # Its own color says nothing about the class of a target.
    assert abs((color[targets] == y[targets]).mean() - 1 / NUM_COLORS) < 0.06
    assert replace(graph, splits={}).splits == {}
