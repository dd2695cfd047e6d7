"""The encoder with a dot product and the table of link baselines."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from shadow_gnn.link.baselines import LINK_BASELINES, run_link_baselines
from shadow_gnn.link.encoder import Encoder, EncoderOptions, encoder_scores
from shadow_gnn.link.metrics import auc, link_metrics
from shadow_gnn.link.splits import SplitOptions, make_splits
from shadow_gnn.nn.ops import Adjacency
from tests.communities import communities, one_thread  # noqa: F401
from tests.link.test_training import GRAPH

pytestmark = pytest.mark.usefixtures("one_thread")
SPLITS = make_splits(GRAPH, SplitOptions(valid_share=0.1))
SHORT = EncoderOptions(num_epochs=40, hidden_dim=16)


def test_a_layer_is_the_mean_of_the_neighbours_beside_the_node_itself():
    model = Encoder(2, 3, 1)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    adjacency = Adjacency(torch.tensor([0, 2, 3, 3]), torch.tensor([1, 2, 0]))
    mean = torch.tensor([[4.0, 5.5], [1.0, 2.0], [0.0, 0.0]])
    expected = x @ model.own[0].weight.T + model.own[0].bias + mean @ model.other[0].weight.T
    torch.testing.assert_close(model(x, adjacency), expected)


def test_the_encoder_learns_links_and_the_seed_decides():
    first, again, other = (encoder_scores(SPLITS, replace(SHORT, seed=seed)) for seed in (0, 0, 1))
    for split in ("valid", "test"):
        found = SPLITS.pairs_of(split)
        assert first[split].shape == (len(found),)
        assert auc(*np.split(first[split], [len(found.positive)])) > 0.7
        assert first[split].tolist() == again[split].tolist() != other[split].tolist()


def test_the_encoder_reads_features_where_there_are_any():
    splits = make_splits(replace(communities(), y=None, splits={}), SplitOptions(valid_share=0.1, test_share=0.0))
    assert list(encoder_scores(splits, replace(SHORT, num_epochs=5))) == ["valid"]


def test_all_baselines_are_run_in_their_order():
    found = list(run_link_baselines(SPLITS, ["encoder", "common-neighbours"], options=SHORT))
    assert [result.name for result in found] == ["common-neighbours", "encoder"]
    scores = encoder_scores(SPLITS, SHORT)["test"]
    assert found[1].test == link_metrics(*np.split(scores, [len(SPLITS.test.positive)]))
    assert found[0].valid["auc"] > 0.8
    assert len(LINK_BASELINES) == 6
    with pytest.raises(ValueError, match=r"only must name some of common-neighbours, .* for links, got 'raw'"):
        next(run_link_baselines(SPLITS, ["raw"]))


def test_no_test_is_fine():
    splits = make_splits(GRAPH, SplitOptions(valid_share=0.1, test_share=0.0))
    assert next(run_link_baselines(splits, ["resource-allocation"])).test is None
