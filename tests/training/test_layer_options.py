"""model.layer_options from the recipe to the saved model, and own conv classes in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.nn.scopes import random_graph
from torch import Tensor, nn
from torch_geometric.nn import ChebConv

from shadow_gnn import Loader, ModelRecipe, NodeClassifier, Recipe, build_model, from_edges
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.nn import LAYERS, conv_stack
from shadow_gnn.recipe.file import read_recipe, write_recipe


def labeled() -> Graph:
    ring = np.arange(30)
    built = from_edges(ring, (ring + 1) % 30)
    x = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    splits = {"train": ring[:20], "valid": ring[20:25], "test": ring[25:]}
    return Graph(built.indptr, built.indices, x=DenseFeatures(x), y=ring % 2, splits=splits)


class MyConv(nn.Module):
    """x W plus a multiple of the sum of the senders' x W."""

    def __init__(self, in_dim: int, out_dim: int, scale: float = 1.0) -> None:
        super().__init__()
        self.linear, self.scale = nn.Linear(in_dim, out_dim), scale

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.linear(x)
        return x + self.scale * torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


def first_conv(model: Any) -> Any:
    return model.branches[0].backbone.layers[0].conv


def test_options_reach_the_conv_and_the_saved_model(tmp_path: Path) -> None:
    recipe = {"model": {"layer_options": {"K": 2}, "num_layers": 2, "hidden_dim": 8}, "training": {"num_epochs": 2}}
    fitted = NodeClassifier(layer="ChebConv", extractor=PprExtractor(topk=8), recipe=recipe).fit(labeled())
    fitted.save(tmp_path / "run")
    loaded = NodeClassifier.load(tmp_path / "run")
    conv = first_conv(loaded.predictor(labeled()).trained.model)
    assert isinstance(conv, ChebConv)
    assert len(conv.lins) == 2
    np.testing.assert_array_equal(loaded.predict_proba(labeled()), fitted.predict_proba(labeled()))


def test_options_are_read_and_written_as_toml(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('graph = "g"\n[model]\nlayer = "ChebConv"\nlayer_options = {K = 3, normalization = "rw"}\n')
    found = read_recipe(path)
    assert found.model.layer_options == {"K": 3, "normalization": "rw"}
    (tmp_path / "copy.toml").write_text(write_recipe(found))
    assert read_recipe(tmp_path / "copy.toml") == found
    assert read_recipe(path, ["model.layer_options.K=5"]).model.layer_options["K"] == 5


@pytest.mark.parametrize(
    ("value", "text"), [(3, "must be a table"), ({"K": [1]}, "K must be a number, text, true or false, got list")]
)
def test_options_of_another_type_are_faults(value: Any, text: str) -> None:
    from shadow_gnn.recipe.faults import recipe_faults

    faults = recipe_faults({"graph": "g", "model": {"layer_options": value}})
    assert len(faults) == 1
    assert faults[0][0].startswith("model.layer_options")
    assert text in faults[0][1]


def test_own_layers_take_no_options() -> None:
    with pytest.raises(ValueError, match=r"^model: layer_options must be empty for layer 'gcn', got 'K'$"):
        build_model(ModelRecipe(layer="gcn", layer_options={"K": 2}), in_dim=4, out_dim=2)


def test_own_class_is_the_layer_of_a_model() -> None:
    graph = random_graph()
    recipe = ModelRecipe(layer_options={"scale": 0.25}, num_layers=2, hidden_dim=8)
    assert graph.x is not None
    model = build_model(recipe, in_dim=graph.x.shape[1], out_dim=3, layer=MyConv)
    assert isinstance(first_conv(model), MyConv)
    assert first_conv(model).scale == 0.25
    (batch,) = Loader(graph, PprExtractor(topk=6), range(4), model=model)
    assert model(batch).shape == (4, 3)


def test_own_class_can_have_a_name_in_recipes(tmp_path: Path) -> None:
    LAYERS["mine"] = conv_stack(MyConv)
    try:
        recipe = Recipe.model_validate({"graph": "g", "model": {"layer": "mine", "num_layers": 2, "hidden_dim": 8}})
        fitted = NodeClassifier(num_epochs=1, recipe=recipe).fit(labeled())
        fitted.save(tmp_path / "run")
        loaded = NodeClassifier.load(tmp_path / "run")
        np.testing.assert_array_equal(loaded.predict(labeled()), fitted.predict(labeled()))
    finally:
        del LAYERS["mine"]
