"""[model], [inputs] and [[branches]]: the network and the columns that it reads.

Not for: making the network (training/build.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shadow_gnn.extract.kinds.ppr import PprExtractor
from shadow_gnn.recipe.extractor_table import ExtractorField
from shadow_gnn.recipe.record import Name, Record, Share


class InputsRecipe(Record):
    """What the model reads of each node beside its features."""

    smooth: Annotated[int, Field(ge=0, le=16)] = 0
    """Also read the features smoothed over the graph 1 to this many times; 0 for the features alone."""
    labels: bool = False
    """Also read the labels of the training nodes; that of the target itself is always hidden."""
    smooth_labels: Annotated[int, Field(ge=0, le=2)] = 0
    """Also read the training labels smoothed over the graph 1 to this many times, without what the target's own label
    adds to them."""
    label_share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Share of the training nodes that show their labels in an epoch of training on the whole graph at once; the loss
    is of the others."""

    degree: bool = False
    """Also read the degree of each node inside the scope, on a log scale."""
    graph_degree: bool = False
    """Also read the degree of each node in the graph, on a log scale; that of a pair's ends without their own link."""
    learned_dim: Annotated[int, Field(ge=0, le=4096)] = 0
    """Also read this many columns that are learned for each node of the graph; such a model knows no other graph."""

    @property
    def reads_labels(self) -> bool:
        """Whether any column is made of labels."""
        return self.labels or self.smooth_labels > 0

    def num_columns(self, num_features: int, num_labels: int) -> int:
        """Count the columns that a model reads: num_features of the graph, num_labels classes or labels."""
        found = num_features * (1 + self.smooth) + num_labels * (self.labels + self.smooth_labels)
        return found + self.degree + self.graph_degree + self.learned_dim


class ModelRecipe(Record):
    """The network of a branch, and how several branches are joined."""

    layer: Name = "sage"
    """gcn, sage, gat (the authors' form), gatconv (GATConv's), gin, sgc, mlp, or the name of a conv class of PyG, for
    example TransformerConv."""
    num_layers: Annotated[int, Field(ge=1, le=100)] = 3
    """Layers of message passing; the scope does not grow with them."""
    hidden_dim: Annotated[int, Field(ge=1, le=16_384)] = 256
    """Width of every layer."""
    num_heads: Annotated[int, Field(ge=1, le=64)] = 4
    """Attention heads, for layers that have them."""
    activation: Literal["relu", "elu", "prelu", "none"] = "relu"
    """Activation after each linear map."""
    dropout: Share = 0.0
    """Share of each layer's inputs that is dropped in training."""
    dropedge: Share = 0.0
    """Share of the edges that is dropped from each batch in training."""
    norm: Literal["layer", "none"] = "layer"
    """Normalisation of each layer's outputs."""
    skip: Literal["none", "max", "sum", "concat"] = "none"
    """How the outputs of all layers are joined; none takes the last one."""
    readout: Name = "center"
    """center, sum, mean, max, sort, or the name of an aggregation class of PyG, such as MedianAggregation."""
    sort_size: Annotated[int, Field(ge=1, le=10_000)] = 25
    """Nodes that the sort readout keeps."""
    encoding: Literal["hop", "ppr", "drnl", "none"] = "hop"
    """Structure relative to the target that is put beside the features: distance or score."""
    encoding_join: Literal["add", "concat"] = "add"
    """Whether the encoding is added to the features or concatenated."""
    edge_weights: bool = True
    """Messages count by the weights of their edges, where the graph has weights."""
    head_norm: bool = True
    """Normalise the logits, as the authors do; never done for values or for fewer than 3 classes."""
    ensemble: Literal["attention", "mean"] = "attention"
    """How several branches are joined."""
    share_weights: bool = False
    """Whether branches share the weights of their layers."""
    trim: bool = True
    """Leave out rows that cannot reach the target any more; the same result but for rounding, faster."""
    standardize: bool = True
    """Shift and scale each feature to mean 0 and deviation 1."""


class BranchRecipe(Record):
    """One extractor with its network, for ensembles."""

    extractor: ExtractorField | None = PprExtractor()
    """How the branch's scopes are chosen; a normal GNN has none."""
    model: ModelRecipe | None = None
    """What differs from the recipe's [model]; keys that are left out are taken from there."""
