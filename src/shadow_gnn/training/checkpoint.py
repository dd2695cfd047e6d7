"""Checkpoint: the complete state of training in one file, which appears complete or not at all.

Not for: the choice of checkpoints to keep (kept_checkpoints.py), or finished models (model_file.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import checksum_of, open_regular, write_file
from shadow_gnn.base.ranks import Ranks

VERSION = 1
MAX_HEADER_BYTES = 100_000_000  # the limit of safetensors itself
_MARK, _BLANK = b'"checksum":"', b"0" * 32


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of training after an epoch."""

    tensors: Mapping[str, Tensor]
    """Weights as model.<name>, their averages as average.<name>, the optimizer's numbers as
    optimizer.<parameter>.<name>, random.cpu."""
    content: Mapping[str, Any]
    """Everything else, as JSON: history and run id."""


def take_checkpoint(
    model: nn.Module, optimizer: Optimizer, content: Mapping[str, Any], average: Mapping[str, Tensor] | None = None
) -> Checkpoint:
    """Gather the state of a model and its optimizer; the tensors are the live ones, not copies.

    average: of the weights by name, if training has one.
    """
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"average.{name}": tensor for name, tensor in (average or {}).items()}
    for number, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    return Checkpoint(tensors, content)


def restore_model(checkpoint: Checkpoint, model: nn.Module) -> None:
    """Put a checkpoint's weights into a model, averaged if it has averages: the weights that were validated."""
    load_weights(model, {**_part(checkpoint, "model."), **averages_of(checkpoint)}, "checkpoint")


def averages_of(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Return the averages of weights by name; none if training had none."""
    return _part(checkpoint, "average.")


def restore_training(checkpoint: Checkpoint, model: nn.Module, optimizer: Optimizer) -> None:
    """Restore the weights, optimizer numbers and random state of a checkpoint; not the averages."""
    load_weights(model, _part(checkpoint, "model."), "checkpoint")
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in _part(checkpoint, "optimizer.").items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    torch.set_rng_state(checkpoint.tensors["random.cpu"])


def checkpoint_from_main(checkpoint: Checkpoint | None, ranks: Ranks) -> Checkpoint | None:
    """Return the main rank's checkpoint on all ranks; the others need not reach its file."""
    if ranks.alone:
        return checkpoint
    content = ranks.from_main(None if checkpoint is None else dict(checkpoint.content))
    tensors = ranks.tensors_from_main(None if checkpoint is None else checkpoint.tensors)
    return None if content is None else Checkpoint(tensors, content)


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], owner: str) -> None:
    """Load weights whose names and shapes must be exactly those of the model."""
    check_weights(model, weights, owner)
    model.load_state_dict(weights)


def check_weights(model: nn.Module, weights: Mapping[str, Tensor], owner: str) -> None:
    """Raise unless the names and shapes of weights are exactly those of the model."""
    own = model.state_dict()
    for name in (*own, *weights):
        shapes = [tuple(part[name].shape) if name in part else None for part in (own, weights)]
        if shapes[0] != shapes[1]:
            raise RunError(f"{owner}: weight {name} must have shape {shapes[0]}, as in the model, got {shapes[1]}")


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in a single step, with a checksum over the whole file."""
    from safetensors.torch import save

    metadata = {"format": "pt", "version": str(VERSION), "checksum": _BLANK.decode()}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()}
    data = save(tensors, {**metadata, "content": json.dumps(checkpoint.content)})
    place = _checksum_place(data)
    write_file(path, data[:place] + checksum_of(data).encode() + data[place + len(_BLANK) :])


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint after checking every byte of it; a RunError names the file and the fault."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        with open_regular(path) as handle:
            data = handle.read()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        metadata = _header(data)["__metadata__"]
        place = _checksum_place(data)
        version = metadata["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{path}: is not a checkpoint, or is cut off") from error
    if version != str(VERSION):
        raise RunError(f"{path}: version must be {VERSION}, got {version!r:.40}; it is from another shadow-gnn")
    blanked = data[:place] + _BLANK + data[place + len(_BLANK) :]
    if data[place : place + len(_BLANK)] != checksum_of(blanked).encode():
        raise RunError(f"{path}: was edited or damaged: its checksum does not match")
    try:
        return Checkpoint(load(data), json.loads(metadata["content"]))
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{path}: is not a checkpoint: {error}") from error


def _part(checkpoint: Checkpoint, prefix: str) -> dict[str, Tensor]:
    return {key[len(prefix) :]: tensor for key, tensor in checkpoint.tensors.items() if key.startswith(prefix)}


def _header(data: bytes) -> Any:
    """Read the JSON before the tensors; the first eight bytes are its length."""
    length = int.from_bytes(data[:8], "little")
    if length > MAX_HEADER_BYTES or len(data) < 8 + length:
        raise ValueError("the header is cut")
    return json.loads(data[8 : 8 + length])


def _checksum_place(data: bytes) -> int:
    """Find the checksum; other texts of the header escape their quotes, so the mark is unique."""
    length = int.from_bytes(data[:8], "little")
    return data.index(_MARK, 8, 8 + length) + len(_MARK)
