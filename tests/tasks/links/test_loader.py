"""Pairs of training: which come in an epoch, with which labels, and that no held-out link is in any of their scopes."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.extract.doubles import ExtractorDouble

from shadow_gnn.extract import PprExtractor
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.side_by_side import aligned
from shadow_gnn.tasks.links.loader import PairLoader, TrainingPairs
from shadow_gnn.tasks.links.pairs import are_linked, keys_of, links_of
from shadow_gnn.tasks.links.splits import SplitOptions, make_splits
from shadow_gnn.training.run_setup import make_setup

GRAPH = replace(communities(), y=None, splits={})
SPLITS = make_splits(GRAPH, SplitOptions(valid_share=0.1, test_share=0.2))
EXTRACTORS = {
    "ppr": {"kind": "ppr", "topk": 12},
    "stochastic": {"kind": "stochastic-ppr", "topk": 8},
    "khop": {"kind": "khop", "num_hops": 2, "fanout": 4},
    "full": {"kind": "full", "num_hops": 1},
    "node": {"kind": "node"},
    "katz": {"kind": "katz", "topk": 12},
    "heat": {"kind": "heat", "topk": 12},
    "combined": {"kind": "combined", "topk": 12},
}


def pairs_of(**options):
    return TrainingPairs(SPLITS.graph, SPLITS.train, **options)


def test_an_epoch_has_every_link_and_as_many_negatives_as_asked():
    found = pairs_of(num_negatives=3).of_epoch(2)
    assert found.positive.tolist() == SPLITS.train.tolist()
    assert len(found.negative) == 3 * len(SPLITS.train)
    assert not are_linked(SPLITS.graph, found.negative).any()


def test_epochs_have_negatives_of_their_own_which_the_seed_decides():
    pairs = pairs_of(seed=5)
    assert pairs.of_epoch(1).negative.tolist() == pairs_of(seed=5).of_epoch(1).negative.tolist()
    others = (pairs.of_epoch(2), pairs_of(seed=6).of_epoch(1))
    assert all(other.negative.tolist() != pairs.of_epoch(1).negative.tolist() for other in others)


def test_a_share_of_an_epoch_goes_through_all_links_in_time():
    pairs = pairs_of(epoch_share=0.1)
    assert pairs.num_positive == int(np.ceil(0.1 * len(SPLITS.train)))
    assert pairs.num_negative == pairs.num_positive
    seen = np.concatenate([keys_of(GRAPH, pairs.of_epoch(number).positive) for number in range(80)])
    assert len(np.unique(pairs.of_epoch(0).positive, axis=0)) == pairs.num_positive
    assert len(np.unique(seen)) == len(SPLITS.train)


def test_given_negatives_are_gone_through_by_share():
    given = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    whole, half = (pairs_of(given_negative=given, epoch_share=share) for share in (1.0, 0.5))
    assert whole.of_epoch(3).negative.tolist() == given.tolist()
    assert len(half.of_epoch(3).negative) == 2


def test_more_negatives_than_there_are_pairs_is_said_before_training():
    with pytest.raises(ValueError, match=r"at most .* lower num_negatives or epoch_share"):
        pairs_of(num_negatives=1000)
    with pytest.raises(ValueError, match="positive must have links to learn from, got none"):
        TrainingPairs(SPLITS.graph, SPLITS.train[:0])


def test_negatives_by_degree_are_asked_for_by_name():
    assert pairs_of(negatives="degree").of_epoch(0).negative.tolist() != pairs_of().of_epoch(0).negative.tolist()


def test_batches_hold_all_pairs_of_the_epoch_with_their_labels():
    loader = PairLoader(pairs_of(), PprExtractor(topk=5, hide="before"), batch_size=50)
    batches = list(loader.epoch(1))
    assert len(batches) == len(loader)
    found = loader.pairs.of_epoch(1)
    expected = {(*pair, label) for pair, label in zip(found.pairs.tolist(), found.labels.tolist(), strict=True)}
    seen = [
        (*pair, label)
        for batch in batches
        for pair, label in zip(batch.targets.tolist(), batch.y.tolist(), strict=True)
    ]
    assert set(seen) == expected
    assert len(seen) == len(found)
    assert [batch.y.tolist() for batch in loader.epoch(1)] == [batch.y.tolist() for batch in batches]
    assert loader.targets.tolist() == SPLITS.train.tolist()


class Recorder(ExtractorDouble):
    """An extractor that notes which thread calls it for what."""

    def __init__(self):
        self.pairs, self.threads = [], set()

    def __call__(self, graph, targets, *, seed=0):
        self.pairs.append(targets.tolist())
        self.threads.add(threading.current_thread().name)
        return PprExtractor(topk=3, hide="before", num_threads=1)(graph, targets, seed=seed)


def test_scopes_of_the_next_pairs_are_extracted_while_a_step_is_computed():
    extractor, end = Recorder(), time.monotonic() + 10
    with aligned([PairLoader(pairs_of(), extractor, batch_size=20)], 0, torch.device("cpu")) as steps:
        (batch,) = next(steps)
        # The step of this batch would be computed now; two more batches are made meanwhile, and no third.
        while len(extractor.pairs) < 3 and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.02)
        assert len(extractor.pairs) == 3
        assert extractor.pairs[0] == batch.targets.tolist()
    assert extractor.threads == {"shadow-prefetch"}


def test_labels_must_be_one_for_each_target():
    with pytest.raises(ValueError, match="Loader: labels must be 2, one for each target, got 3"):
        Loader(GRAPH, PprExtractor(), [[0, 1], [2, 3]], labels=np.zeros(3, np.float32))


def edges_in(batch):
    """Every edge of a batch's scopes as (scope, key of the pair of nodes)."""
    sender, receiver = batch.edge_index()
    pairs = torch.stack((batch.node_id[sender], batch.node_id[receiver]), dim=1).numpy()
    return batch.subgraph[receiver].numpy(), keys_of(GRAPH, pairs)


@pytest.mark.parametrize("use_valid_edges", [False, True])
@pytest.mark.parametrize("hide", ["before", "after"])
@pytest.mark.parametrize("extractor", EXTRACTORS.values(), ids=EXTRACTORS.keys())
def test_no_held_out_link_is_in_any_scope_of_training(extractor, hide, use_valid_edges):
    recipe = small_recipe(
        task__kind="link",
        link__hide=hide,
        link__use_valid_edges=use_valid_edges,
        link__valid_share=0.1,
        extractor=extractor,
        inputs__degree=True,
    )
    setup = make_setup(recipe, GRAPH)
    held = np.concatenate([setup.links.pairs_of(split).positive for split in ("valid", "test")])
    held_keys, valid_keys = keys_of(GRAPH, held), keys_of(GRAPH, setup.links.valid.positive)
    test_keys = keys_of(GRAPH, setup.links.test.positive)
    seen = []
    for epoch in range(3):
        for batch in setup.training_loaders()[0].epoch(epoch):
            scope, keys = edges_in(batch)
            assert not np.isin(keys, held_keys).any()
            assert not (keys == keys_of(GRAPH, batch.targets.numpy())[scope]).any()  # nor the predicted link itself
            seen.append(keys)
    if extractor["kind"] != "node":
        assert len(np.unique(np.concatenate(seen))) > 0.5 * len(links_of(setup.links.graph))
    for split, banned in (("valid", held_keys), ("test", test_keys if use_valid_edges else held_keys)):
        found = [edges_in(batch)[1] for batch in setup.split_loaders(split)[0].epoch(0)]
        assert not np.isin(np.concatenate(found), banned).any()
        if split == "test" and extractor["kind"] != "node":
            assert np.isin(np.concatenate(found), valid_keys).any() == use_valid_edges


@pytest.mark.parametrize("use_valid_edges", [False, True])
@pytest.mark.parametrize("split", ["given", "time"])
def test_nor_where_links_are_given_or_split_by_time(split, use_valid_edges):
    links = links_of(GRAPH)
    pairs = {"valid_pos": links[:20], "test_pos": links[20:50]}
    graph = replace(GRAPH, pairs=pairs, edge_weight=(1 + np.minimum(*_ends(GRAPH))).astype(np.float32))
    changes = {"link__split": split, "link__use_valid_edges": use_valid_edges, "link__time": "weight"}
    setup = make_setup(small_recipe(task__kind="link", **changes), graph)
    held = np.concatenate([setup.links.pairs_of(name).positive for name in ("valid", "test")])
    if split == "given":
        assert held.tolist() == links[:50].tolist()
    for batch in setup.training_loaders()[0].epoch(0):
        assert not np.isin(edges_in(batch)[1], keys_of(GRAPH, held)).any()
    test_keys = keys_of(GRAPH, setup.links.test.positive)
    found = np.concatenate([edges_in(batch)[1] for batch in setup.split_loaders("test")[0].epoch(0)])
    assert not np.isin(found, test_keys).any()
    assert np.isin(found, keys_of(GRAPH, setup.links.valid.positive)).any() == use_valid_edges


def _ends(graph):
    """Both ends of every CSR entry."""
    return np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr)), np.asarray(graph.indices)
