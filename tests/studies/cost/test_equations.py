"""The equations, on numbers small enough to compute by hand."""

import numpy as np
import pytest

from shadow_gnn.nn.layers.table import LAYERS as BUILT_LAYERS
from shadow_gnn.nn.readouts.table import READOUTS
from shadow_gnn.studies.cost.equations import LAYERS, ModelShape, ensemble_macs, layer_macs, model_macs, readout_macs


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        # 9 nodes in, 4 nodes out, 11 edges, 2 -> 3 columns.
        ("gcn", 11 * 2 + 4 * 2 * 3),
        ("sage", 11 * 2 + 2 * 4 * 2 * 3),
        ("gat", 3 * 11 * 3 + 9 * 2 * 3),
        ("gatconv", 3 * 11 * 3 + 9 * 2 * 3),
        ("transformer", 9 * 2 * 3 + 2 * 9 * 4 * 3 + (2 * 9 + 6 * 4) * 3 * 3),
        ("gin", 11 * 2 + 4 * (2 * 3 + 3 * 3)),
        ("mlp", 4 * 2 * 3),
        ("sgc", 11 * 2 + 4 * 2 * 3),
    ],
)
def test_one_layer(layer, expected):
    assert model_macs(ModelShape(layer, (2, 3)), [9, 4], [11]) == expected


def test_sgc_maps_once_however_deep_it_is():
    network = ModelShape("sgc", (2, 5, 5, 3))
    assert model_macs(network, [9, 7, 4, 1], [20, 10, 3]) == (20 + 10 + 3) * 2 + 1 * 2 * 3


def test_layers_add_up_and_targets_are_counted_each_by_itself():
    network = ModelShape("gcn", (2, 3, 4))
    nodes, edges = [np.array([9, 1]), np.array([4, 1]), np.array([1, 1])], [np.array([11, 0]), np.array([3, 0])]
    expected = [(11 * 2 + 4 * 6) + (3 * 3 + 1 * 12), 6 + 12]
    assert model_macs(network, nodes, edges).tolist() == expected
    assert model_macs(network, [9, 4, 1], [11, 3]) == expected[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 0),
        # Widths 3, 3 and 10 nodes.
        ({"skip": "concat"}, 6 * 3),
        ({"skip": "max"}, 3 + 3 * 3),
        ({"skip": "sum"}, 3 + 3 * 3),
        ({"skip": "residual"}, 0),
        ({"readout": "mean", "skip": "residual"}, 10 * 3 + (3 + 3) * 3),
        ({"readout": "mean"}, 10 * 3 + (3 + 3) * 3),
        ({"readout": "max", "skip": "max"}, 3 + 3 + 10 * 6 + (3 + 3) * 3),
        ({"readout": "sum", "skip": "concat"}, 10 * 6 + (6 + 6) * 3),
        ({"readout": "sort", "sort_size": 4}, 4 * 3 * 3 + (3 + 3) * 3),
        ({"readout": "sort", "sort_size": 4, "skip": "concat"}, 4 * 6 * 3 + (6 + 3) * 3),
        ({"readout": "sort", "sort_size": 4, "skip": "sum"}, 3 + 10 * 3 + 4 * 3 * 3 + (3 + 3) * 3),
    ],
)
def test_readouts_and_skips(options, expected):
    network = ModelShape("gcn", (2, 3, 3), **options)
    assert readout_macs(network, 10) == expected
    nodes, edges = [10] * 3, [30] * 2
    assert model_macs(network, nodes, edges) == layer_macs(network, nodes, edges) + expected


def test_residual_layers_map_the_input_and_add():
    network = ModelShape("gcn", (2, 3, 3), skip="residual")
    layers = (11 * 3 + 4 * 9) + (3 * 3 + 1 * 9)
    assert layer_macs(network, [9, 4, 1], [11, 3]) == 9 * 2 * 3 + layers + (4 + 1) * 3


def test_ensembles_add_branches_and_attention():
    branches = [np.array([100.0, 10.0]), np.array([50.0, 5.0])]
    assert ensemble_macs(branches, 4).tolist() == [150 + 2 * (16 + 8), 15 + 2 * (16 + 8)]
    assert ensemble_macs(branches, 4, attention=False).tolist() == [158, 23]
    assert ensemble_macs(branches[:1], 4).tolist() == [100, 10]
    with pytest.raises(ValueError, match="branches must not be empty"):
        ensemble_macs([], 4)


def test_there_is_an_equation_for_every_layer_and_readout_of_a_recipe():
    assert set(LAYERS) == set(BUILT_LAYERS)
    for readout in READOUTS:
        ModelShape("sage", (2, 3), readout=readout)


def test_bad_networks_are_named():
    with pytest.raises(ValueError, match="layer must be one of gcn, sage"):
        ModelShape("cnn", (1, 2))
    with pytest.raises(ValueError, match="dims must be at least two positive widths"):
        ModelShape("gcn", (1,))
    with pytest.raises(ValueError, match="skip must be one of none, max"):
        ModelShape("gcn", (1, 2), skip="both")
    with pytest.raises(ValueError, match="readout must be one of center"):
        ModelShape("gcn", (1, 2), readout="median")
    with pytest.raises(ValueError, match="dims must be equal for skip max"):
        ModelShape("gcn", (1, 2, 3), skip="max")
    with pytest.raises(ValueError, match="sort_size must be at least 1"):
        ModelShape("gcn", (1, 2), readout="sort", sort_size=0)
    with pytest.raises(ValueError, match="must be 3 and 2 long for 2 layers, got 2 and 2"):
        model_macs(ModelShape("gcn", (1, 2, 3)), [1, 1], [1, 1])
