"""Identity layers, and what breaks them."""

import numpy as np
import torch

from shadow_gnn.studies.theory.identity_layers import (
    check_identity_layers,
    dense_sage,
    identity_layer,
    random_layers,
    shadow_sage,
)
from shadow_gnn.studies.theory.scopes import connected_graph

GRAPH = connected_graph(15, 10, 0)
X = np.abs(np.random.default_rng(0).normal(size=(15, 3)))


def error_of(layers, normal, x=X):
    return np.abs(shadow_sage(GRAPH, x, layers, 2) - normal).max()


def test_dense_graphsage_of_one_node_by_hand():
    layer = random_layers(3, 1, 7)
    row = GRAPH.indices[GRAPH.indptr[4] : GRAPH.indptr[5]]
    with torch.no_grad():
        own = layer[0].self_linear.double()(torch.from_numpy(X[4]))
        mean = layer[0].neighbor_linear.double()(torch.from_numpy(X[row].mean(axis=0)))
    np.testing.assert_allclose(dense_sage(GRAPH, X, layer)[4], (own.relu() + mean.relu()).numpy(), atol=1e-14)


def test_identity_layers_change_nothing():
    layers = random_layers(3, 2, 0)
    normal = dense_sage(GRAPH, X, layers)
    assert error_of([*layers, identity_layer(3)], normal) < 1e-14
    assert error_of([*layers, *random_layers(3, 1, 9)], normal) > 1e-2


def test_relu_cuts_negative_features_before_the_first_layer():
    layers = random_layers(3, 2, 0)
    normal = dense_sage(GRAPH, -X, layers)
    assert error_of([*layers, identity_layer(3)], normal, -X) < 1e-14
    assert error_of([identity_layer(3), *layers], normal, -X) > 1e-2


def test_holds_on_another_draw():
    assert check_identity_layers(1).holds
