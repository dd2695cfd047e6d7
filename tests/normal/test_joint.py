"""JointLoader: merged scopes are the union with all its edges, and a target reads what it would read alone."""

import itertools
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.communities import communities, one_thread  # noqa: F401
from tests.normal.reference import dense_logits, exact_graph, in_double, normal_model

from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.extract.kinds.ppr import StochasticPprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.loading.epochs import RankPart
from shadow_gnn.normal import JointLoader, closure_batch
from shadow_gnn.normal.joint import near_targets
from shadow_gnn.normal.merged_scopes import merged

PPR = PprExtractor(topk=6, edge_pos=True)
TARGETS = [0, 7, 12, 20, 33]


def assert_equal(left: Batch, right: Batch) -> None:
    for field in fields(Batch):
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        assert torch.equal(ours, theirs) if isinstance(ours, torch.Tensor) else ours == theirs, field.name


def matrix_of(graph: Graph) -> sp.csr_matrix:
    return sp.csr_matrix((graph.edge_weight, graph.indices, graph.indptr))


def slow_hops(matrix: sp.csr_matrix, num_targets: int) -> list[int]:
    """Return the distance of each row to the nearest of the first rows, against message direction."""
    hop = [0] * num_targets + [-1] * (matrix.shape[0] - num_targets)
    for distance in range(matrix.shape[0]):
        for row in (row for row, found in enumerate(hop) if found == distance):
            for sender in matrix[row].indices:
                if hop[sender] < 0:
                    hop[sender] = distance + 1
    return hop


@pytest.mark.parametrize("target", [0, 12, 33])
def test_a_joint_batch_of_one_target_is_its_scope(target):
    graph = exact_graph()
    (joint,) = JointLoader(graph, PPR, [target], edge_arrays=["id", "weight"])
    alone = collate(graph, PPR(graph, [target]), edge_arrays=["id", "weight"])
    for name in ("targets", "target_node", "node_id", "hop", "indptr", "indices", "x", "y", "edge_id", "edge_weight"):
        assert torch.equal(getattr(joint, name), getattr(alone, name)), name
    assert joint.hop_ptr == alone.hop_ptr


@pytest.mark.parametrize("block_size", [1, 2, 5])
def test_a_joint_batch_is_the_union_with_all_its_edges(block_size):
    graph = exact_graph()
    (batch,) = JointLoader(graph, PPR, TARGETS, block_size=block_size, batch_size=10, edge_arrays=["weight"])
    node_id = batch.node_id.numpy()
    assert set(node_id) == set(PPR(graph, TARGETS).node_id)
    assert len(set(node_id)) == len(node_id)
    inside = matrix_of(graph)[node_id][:, node_id]
    inside.sort_indices()
    assert batch.indptr.tolist() == inside.indptr.tolist()
    assert batch.indices.tolist() == inside.indices.tolist()
    assert batch.edge_weight.tolist() == inside.data.tolist()
    assert batch.hop.tolist() == slow_hops(inside, len(TARGETS))
    assert batch.hop_ptr == tuple(int((batch.hop <= hop).sum()) for hop in range(int(batch.hop.max()) + 1))


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin"])
def test_targets_on_full_scopes_read_what_normal_inference_reads(layer):
    """Degrees of the last hop are cut off, so GCN needs one hop more than it has layers."""
    graph = exact_graph()
    model = normal_model(layer).eval()
    (batch,) = JointLoader(graph, KhopExtractor(num_hops=3), TARGETS)
    exact = model(in_double(closure_batch(graph, TARGETS, 2)))
    torch.testing.assert_close(model(in_double(batch)), exact, atol=1e-10, rtol=1e-10)
    if layer != "gat":
        torch.testing.assert_close(exact, dense_logits(model, layer, graph)[TARGETS], atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin"])
def test_trimmed_and_untrimmed_joint_batches_agree(layer):
    graph = exact_graph()
    (batch,) = JointLoader(graph, PprExtractor(topk=12), TARGETS)
    trimmed, whole = (normal_model(layer, trim=trim).eval() for trim in (True, False))
    whole.load_state_dict(trimmed.state_dict())
    torch.testing.assert_close(trimmed(in_double(batch)), whole(in_double(batch)), atol=1e-10, rtol=1e-10)


def test_repeated_targets_share_a_row():
    graph = exact_graph()
    (batch,) = JointLoader(graph, PPR, [7, 0, 7])
    assert batch.targets[:, 0].tolist() == [7, 0, 7]
    assert batch.node_id[batch.target_node[:, 0]].tolist() == [7, 0, 7]
    assert batch.y.tolist() == graph.y[[7, 0, 7]].tolist()
    assert batch.hop_ptr[0] == 2


def test_the_largest_sums_of_scores_stay_below_max_nodes():
    graph = exact_graph()
    (whole,) = JointLoader(graph, PPR, TARGETS)
    (few,) = JointLoader(graph, PPR, TARGETS, max_nodes=9)
    assert few.num_nodes == 9 < whole.num_nodes
    assert few.targets.tolist() == whole.targets.tolist()


def test_merged_sums_scores_and_puts_the_best_first():
    nodes, scores = merged([np.array([5, 2, 9]), np.array([2, 7])], [np.float32([1, 0.5, 1]), np.float32([0.75, 1])])
    assert nodes.tolist() == [2, 5, 9, 7]
    assert scores.tolist() == [1.25, 1, 1, 1]


def test_epochs_are_whole_blocks_in_a_new_order():
    graph = communities()
    loader = JointLoader(graph, PPR, range(50), block_size=4, batch_size=9, shuffle=True, prefetch=0)
    assert (loader.num_blocks, len(loader), loader.batch_size) == (13, 7, 8)
    first, second = ([batch.target_row.tolist() for batch in loader.epoch(epoch)] for epoch in (0, 1))
    assert first != second
    assert sorted(itertools.chain(*first)) == sorted(itertools.chain(*second)) == list(range(50))
    blocks = {tuple(loader._rows[start : start + 4]) for start in range(0, 50, 4)}
    for batch in first:
        assert blocks >= {tuple(batch[start : start + 4]) for start in range(0, len(batch), 4)} or len(batch) % 4
    assert sorted(near_targets(graph, np.arange(50))) == list(range(50))


@pytest.mark.parametrize("extractor", [PPR, StochasticPprExtractor(topk=6)])
def test_batches_depend_on_seed_and_epoch_alone(extractor):
    graph = communities()
    options = {"block_size": 4, "batch_size": 12, "shuffle": True, "seed": 5}
    loader = JointLoader(graph, extractor, range(50), prefetch=0, **options)
    others = [
        JointLoader(graph, extractor.with_common(num_threads=3), range(50), prefetch=2, **options),
        JointLoader(graph, extractor, range(50), max_bytes=0, **options),
        JointLoader(graph, extractor, range(50), max_bytes=300, **options),
    ]
    for epoch in (2, 0, 2):
        wanted = list(loader.epoch(epoch))
        for other in others:
            for ours, theirs in zip(other.epoch(epoch), wanted, strict=True):
                assert_equal(ours, theirs)


def test_ranks_share_the_blocks_of_a_batch():
    graph = communities()
    loader = JointLoader(graph, PPR, range(50), block_size=4, batch_size=8, shuffle=True)
    whole = [batch.target_row.tolist() for batch in loader.epoch(0)]
    parts = [list(loader.rank_epoch(0, RankPart(rank, 2))) for rank in (0, 1)]
    for number, (left, right) in enumerate(zip(*parts, strict=True)):
        own = [] if right.filler else right.target_row.tolist()
        assert left.target_row.tolist() + own == whole[number]
    dealt = [list(loader.rank_epoch(0, RankPart(rank, 2, "deal"))) for rank in (0, 1)]
    assert [batch.target_row.tolist() for batch in dealt[0]] == whole[::2]


def test_wrong_arguments_are_named():
    graph = communities()
    for name in ("batch_size", "block_size", "max_nodes"):
        with pytest.raises(ValueError, match=f"JointLoader: {name} must be at least 1, got 0"):
            JointLoader(graph, PPR, [0], **{name: 0})
    with pytest.raises(ValueError, match="JointLoader: targets must be single nodes"):
        JointLoader(graph, PPR, [[0, 1]])
    with pytest.raises(ValueError, match="JointLoader: edge_arrays must be arrays of the graph, got 'weight'"):
        JointLoader(graph, PPR, [0], edge_arrays=["weight"])
