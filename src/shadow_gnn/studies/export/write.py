"""Write: a model as a torch.export program (.pt2) or as ONNX (.onnx), with sizes that may vary.

Not for: the equations (program.py).
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from shadow_gnn.base.files import write_file
from shadow_gnn.recipe import InputsRecipe
from shadow_gnn.studies.export.program import ScopeProgram
from shadow_gnn.training.model_file import TrainedModel

FORMATS = (".pt2", ".onnx")
_NODES, _EDGES, _TARGETS = 12, 30, 3


def export_model(trained: TrainedModel, path: str | Path) -> tuple[str, ...]:
    """Write a model and return the names of its inputs; the ending of the path chooses the format.

    The outputs are logits. The numbers of nodes, edges and targets may vary. Not everything can be exported: a
    ValueError names the part.

    >>> sg.export_model(predictor.trained, "model.pt2")
    ('x', 'edge_index', 'hop', 'target_node')
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(f"export: path must end in {' or '.join(FORMATS)}, got {path.name!r}")
    plain, inputs = InputsRecipe(), trained.config.inputs
    if inputs != plain:
        names = [f"inputs.{key}" for key in type(plain).model_fields if getattr(inputs, key) != getattr(plain, key)]
        raise ValueError(
            f"export: model must read features alone, this one has {', '.join(names)}, computed from the whole graph"
        )
    if trained.config.joint is not None:
        raise ValueError("export: model must have a scope for each target, this one merges scopes")
    program = ScopeProgram(trained.model.to("cpu"))
    with _quiet():
        exported = torch.export.export(program, (), _example(program, trained), dynamic_shapes=_sizes(program))
        write_file(path, _as_onnx(exported) if path.suffix == ".onnx" else _as_pt2(exported))
    return program.inputs


def _example(program: ScopeProgram, trained: TrainedModel) -> dict[str, Tensor]:
    """Return arrays of the right types; their values do not matter."""
    num_ends, kind = program.readout.num_targets, program.head.linear.weight.dtype
    found = {
        "x": torch.ones(_NODES, trained.config.in_dim, dtype=kind),
        "edge_index": torch.arange(2 * _EDGES).view(2, _EDGES) % _NODES,
        "edge_weight": torch.ones(_EDGES),
        "hop": torch.arange(_NODES) % 3,
        "score": torch.ones(_NODES),
        "target_node": torch.arange(_TARGETS * num_ends).view(_TARGETS, num_ends) % _NODES,
    }
    return {name: found[name] for name in program.inputs}


def _sizes(program: ScopeProgram) -> dict[str, dict[int, Any]]:
    nodes, edges, targets = (torch.export.Dim(name, min=1) for name in ("num_nodes", "num_edges", "num_targets"))
    found = {
        "x": {0: nodes},
        "edge_index": {1: edges},
        "edge_weight": {0: edges},
        "hop": {0: nodes},
        "score": {0: nodes},
        "target_node": {0: targets},
    }
    return {name: found[name] for name in program.inputs}


def _as_pt2(exported: Any) -> bytes:
    data = io.BytesIO()
    torch.export.save(exported, data)
    return data.getvalue()


def _as_onnx(exported: Any) -> bytes:
    try:
        import onnxscript  # noqa: F401  torch's exporter needs it.
    except ImportError as error:
        raise ValueError("export: .onnx needs onnx and onnxscript: pip install 'shadow-gnn[onnx]'") from error
    made = torch.onnx.export(exported, dynamo=True, verbose=False, output_names=["logits"])
    assert made is not None
    data: bytes = made.model_proto.SerializeToString()
    return data


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch's exporter from printing and warning about its own ways."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
