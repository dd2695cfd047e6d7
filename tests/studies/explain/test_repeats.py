"""Repeats: every copy of a scope is that scope, row by row, edge by edge and in what models answer."""

from dataclasses import replace

import pytest
import torch
from tests.nn.scopes import EXTRACTORS, make_branch, random_graph, shake
from tests.studies.explain.test_saliency import MODELS, TARGETS, batch_for, model_of

from shadow_gnn.extract import PprExtractor
from shadow_gnn.loading.batch import collate
from shadow_gnn.nn.ensemble import MeanEnsemble
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.copies import single_scopes
from shadow_gnn.studies.explain.repeats import repeated

POOLS = {"mean": {"layer": "sage", "readout": "mean"}, "max": {"layer": "gin", "readout": "max", "encoding": "hop"}}


@pytest.mark.parametrize("order", ["hop", "subgraph"])
def test_copies_are_the_scopes_themselves(order):
    batch = batch_for([0, 7, 12], order=order, weighted=True)
    made = repeated(batch, 3)
    originals = single_scopes(batch)
    copies = single_scopes(made.batch)
    assert len(copies) == 9
    for number, copy in enumerate(copies):
        scope = originals[number // 3]
        for name in ("targets", "target_node", "node_id", "hop", "score", "indptr", "indices", "edge_weight", "x"):
            assert getattr(copy, name).tolist() == getattr(scope, name).tolist(), name
        assert copy.hop_ptr == scope.hop_ptr or order == "subgraph"
    assert made.batch.node_id.tolist() == batch.node_id[made.node].tolist()
    assert made.batch.edge_attr.tolist() == batch.edge_attr[made.edge].tolist()
    assert (made.batch.subgraph % 3).tolist() == made.node_copy.tolist()
    assert made.node_copy[made.batch.edge_index()[1]].tolist() == made.edge_copy.tolist()


@pytest.mark.parametrize("order", ["hop", "subgraph"])
@pytest.mark.parametrize("options", [*MODELS.values(), *POOLS.values()], ids=[*MODELS, *POOLS])
def test_models_answer_each_copy_as_its_scope(options, order):
    model, batch = model_of(**options), batch_for(TARGETS, order=order)
    expected = model(batch).repeat_interleave(2, dim=0)
    torch.testing.assert_close(model(repeated(batch, 2).batch), expected)


def test_branches_of_any_order_stay_in_step_and_pairs_keep_their_ends():
    graph = random_graph()
    branches = [shake(make_branch("sage")), shake(make_branch("gcn", "mean", encoding="none"))]
    model = ShadowGNN(branches, Head(8, 4), MeanEnsemble()).double().eval()
    batches = []
    for size, layout in zip((8, 14), model.layouts, strict=True):
        batch = collate(graph, PprExtractor(size)(graph, [3, 7, 12]), order=layout.order)
        batches.append(replace(batch, x=batch.x.double()))
    expected = model(batches).repeat_interleave(3, dim=0)
    torch.testing.assert_close(model([repeated(batch, 3).batch for batch in batches]), expected)
    pairs = shake(make_branch("sage", encoding="drnl", num_targets=2)).eval()
    batch = collate(graph, EXTRACTORS["ppr"](graph, [[3, 7], [12, 12]]))
    batch = replace(batch, x=batch.x.double())
    torch.testing.assert_close(pairs(repeated(batch, 3).batch), pairs(batch).repeat_interleave(3, dim=0))


def test_one_copy_is_the_batch_itself():
    batch = batch_for([7])
    assert repeated(batch, 1).batch is batch
