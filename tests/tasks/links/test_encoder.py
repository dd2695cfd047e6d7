"""The encoder with a dot product and the table of link baselines."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread  # noqa: F401
from tests.tasks.links.test_training import GRAPH

from shadow_gnn.nn.sparse.adjacency import Adjacency
from shadow_gnn.tasks.links import baselines
from shadow_gnn.tasks.links.baselines import LINK_BASELINES, LinkProblem, run_link_baselines
from shadow_gnn.tasks.links.encoder import Encoder, EncoderOptions, _batches, encoder_scores
from shadow_gnn.tasks.links.heuristics import heuristic_scores
from shadow_gnn.tasks.links.loader import TrainingPairs
from shadow_gnn.tasks.links.metrics import auc, hits_at, link_metrics
from shadow_gnn.tasks.links.splits import SplitOptions, make_splits

pytestmark = pytest.mark.usefixtures("one_thread")
SPLITS = make_splits(GRAPH, SplitOptions(valid_share=0.1))
SHORT = EncoderOptions(num_epochs=40, hidden_dim=16)


def problem(splits=SPLITS, **options):
    return LinkProblem(splits, TrainingPairs(splits.graph, splits.train, **options))


def test_a_layer_is_the_mean_of_the_neighbors_beside_the_node_itself():
    model = Encoder(2, 3, 1)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    adjacency = Adjacency(torch.tensor([0, 2, 3, 3]), torch.tensor([1, 2, 0]))
    mean = torch.tensor([[4.0, 5.5], [1.0, 2.0], [0.0, 0.0]])
    expected = x @ model.own[0].weight.T + model.own[0].bias + mean @ model.other[0].weight.T
    torch.testing.assert_close(model(x, adjacency), expected)


def test_the_encoder_learns_links_and_the_seed_decides():
    first, again, other = (encoder_scores(SPLITS, problem(seed=seed).pairs, SHORT) for seed in (0, 0, 1))
    for split in ("valid", "test"):
        found = SPLITS.pairs_of(split)
        assert first[split].shape == (len(found),)
        assert auc(*np.split(first[split], [len(found.positive)])) > 0.7
        assert first[split].tolist() == again[split].tolist() != other[split].tolist()


def test_the_encoder_reads_features_where_there_are_any():
    splits = make_splits(replace(communities(), y=None, splits={}), SplitOptions(valid_share=0.1, test_share=0.0))
    assert list(encoder_scores(splits, problem(splits).pairs, replace(SHORT, num_epochs=5))) == ["valid"]


def test_batches_go_through_the_pairs_of_an_epoch_once():
    pairs = problem(num_negatives=2, epoch_share=0.5).pairs
    wanted, parts = pairs.of_epoch(3), list(_batches(pairs, 3, 100))
    assert len(parts) == -(-len(wanted) // 100)
    assert max(len(part) for part, _ in parts) <= 100
    rows = [(*pair, label) for part, labels in parts for pair, label in zip(part.tolist(), labels, strict=True)]
    expected = [(*pair, label) for pair, label in zip(wanted.pairs.tolist(), wanted.labels, strict=True)]
    assert sorted(rows) == sorted(expected) != rows


def test_the_epoch_is_chosen_by_the_monitor():
    """With a validation each epoch, the best of all single epochs is found, and AUC decides where Hits@20 is equal."""

    def value(scores, monitor):
        parts = np.split(scores, [len(SPLITS.valid.positive)])
        return (hits_at(20, *parts), auc(*parts)) if monitor == "hits20" else (auc(*parts), 0)

    pairs, options = problem().pairs, replace(SHORT, evaluate_every=1)
    lengths = [encoder_scores(SPLITS, pairs, replace(options, num_epochs=number, evaluate_every=number))["valid"]
               for number in range(1, 9)]  # fmt: skip
    for monitor in ("auc", "hits20"):
        found = encoder_scores(SPLITS, pairs, replace(options, num_epochs=8, monitor=monitor))["valid"]
        assert found.tolist() == max(lengths, key=lambda scores: value(scores, monitor)).tolist()


def test_all_baselines_are_run_in_their_order():
    found = list(run_link_baselines([problem()], ["encoder", "common-neighbors"], options=SHORT))
    assert [result.name for result in found] == ["common-neighbors", "encoder"]
    scores = encoder_scores(SPLITS, problem().pairs, SHORT)["test"]
    assert found[1].test == link_metrics(*np.split(scores, [len(SPLITS.test.positive)]))
    assert found[0].valid["auc"] > 0.8
    assert len(LINK_BASELINES) == 6
    with pytest.raises(ValueError, match=r"only must name some of common-neighbors, .* for links, got 'raw'"):
        next(run_link_baselines([problem()], ["raw"]))


def test_no_test_is_fine():
    splits = make_splits(GRAPH, SplitOptions(valid_share=0.1, test_share=0.0))
    assert next(run_link_baselines([problem(splits)], ["resource-allocation"])).test is None


def test_heuristics_score_each_split_with_the_links_it_may_see():
    for use in (False, True):
        splits = make_splits(GRAPH, SplitOptions(valid_share=0.1, use_valid_edges=use))
        for result in run_link_baselines([problem(splits)], ["adamic-adar", "katz"]):
            for split, found in (("valid", result.valid), ("test", result.test)):
                graph, pairs = splits.graph_of(split), splits.pairs_of(split)
                scores = [
                    heuristic_scores(graph, part, [result.name])[result.name]
                    for part in (pairs.positive, pairs.negative)
                ]
                assert found == pytest.approx(link_metrics(*scores))


def test_a_heuristic_is_computed_once_for_the_same_pairs(monkeypatch):
    calls = []
    monkeypatch.setattr(baselines, "_heuristic", lambda *_: calls.append(1) or {"valid": np.arange(len(SPLITS.valid))})
    other = make_splits(GRAPH, SplitOptions(valid_share=0.1, seed=1))
    problems = [problem(), problem(seed=1), problem(other, seed=2)]
    found = list(run_link_baselines(problems, ["common-neighbors"]))
    assert [result.seed for result in found] == [0, 1, 2]
    assert len(calls) == 2
    assert found[0].valid == found[1].valid


def test_an_encoder_that_does_not_fit_is_refused_and_heuristics_are_not(monkeypatch):
    monkeypatch.setattr(baselines, "available_memory", lambda: 10)
    with pytest.raises(ValueError, match=r"memory: encoder needs about .* got 10 B; try --only with the names of heur"):
        next(run_link_baselines([problem()], ["encoder"]))
    assert next(run_link_baselines([problem()], ["katz"])).name == "katz"
