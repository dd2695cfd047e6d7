"""Model file: a finished model as model.safetensors and config.json, the layout of the Hugging Face Hub.

Not for: checkpoints of an unfinished run (checkpoint.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field, ValidationError, model_validator

from shadow_gnn.base.checked_json import dump_checked, without_checksum
from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import checksum_of, read_bytes, read_object, write_file
from shadow_gnn.extract.training_view import FeatureStatistics
from shadow_gnn.graph.manifest import MAX_IMPORT_RECORD_BYTES
from shadow_gnn.graph.record import Graph
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.recipe import BranchRecipe, InputsRecipe, JointRecipe, LinkRecipe, Record
from shadow_gnn.tasks.task import LinkTask, NodeTask, Task
from shadow_gnn.training.build import BranchEdges, build_model
from shadow_gnn.training.checkpoint import check_weights
from shadow_gnn.training.runs.folder import check_one_run
from shadow_gnn.training.trained_on import TrainedOn

VERSION = 2
WEIGHTS, CONFIG, IMPORT = "model.safetensors", "config.json", "import.toml"
MAX_CONFIG_BYTES, MAX_WEIGHTS_BYTES = 1 << 26, 1 << 40

Finite = Annotated[float, Field(allow_inf_nan=False)]
Width = Annotated[int, Field(ge=0, le=100_000_000)]


class ModelConfig(Record):
    """Everything that prediction needs besides the weights."""

    model_type: Literal["shadow-gnn"] = "shadow-gnn"
    """Identifies the file among other config.json files."""
    version: Literal[2] = 2
    """Version of the layout."""
    weights_blake2b: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    """Checksum of the weights' file."""
    in_dim: Width
    """Feature columns of the graph; 0 for none."""
    out_dim: Width
    """Classes, labels, or 1 for a value."""
    edge_dim: Width
    """Columns of the edges' features; 0 for none."""
    edge_weight: bool
    """Whether the graph's edges have weights."""
    branch_edges: Annotated[tuple[BranchEdges, ...], Field(strict=False, max_length=16)] | None = None
    """Edge arrays of each branch, if scopes have the edges of another graph; None for the graph's own."""
    target: Literal["classes", "multilabel", "values", "links"]
    """Predicted quantity of a target; links: targets are node pairs."""
    value_mean: Finite
    """Added to a predicted value."""
    value_deviation: Finite
    """Multiplied with it before."""
    label_thresholds: Annotated[tuple[float, ...], Field(strict=False)] | None = None
    """Logit above which each label is predicted; None for 0."""
    class_names: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    """Name of each class, if the graph had names."""
    branches: Annotated[tuple[BranchRecipe, ...], Field(strict=False, min_length=1, max_length=16)]
    """Extractor and network of each branch; a normal GNN has one branch without an extractor."""
    inputs: InputsRecipe = InputsRecipe()
    """Inputs of the model besides the features."""
    link: LinkRecipe = LinkRecipe()
    """Training links and their hiding, for link prediction."""
    joint: JointRecipe | None = None
    """Merged scopes of training and prediction; None if every target has its own scope, or none."""
    num_nodes: Width = 0
    """Nodes of the training graph, if the model has learned inputs."""
    precision: Literal["float32", "bf16", "float64"]
    """Precision of training."""
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)]
    """Targets of a training step."""
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    """Random seed of the run, also used for random scopes."""
    import_blake2b: Annotated[str, Field(pattern="^[0-9a-f]{32}$")] | None = None
    """Checksum of import.toml, the record of how columns were encoded; None if the graph had none."""
    trained_on: TrainedOn | None = None
    """Facts about the graph of training, to compare others with; None in a model of an earlier version."""

    @model_validator(mode="after")
    def _has_one_of_each_output(self) -> ModelConfig:
        for name in ("label_thresholds", "class_names"):
            given = getattr(self, name)
            if given is not None and len(given) != self.out_dim:
                raise ValueError(f"{name} must be {self.out_dim}, one for each output, got {len(given)}")
        return self

    @property
    def is_normal(self) -> bool:
        """Whether it is a normal GNN, which has no scopes."""
        return self.branches[0].extractor is None

    @property
    def table(self) -> tuple[int, int] | None:
        """Nodes and columns of learned inputs; None for none."""
        return (self.num_nodes, self.inputs.learned_dim) if self.inputs.learned_dim else None

    @property
    def input_dim(self) -> int:
        """Input columns of each node."""
        return self.inputs.num_columns(self.in_dim, self.out_dim)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model that is ready to predict.

    >>> trained = sg.read_model("runs/first")
    >>> trained.config.input_dim, trained.config.out_dim
    (2, 2)
    """

    config: ModelConfig
    """Its description."""
    model: ShadowGNN
    """With its weights, in eval mode."""
    task: Task
    """Its task."""
    import_toml: str | None = None
    """How the columns of its graph were encoded; None if the graph was not made from tables."""

    def __repr__(self) -> str:
        """Show the kind of prediction and the size."""
        config, count = self.config, sum(weight.numel() for weight in self.model.parameters())
        return f"TrainedModel({config.target}, {config.in_dim:,} inputs, {config.out_dim:,} outputs, {count:,} weights)"

    @property
    def node_task(self) -> NodeTask:
        """The task of a model that predicts nodes; raises for link prediction."""
        if isinstance(self.task, LinkTask):
            raise ValueError("model: must be one that predicts nodes, this one predicts links")
        return self.task


def write_model(folder: Path, model: ShadowGNN, config: ModelConfig, import_toml: str | None = None) -> None:
    """Write the weights and import.toml, then the config with their checksums; only all together are a model."""
    data = _weights(model)
    write_file(folder / WEIGHTS, data)
    changes: dict[str, str | None] = {"weights_blake2b": checksum_of(data), "import_blake2b": None}
    if import_toml is not None:
        record = import_toml.encode()
        write_file(folder / IMPORT, record)
        changes["import_blake2b"] = checksum_of(record)
    whole = config.model_copy(update=changes)
    write_file(folder / CONFIG, dump_checked(whole.model_dump(mode="json")))


def read_model(folder: str | Path) -> TrainedModel:
    """Read a model; a RunError names the file that is missing, damaged or of another version.

    >>> sg.read_model("runs/first").config.out_dim
    2
    """
    folder = Path(folder)
    check_one_run(folder)
    config = read_config(folder)
    data = read_bytes(_written(folder / WEIGHTS), MAX_WEIGHTS_BYTES, RunError)
    if checksum_of(data) != config.weights_blake2b:
        raise RunError(f"{folder / WEIGHTS}: was edited or damaged: its checksum does not match {CONFIG}")
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        weights = load(data)
    except SafetensorError as error:
        raise RunError(f"{folder / WEIGHTS}: is not a safetensors file: {error}") from error
    if config.input_dim > sum(tensor.numel() for tensor in weights.values()):
        raise RunError(f"{folder / WEIGHTS}: must have weights for {config.input_dim} input columns, as {CONFIG} says")
    with torch.device("meta"):  # Shapes alone: a config could ask for any amount of memory.
        check_weights(_model_of(config), weights, str(folder / WEIGHTS))
    model = _model_of(config)
    model.load_state_dict(weights)
    return TrainedModel(config, model.eval(), _task(config), _read_import(folder, config))


def _model_of(config: ModelConfig) -> ShadowGNN:
    """Make a model with random weights."""
    model = build_model(
        [branch.model for branch in config.branches if branch.model is not None],
        in_dim=config.input_dim,
        out_dim=config.out_dim,
        edge_dim=config.edge_dim,
        edge_weight=config.edge_weight,
        branch_edges=config.branch_edges,
        values=config.target == "values",
        num_targets=2 if config.target == "links" else 1,
        table=config.table,
        statistics=_no_statistics(config),
    )
    return model.double() if config.precision == "float64" else model


def _read_import(folder: Path, config: ModelConfig) -> str | None:
    if config.import_blake2b is None:
        return None
    data = read_bytes(_written(folder / IMPORT), MAX_IMPORT_RECORD_BYTES, RunError)
    if checksum_of(data) != config.import_blake2b:
        raise RunError(f"{folder / IMPORT}: was edited or damaged: its checksum does not match {CONFIG}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RunError(f"{folder / IMPORT}: is not UTF-8: {error}") from error


def _task(config: ModelConfig) -> Task:
    if config.target == "links":
        return LinkTask()
    return NodeTask(
        config.target,
        config.out_dim,
        value_mean=config.value_mean,
        value_deviation=config.value_deviation,
        threshold=None if config.label_thresholds is None else torch.tensor(config.label_thresholds),
    )


def read_config(folder: str | Path) -> ModelConfig:
    """Read the config of a model, without its weights."""
    path = Path(folder) / CONFIG
    content = read_object(_written(path), MAX_CONFIG_BYTES, RunError)
    if content.get("model_type") != "shadow-gnn":
        raise RunError(f"{path}: is not the config.json of a shadow-gnn model")
    if content.get("version") != VERSION:
        raise RunError(f"{path}: version must be {VERSION}, got {content.get('version')!r:.40}; train the model again")
    content = without_checksum(path, content, RunError)
    try:
        return ModelConfig.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in [".".join(map(str, first["loc"]))] if part)
        raise RunError(f"{path}: {place}{first['msg'].removeprefix('Value error, ')}") from error


def check_model_fits(config: ModelConfig, graph: Graph) -> None:
    """Raise unless a graph has the feature columns and edge arrays that a model needs."""
    name = graph.path or "graph in memory"
    in_dim = 0 if graph.x is None else graph.x.shape[1]
    edge_dim = 0 if graph.edge_attr is None else graph.edge_attr.shape[1]
    if in_dim != config.in_dim:
        raise ValueError(
            f"{name}: must have {config.in_dim} feature columns, as the model was trained on, got {in_dim}"
        )
    if config.inputs.learned_dim and graph.num_nodes != config.num_nodes:
        raise ValueError(f"{name}: must have {config.num_nodes} nodes, as the graph of training, got {graph.num_nodes}")
    if config.edge_weight and graph.edge_weight is None:
        raise ValueError(f"{name}: must have edge weights, as the model was trained on, got none")
    if config.edge_dim and edge_dim != config.edge_dim:
        raise ValueError(f"{name}: must have {config.edge_dim} edge feature columns, got {edge_dim}")


def _weights(model: ShadowGNN) -> bytes:
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    return save(tensors, {"format": "pt"})


def _no_statistics(config: ModelConfig) -> FeatureStatistics | None:
    """Return placeholders for the statistics, which are part of the weights."""
    first = config.branches[0].model
    if first is None or not first.standardize or config.in_dim == 0:
        return None
    return FeatureStatistics(np.zeros(config.input_dim, np.float32), np.ones(config.input_dim, np.float32))


def _written(path: Path) -> Path:
    if not path.exists():
        raise RunError(f"{path}: is missing; is the run finished?")
    return path
