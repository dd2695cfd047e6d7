"""First weights: a model that begins training with the weights of another one.

Not for: resuming a run (runs/run.py), or reading a model (model_file.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from shadow_gnn.base.errors import RunError
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.recipe import ModelRecipe
from shadow_gnn.training.model_file import CONFIG, ModelConfig, TrainedModel, read_model

_OWN_KEYS = ("dropout", "dropedge", "trim", "encoding", "encoding_join")
"""Keys of [model] that may differ, as they change neither the weights nor what they mean; an encoding may be new."""
_ENCODING = "encoding.linear.weight"


def open_source(folder: str | Path) -> TrainedModel:
    """Read the model of training.init; raise if it is not a finished run."""
    folder = Path(folder)
    if not (folder / CONFIG).exists():
        raise RunError(f"training.init: {folder} must be the folder of a finished run, it has no {CONFIG}")
    return read_model(folder)


def take_weights(model: ShadowGNN, config: ModelConfig, source: TrainedModel, name: str | Path) -> None:
    """Load the weights of a source into a model; the columns of an encoding that it lacks begin at 0.

    config: of the model. name: of the source. A RunError names the first difference.
    """
    difference = next(_differences(config, source.config), None)
    if difference is not None:
        key, needed, got = difference
        raise RunError(f"training.init: {key} must be {needed}, as in {name}, got {got}")
    given, own = source.model.state_dict(), model.state_dict()
    for weight, tensor in own.items():
        if weight.endswith(_ENCODING) and weight not in given:
            given[weight] = torch.zeros_like(tensor)
        shapes = [tuple(part[weight].shape) if weight in part else None for part in (given, own)]
        if shapes[0] != shapes[1]:
            raise RunError(f"training.init: weight {weight} must have shape {shapes[0]}, as in {name}, got {shapes[1]}")
    model.load_state_dict(given)


def _differences(own: ModelConfig, source: ModelConfig) -> Iterator[tuple[str, Any, Any]]:
    """Yield (key, value of the source, own value) of everything that keeps weights from fitting, in order."""
    yield from _unequal("predicted quantity", source.target, own.target)
    yield from _unequal("number of classes", source.out_dim, own.out_dim)
    yield from _unequal("names of classes", _shown(source.class_names), _shown(own.class_names))
    yield from _unequal("number of features", source.in_dim, own.in_dim)
    for key in type(own.inputs).model_fields:
        yield from _unequal(f"inputs.{key}", getattr(source.inputs, key), getattr(own.inputs, key))
    yield from _unequal("number of branches", len(source.branches), len(own.branches))
    for theirs, ours in zip(source.branches, own.branches, strict=True):
        assert theirs.model is not None
        assert ours.model is not None
        yield from _model_differences(ours.model, theirs.model)


def _model_differences(own: ModelRecipe, source: ModelRecipe) -> Iterator[tuple[str, Any, Any]]:
    for key in ModelRecipe.model_fields:
        if key not in _OWN_KEYS:
            yield from _unequal(f"model.{key}", getattr(source, key), getattr(own, key))
    if source.encoding != "none":
        yield from _unequal("model.encoding", source.encoding, own.encoding)
        yield from _unequal("model.encoding_join", source.encoding_join, own.encoding_join)
    elif own.encoding != "none":  # Concatenated columns would widen the first layer.
        yield from _unequal("model.encoding_join", "add", own.encoding_join)


def _unequal(key: str, needed: Any, got: Any) -> Iterator[tuple[str, Any, Any]]:
    if needed != got:
        yield key, needed, got


def _shown(names: tuple[str, ...] | None) -> str:
    """Return class names as text that is short enough for a line."""
    text = "left out" if names is None else ", ".join(names)
    return text if len(text) <= 60 else f"{text[:57]}..."
