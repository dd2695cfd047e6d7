"""without_scopes: the same network as a normal GNN, for methods that train one before they train on scopes.

Not for: the training itself (training/runs/run.py).
"""

from __future__ import annotations

from typing import Literal

from shadow_gnn.recipe.recipe import Recipe

NormalMethod = Literal["full", "saint", "neighbor"]

_FULL_EPOCHS, _DRAWN_EPOCHS = 200, 10
"""Epochs of a warm start, if the recipe does not set them."""
_EVALUATIONS = 20
"""Validations of training on the whole graph, where an epoch is a single step."""


def without_scopes(
    recipe: Recipe, method: NormalMethod, num_epochs: int, *, learning_rate: float | None = None
) -> Recipe:
    """Return the recipe of the same layers as a normal GNN, without encoding, readout and scopes.

    learning_rate: None for that of the recipe.
    """
    table = recipe.model_dump(exclude={"extractor", "branches", "link"})
    table["model"] |= {"encoding": "none", "readout": "center"}
    table["inputs"] |= {"degree": False, "learned_dim": 0}
    every = max(recipe.training.evaluate_every, num_epochs // _EVALUATIONS) if method == "full" else 1
    table["training"] |= {"method": method, "num_epochs": num_epochs, "warm_start": "none", "init": None}
    table["training"] |= {"evaluate_every": every, "checkpoint_every": every, "pack": False}
    if learning_rate is not None:
        table["training"]["learning_rate"] = learning_rate
    return Recipe.model_validate(table)


def warm_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe of a warm start."""
    settings = recipe.training
    assert settings.warm_start != "none"
    num_epochs = settings.warm_epochs or (_FULL_EPOCHS if settings.warm_start == "full" else _DRAWN_EPOCHS)
    return without_scopes(recipe, settings.warm_start, num_epochs, learning_rate=settings.warm_learning_rate)
