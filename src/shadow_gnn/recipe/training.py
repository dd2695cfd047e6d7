"""[training], [saint], [neighbor], [joint] and [logging]: training of a model, and its logs.

Not for: the loop itself (training/).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shadow_gnn.recipe.record import Name, Record, Share

NodeMetric = Literal["accuracy", "micro_f1", "macro_f1", "mae", "rmse", "r2"]
LinkMetric = Literal["hits20", "hits50", "hits100", "mrr", "auc", "ap"]
Monitor = Literal["auto", NodeMetric, LinkMetric]
Method = Literal["shadow", "joint", "full", "saint", "neighbor"]


class TrainingRecipe(Record):
    """Training of the model.

    >>> sg.TrainingRecipe(num_epochs=50, schedule="cosine").batch_size
    128
    """

    method: Method = "shadow"
    """shadow: a scope for each target; joint: the merged scopes of near targets (see its table); the others train a
    normal GNN: on the whole graph at once (full), on subgraphs of GraphSAINT (saint, see its table) or on drawn
    neighbors (neighbor, see its table)."""
    init: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Folder of a finished run whose weights training begins with; its model must be the same. An encoding that it
    lacks begins without effect."""
    warm_start: Literal["none", "full", "saint", "neighbor"] = "none"
    """Train the same network as a normal GNN first, by this method, and begin on scopes with its best weights. The
    defaults are then num_epochs 4, learning_rate 0.0005 and schedule cosine."""
    warm_epochs: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Epochs of the warm start; left out, 200 for full, where an epoch is one step, and 10 for the others."""
    warm_learning_rate: Annotated[float, Field(gt=0, le=100)] = 0.005
    """Step size of the warm start, before the schedule."""
    num_epochs: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    """Most passes over the training targets."""
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)] = 128
    """Targets of a step, of all processes together."""
    optimizer: Literal["adam", "adamw"] = "adam"
    """adam adds weight decay to the gradient, adamw subtracts it from the weights."""
    learning_rate: Annotated[float, Field(gt=0, le=100)] = 0.01
    """Step size, before the schedule."""
    weight_decay: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Pull of the weights towards 0."""
    schedule: Literal["constant", "cosine", "step", "plateau"] = "constant"
    """Learning rate over the epochs: constant, along a half cosine to 0, times decay every decay_epochs, or times decay
    after decay_epochs without better validation."""
    decay: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Factor of the step and plateau schedules."""
    decay_epochs: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """Epochs of the step and plateau schedules."""
    warmup_epochs: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    """Epochs, or a fraction of one, of linear warm-up of the learning rate from 0."""
    clip_norm: Annotated[float, Field(ge=0, le=1e9)] = 5.0
    """Largest norm of the gradient; 0 for any."""
    label_smoothing: Share = 0.0
    """Share of a known label that the loss spreads over all classes alike, or over yes and no; not for values and
    links."""
    average: Share = 0.0
    """Validate and keep a moving average of the weights: each step weighs this many times as much as the next one, so
    that 0.99 averages about 100 steps; 0 for the weights as they are."""
    monitor: Monitor = "auto"
    """Validation metric that selects the best epoch; auto is accuracy, micro_f1, mae, or hits50 for links."""
    patience: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Stop after this many epochs without a better one; 0 for never."""
    precision: Literal["float32", "bf16", "float64"] = "float32"
    """bf16 computes linear maps in half the bits, with weights in float32; faster where the processor supports it.
    float64 uses double precision for everything, to compare runs digit by digit."""
    evaluate_every: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Epochs from one validation to the next."""
    checkpoint_every: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Epochs from one checkpoint to the next."""
    cache: Literal["memory", "disk", "none"] = "memory"
    """Where the scopes of a deterministic extractor are kept between epochs; disk is the run's own folder."""
    cache_megabytes: Annotated[int, Field(ge=0, le=10_000_000)] = 2048
    """Size limit of the cache; scopes that do not fit are extracted each time."""
    pack: bool = False
    """Store complete training batches, features included, in one file in the run's folder: a batch keeps its targets,
    the order of batches changes from epoch to epoch; for deterministic extractors."""
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where the model runs; auto takes the best available."""


class SaintRecipe(Record):
    """The subgraphs of GraphSAINT, for training.method = "saint"."""

    sampler: Literal["node", "edge", "rw", "mrw"] = "rw"
    """Unit to draw: nodes, edges, random walks from training nodes, or walks of a frontier of them."""
    num_nodes: Annotated[int, Field(ge=1, le=100_000_000)] = 6000
    """node, mrw: nodes drawn for a subgraph."""
    num_edges: Annotated[int, Field(ge=1, le=100_000_000)] = 3000
    """edge: edges drawn for a subgraph, with both ends."""
    num_walks: Annotated[int, Field(ge=1, le=100_000_000)] = 2000
    """rw: walks of a subgraph."""
    walk_length: Annotated[int, Field(ge=0, le=1000)] = 2
    """rw: steps of each walk."""
    frontier: Annotated[int, Field(ge=1, le=100_000_000)] = 1000
    """mrw: nodes that walk at the same time."""
    num_steps: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Subgraphs of an epoch; left out, enough to draw as many targets as the training split has."""


class NeighborRecipe(Record):
    """Drawn neighbors, for training.method = "neighbor"."""

    fanouts: Annotated[tuple[Annotated[int, Field(ge=1, le=1_000_000)], ...], Field(strict=False, max_length=100)] = (
        10,
    )
    """Neighbors drawn for each node, layer by layer from the target outwards; a single number is for all layers."""


class JointRecipe(Record):
    """Merged scopes of near targets, for training.method = "joint"."""

    block_size: Annotated[int, Field(ge=1, le=1_000_000)] = 32
    """Near targets that stay together; a batch is training.batch_size targets in whole blocks. 1 mixes all targets."""
    max_nodes: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    """Most nodes of a batch, those with the highest sum of scores; left out, all nodes of its scopes."""


class LoggingRecipe(Record):
    """Loggers in addition to metrics.csv.

    >>> sg.LoggingRecipe(tensorboard=True).wandb
    'off'
    """

    tensorboard: bool = False
    """Write event files for TensorBoard into the run folder."""
    wandb: Literal["off", "offline", "online"] = "off"
    """Log to Weights & Biases: into the run folder, or to its server."""
    wandb_project: Name = "shadow-gnn"
    """Project of that log."""
