"""Aligned: batches of several loaders side by side, or one line why they cannot be."""

import threading

import pytest
import torch
from tests.communities import communities

from shadow_gnn.extract import NodeExtractor, PprExtractor
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.side_by_side import aligned

GRAPH, CPU = communities(), torch.device("cpu")


def test_the_same_targets_come_side_by_side():
    loaders = [
        Loader(GRAPH, extractor, range(20), batch_size=6, shuffle=True)
        for extractor in (PprExtractor(5), NodeExtractor())
    ]
    with aligned(loaders, 3, CPU) as epoch:
        batches = list(epoch)
    assert [len(first) for first, _ in batches] == [6, 6, 6, 2]
    for first, second in batches:
        assert torch.equal(first.targets, second.targets)
        assert second.num_nodes == len(second)


def test_loaders_that_differ_are_refused():
    def loader(targets=range(20), **options):
        return Loader(GRAPH, NodeExtractor(), targets, batch_size=6, **options)

    def run(*loaders):
        with aligned(loaders, 0, CPU) as epoch:
            list(epoch)

    with pytest.raises(ValueError, match="must go through the same targets in the same order"):
        run(loader(shuffle=True), loader())
    with pytest.raises(ValueError, match="must be of one length, got 4, 5"):
        run(loader(), loader(range(30)))
    with pytest.raises(ValueError, match="must not be empty"):
        run()


def test_threads_end_with_the_block():
    with aligned([Loader(GRAPH, NodeExtractor(), range(100), batch_size=2)], 0, CPU) as epoch:
        next(epoch)
    assert not [thread for thread in threading.enumerate() if thread.name == "shadow-prefetch"]
