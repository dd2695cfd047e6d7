"""[model], [inputs] and [[branches]]: the network and its inputs.

Not for: making the network (training/build.py).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from shadow_gnn.extract.kinds.ppr import PprExtractor
from shadow_gnn.recipe.extractor_table import ExtractorField
from shadow_gnn.recipe.record import Name, Record, Share


def _checked_options(table: dict[str, Any]) -> dict[str, Any]:
    for name, value in table.items():
        if not isinstance(value, (bool, int, float, str)):
            raise ValueError(f"{name} must be a number, text, true or false, got {type(value).__name__}")
    return table


LayerTable = Annotated[dict[Name, Any], AfterValidator(_checked_options)]


class InputsRecipe(Record):
    """Inputs of the model in addition to the features.

    >>> inputs = sg.InputsRecipe(labels=True, smooth=2)
    >>> sg.Recipe(graph="ring", inputs=inputs).inputs.labels
    True
    """

    smooth: Annotated[int, Field(ge=0, le=16)] = 0
    """Also read the features smoothed over the graph 1 to this many times; 0 for the features alone."""
    labels: bool = False
    """Also read the labels of the training nodes; the target's own label is always hidden."""
    smooth_labels: Annotated[int, Field(ge=0, le=2)] = 0
    """Also read the training labels smoothed over the graph 1 to this many times, without the contribution of the
    target's own label."""
    label_share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Share of the training nodes that show their labels in an epoch of training on the whole graph; the loss is taken
    over the others."""
    degree: bool = False
    """Also read the degree of each node inside the scope, on a log scale."""
    graph_degree: bool = False
    """Also read the degree of each node in the graph, on a log scale; for the ends of a pair without their own link."""
    learned_dim: Annotated[int, Field(ge=0, le=4096)] = 0
    """Also read this many learned columns for each node; the model then works on this graph only."""

    @property
    def reads_labels(self) -> bool:
        """Whether any input comes from labels."""
        return self.labels or self.smooth_labels > 0

    def num_columns(self, num_features: int, num_labels: int) -> int:
        """Count the columns that a model reads: num_features of the graph, num_labels classes or labels."""
        found = num_features * (1 + self.smooth) + num_labels * (self.labels + self.smooth_labels)
        return found + self.degree + self.graph_degree + self.learned_dim


class ModelRecipe(Record):
    """The network of a branch, and how several branches are joined.

    >>> sg.ModelRecipe(layer="gat", num_layers=5, readout="max").skip
    'none'
    """

    layer: Name = "sage"
    """gcn, sage, gat (the authors' form), gatconv (GATConv's), gin, sgc, mlp, transformer (attention over all nodes of
    the scope), or the name of a conv class of PyG, for example TransformerConv."""
    layer_options: LayerTable = Field(default_factory=dict)
    """Further arguments of a conv class of PyG, for example {K = 3} for ChebConv."""
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
    """Normalization of each layer's outputs."""
    skip: Literal["none", "max", "sum", "concat", "residual"] = "none"
    """How the outputs of all layers are joined; none takes the last one, residual lets every layer add a correction to
    its input, for deep models."""
    readout: Name = "center"
    """center, sum, mean, max, sort, or the name of an aggregation class of PyG, such as MedianAggregation."""
    sort_size: Annotated[int, Field(ge=1, le=10_000)] = 25
    """Nodes that the sort readout keeps."""
    encoding: Literal["hop", "ppr", "drnl", "none"] = "hop"
    """Position relative to the target as an input: distance (hop), score (ppr) or SEAL's label (drnl)."""
    encoding_join: Literal["add", "concat"] = "add"
    """Whether the encoding is added to the features or concatenated."""
    edge_weights: bool = True
    """Weigh messages by the weights of their edges, if the graph has weights."""
    head: Literal["linear", "normalized", "unit"] = "linear"
    """Map from embedding to logits: linear after a learned norm and dropout; normalized, the authors' form: embeddings
    of length 1, and normalized logits for 3 or more classes or labels; unit: the same without normalized logits."""
    ensemble: Literal["attention", "mean"] = "attention"
    """How several branches are joined."""
    share_weights: bool = False
    """Whether branches share the weights of their layers."""
    trim: bool = True
    """Skip rows that can no longer reach the target: faster, with the same result up to rounding."""
    standardize: bool = True
    """Shift and scale each feature to mean 0 and deviation 1."""


class BranchRecipe(Record):
    """One extractor with its network, for ensembles.

    >>> near = sg.BranchRecipe(extractor=extract.KhopExtractor(num_hops=1))
    >>> far = sg.BranchRecipe(extractor=extract.PprExtractor(topk=50))
    >>> len(sg.Recipe(graph="ring", branches=[near, far]).branches)
    2
    """

    extractor: ExtractorField | None = PprExtractor()
    """Extractor of the branch; a normal GNN has none."""
    model: ModelRecipe | None = None
    """Keys that differ from the recipe's [model]."""
