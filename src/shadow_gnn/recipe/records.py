"""Recipe: what to train on what, and how, as frozen records; the docstring under a field is its help text.

Not for: files and faults of files (file.py), nor for turning names into classes (training/build.py).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)

Share = Annotated[float, Field(ge=0, lt=1)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


Monitor = Literal[
    "auto",
    "accuracy",
    "micro_f1",
    "macro_f1",
    "mae",
    "rmse",
    "r2",
    "hits20",
    "hits50",
    "hits100",
    "mrr",
    "auc",
    "ap",
]


class Record(BaseModel):
    """A strict, frozen table of a recipe: unknown keys and values of another type are faults."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class TaskRecipe(Record):
    """What is predicted."""

    kind: Literal["node", "link"] = "node"
    """What a target is: a node, or a pair of nodes of which it is to be told whether they are linked (see [link])."""
    target: Literal["auto", "classes", "multilabel", "values"] = "auto"
    """What a target has: one class, several yes/no labels, or a value; auto takes what the graph's labels are."""
    inductive: bool = False
    """Train on the training nodes and the edges among them alone; evaluate on the whole graph."""
    class_weights: bool = False
    """Weigh the loss of each class by its inverse frequency among the training targets; only for classes."""


class LinkRecipe(Record):
    """Which links are predicted, for task.kind = "link"."""

    split: Literal["given", "random", "time"] = "random"
    """Where the links of validation and test come from: the pairs that the graph folder holds, links drawn at random,
    or the latest links."""
    split_seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    """Random seed of the split and of its negatives; left out, that of the run."""
    valid_share: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Share of the links for validation; not for given pairs."""
    test_share: Share = 0.1
    """Share of the links for the test, 0 for no test; not for given pairs."""
    time: Literal["attr", "weight"] = "attr"
    """Where split = "time" finds the time of a link: in the first column of its features, or in its weight."""
    negatives: Literal["uniform", "degree", "given"] = "uniform"
    """Pairs without a link to learn from: all alike, ends drawn by degree, or the graph's own train_neg."""
    num_negatives: Annotated[int, Field(ge=1, le=1000)] = 1
    """Negatives drawn for each link of an epoch; not for given ones."""
    epoch_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the links, and of given negatives, that an epoch goes through."""
    hide: Literal["before", "after"] = "before"
    """When the predicted link is taken out: before its scope is chosen, or after, as the authors do, which marks links
    by what they brought into the scope."""
    use_valid_edges: bool = False
    """Let the links of validation carry messages in the test."""


class ScopeRecord(Record):
    """What every extractor's table may have: another graph that scopes are chosen in."""

    scope_graph: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Graph folder on the same nodes, for example of `shadow data diffuse`, in which nodes are chosen and scored; left
    out, the graph itself."""
    scope_edges: Literal["graph", "scope_graph"] = "graph"
    """Whose edges a scope has: those of the graph, which leaves out nodes that it does not join to the target, or those
    of scope_graph, with its weights."""

    @model_validator(mode="after")
    def _check_scope_edges(self) -> ScopeRecord:
        if self.scope_graph is None and self.scope_edges != "graph":
            raise ValueError('scope_edges must be "graph" where there is no scope_graph')
        return self

    @model_serializer(mode="wrap")
    def _without_scope_graph(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave both keys out where there is no other graph, so that a recipe is written as it was before them."""
        dumped: dict[str, Any] = dump(self)
        if self.scope_graph is None:
            for key in ScopeRecord.model_fields:
                dumped.pop(key, None)
        return dumped


class PprRecipe(ScopeRecord):
    """The nodes with the highest personalised PageRank."""

    kind: Literal["ppr", "stochastic-ppr"] = "ppr"
    """ppr takes the best nodes, stochastic-ppr draws nodes by score in training and takes the best in evaluation."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    teleport: Annotated[float, Field(gt=0, lt=1)] = 0.2609
    """Restart probability of the walk; smaller reaches further."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Smallest score kept; 0 keeps all."""
    threshold_kind: Literal["relative", "absolute"] = "relative"
    """Threshold as a share of the best score after the target's, or as it is."""
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
    """A fixed residual bound of the push; left out, it is refined for each target."""
    precision: Annotated[float, Field(gt=0, le=100)] = 0.15
    """How far the bound is refined; smaller is slower and nearer to exact."""
    max_nodes: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Hard cap on the nodes of a scope, where it is to be below topk."""


class KhopRecipe(ScopeRecord):
    """Random neighbours within a number of hops."""

    kind: Literal["khop"] = "khop"
    """Neighbours within num_hops, drawn anew in each epoch."""
    num_hops: Annotated[int, Field(ge=0, le=100)] = 2
    """Radius of the scope."""
    fanout: Annotated[int, Field(ge=1, le=1_000_000)] = 20
    """Neighbours drawn per node and hop."""
    replace: bool = False
    """Draw with replacement, so that fewer distinct neighbours may come out."""
    max_nodes: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Hard cap on the nodes of a scope; nodes met first stay."""


class FullRecipe(ScopeRecord):
    """The whole neighbourhood."""

    kind: Literal["full"] = "full"
    """All nodes within num_hops."""
    num_hops: Annotated[int, Field(ge=0, le=100)] = 2
    """Radius of the scope."""
    max_nodes: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Hard cap on the nodes of a scope; nodes met first stay."""


class RwrRecipe(ScopeRecord):
    """The nodes that random walks with restart visit most."""

    kind: Literal["rwr"] = "rwr"
    """Nodes by visits of random walks from the target."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    teleport: Annotated[float, Field(ge=0.001, lt=1)] = 0.2609
    """Restart probability of the walk; smaller reaches further."""
    num_walks: Annotated[int, Field(ge=1, le=1_000_000)] = 3000
    """Walks from each target."""
    resample: bool = False
    """Draw other walks in each epoch of training; otherwise a target keeps its scope."""


class SimrankRecipe(ScopeRecord):
    """The nodes most similar by SimRank."""

    kind: Literal["simrank"] = "simrank"
    """Nodes by SimRank with the target, and the nodes that join them to it."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    decay: Annotated[float, Field(gt=0, lt=1)] = 0.6
    """Factor for each step before two walks meet."""
    num_walks: Annotated[int, Field(ge=1, le=10_000)] = 128
    """Walks of the target, and of each node that is compared with it."""
    walk_length: Annotated[int, Field(ge=1, le=32)] = 5
    """Steps of each walk."""
    candidates: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Nodes that are compared with each target; left out, twice topk."""
    resample: bool = False
    """Draw other walks in each epoch of training; otherwise a target keeps its scope."""


class FireRecipe(ScopeRecord):
    """What a forest fire burns."""

    kind: Literal["fire"] = "fire"
    """Nodes that burn in a forest fire from the target, another in each epoch."""
    forward: Share = 0.7
    """Probability p of burning along the edges that messages take: a node sets fire to p / (1 - p) others on
    average."""
    backward: Share = 0.0
    """Likewise against the edges; a directed graph's lists are then kept in memory a second time, reversed."""
    max_nodes: Annotated[int, Field(ge=1, le=10_000_000)] = 200
    """Hard cap on the nodes of a scope; nodes met first stay."""


class NodeRecipe(ScopeRecord):
    """The target alone."""

    kind: Literal["node"] = "node"
    """The target alone: a model on it is an MLP."""


class KatzRecipe(ScopeRecord):
    """The nodes with the highest Katz index: the most walks from the target, longer ones counting less."""

    kind: Literal["katz"] = "katz"
    """The nodes with the most walks from the target, longer ones counting less."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    attenuation: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Factor of each step of a walk, below 1 / spectral radius of the graph; left out, half of that."""
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
    """A fixed bound on what a step must bring to each neighbour; left out, it follows the topk-th score."""
    precision: Annotated[float, Field(gt=0, le=100)] = 0.01
    """That bound as a share of the topk-th score, where it follows it; smaller is slower and nearer to exact."""


class HeatRecipe(ScopeRecord):
    """The nodes with the highest heat-kernel PageRank."""

    kind: Literal["heat"] = "heat"
    """The nodes where a walk most likely ends after about t steps."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    t: Annotated[float, Field(gt=0, le=100)] = 3.0
    """Mean number of steps of the walk; larger reaches further."""
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
    """A fixed bound on what is left of the walk; left out, it is refined for each target."""
    precision: Annotated[float, Field(gt=0, le=100)] = 0.15
    """How far the bound is refined; smaller is slower and nearer to exact."""


class PartRecipe(Record):
    """One term of a combined score."""

    weight: Annotated[float, Field(gt=0, le=1_000_000)] = 1.0
    """Factor of the part's scores, which are at most 1 but for the target's."""
    extractor: ExtractorRecipe
    """Whose scores they are; topk, if left out, is that of the combination."""


class CombinedRecipe(ScopeRecord):
    """The best nodes by a weighted sum of other extractors' scores."""

    kind: Literal["combined"] = "combined"
    """The best nodes by a weighted sum of other extractors' scores."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    parts: Annotated[tuple[PartRecipe, ...], Field(strict=False, max_length=16)] = ()
    """Terms of the sum, each a table with weight and extractor; none, ppr and katz alike."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        """Complete a table: the default parts, and as many candidates of each as are chosen."""
        if not isinstance(value, dict):
            return value
        parts, topk = value.get("parts", ()), value.get("topk", 200)
        if not isinstance(parts, (list, tuple)) or not isinstance(topk, int):
            return value
        parts = parts or [{"extractor": {"kind": kind}} for kind in ("ppr", "katz")]
        return {**value, "parts": [_with_topk(part, topk) for part in parts]}

    @model_validator(mode="after")
    def _check_parts(self) -> CombinedRecipe:
        if any(part.extractor.kind == "combined" for part in self.parts):
            raise ValueError("parts must not be combined themselves; list their parts here")
        return self


def _with_topk(part: Any, topk: int) -> Any:
    """Return a part's table whose extractor has a topk, if it is of a kind with one."""
    if not isinstance(part, dict) or not isinstance(extractor := part.get("extractor", {}), dict):
        return part
    record = EXTRACTORS.get(_extractor_tag(extractor) or "")
    has_topk = record is not None and "topk" in record.model_fields
    return {**part, "extractor": {"topk": topk, **extractor} if has_topk else extractor}


class SimilarRecipe(ScopeRecord):
    """Of the nodes with the highest personalised PageRank, those whose features are most like the target's."""

    kind: Literal["similar"] = "similar"
    """The nodes most like the target in features, among those near it in the graph."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    candidates: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    """Nodes of highest personalised PageRank that are compared with the target; at least topk."""
    teleport: Annotated[float, Field(gt=0, lt=1)] = 0.2609
    """Restart probability of the walk; smaller reaches further."""
    index: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Graph folder of neighbours in features (`shadow data diffuse --kind features`): the target's neighbours there are
    compared too, wherever they are in the graph."""

    @model_validator(mode="after")
    def _check_candidates(self) -> SimilarRecipe:
        if self.candidates < self.topk:
            raise ValueError(f"candidates must be at least topk, {self.topk}, got {self.candidates}")
        return self


class FileRecipe(ScopeRecord):
    """Nodes that were chosen beforehand, from a scope file."""

    kind: Literal["file"] = "file"
    """Nodes that a scope file holds for each target."""
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """The scope file, such as one of `shadow learn-scope`."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Most nodes of a scope, the target included; as many for each end of a pair."""
    missing: Literal["error", "node", "ppr"] = "error"
    """What becomes of a target that is not in the file: a fault, the target alone, or the topk nodes of PPR."""
    other_graph: bool = False
    """Take a graph whose edges are not those that the file was made for, such as an inductive training graph."""


def _extractor_tag(value: Any) -> str | None:
    """Return the extractor that a table or a record is of; a table without kind is of PPR."""
    kind = value.get("kind", "ppr") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) else None


ExtractorRecipe = Annotated[
    Annotated[PprRecipe, Tag("ppr")]
    | Annotated[PprRecipe, Tag("stochastic-ppr")]
    | Annotated[KhopRecipe, Tag("khop")]
    | Annotated[FullRecipe, Tag("full")]
    | Annotated[NodeRecipe, Tag("node")]
    | Annotated[KatzRecipe, Tag("katz")]
    | Annotated[HeatRecipe, Tag("heat")]
    | Annotated[CombinedRecipe, Tag("combined")]
    | Annotated[RwrRecipe, Tag("rwr")]
    | Annotated[SimrankRecipe, Tag("simrank")]
    | Annotated[FireRecipe, Tag("fire")]
    | Annotated[SimilarRecipe, Tag("similar")]
    | Annotated[FileRecipe, Tag("file")],
    Discriminator(_extractor_tag),
]

PATH_KEYS = ("scope_graph", "index", "path")
"""Keys of extractors that name a folder or a file."""

EXTRACTORS: dict[str, type[Record]] = {
    "ppr": PprRecipe,
    "stochastic-ppr": PprRecipe,
    "khop": KhopRecipe,
    "full": FullRecipe,
    "node": NodeRecipe,
    "katz": KatzRecipe,
    "heat": HeatRecipe,
    "combined": CombinedRecipe,
    "rwr": RwrRecipe,
    "simrank": SimrankRecipe,
    "fire": FireRecipe,
    "similar": SimilarRecipe,
    "file": FileRecipe,
}


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
    standardise: bool = True
    """Shift and scale each feature to mean 0 and deviation 1."""


class BranchRecipe(Record):
    """One extractor with its network, for ensembles."""

    extractor: ExtractorRecipe | None = PprRecipe()
    """How the branch's scopes are chosen; a normal GNN has none."""
    model: ModelRecipe | None = None
    """What differs from the recipe's [model]; keys that are left out are taken from there."""


Method = Literal["shadow", "full", "saint", "neighbour"]


class TrainingRecipe(Record):
    """How the model is trained."""

    method: Method = "shadow"
    """shadow: a scope for each target; the others train a normal GNN: on the whole graph at once (full), on subgraphs
    of GraphSAINT (saint, see its table) or on drawn neighbours (neighbour, see its table)."""
    num_epochs: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    """Most passes over the training targets."""
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)] = 128
    """Targets of a step, of all processes together."""
    optimiser: Literal["adam", "adamw"] = "adam"
    """adam adds weight decay to the gradient, adamw takes it from the weights."""
    learning_rate: Annotated[float, Field(gt=0, le=100)] = 0.01
    """Step size, before the schedule."""
    weight_decay: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Pull of the weights towards 0."""
    schedule: Literal["constant", "cosine", "step", "plateau"] = "constant"
    """Learning rate over the epochs: as it is, along a half cosine to 0, times decay every decay_epochs, or times decay
    whenever decay_epochs brought no better validation."""
    decay: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Factor of the step and plateau schedules."""
    decay_epochs: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """Epochs of the step and plateau schedules."""
    warmup_epochs: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    """Epochs, or a part of one, in which the learning rate rises from 0 in a line."""
    clip_norm: Annotated[float, Field(ge=0, le=1e9)] = 5.0
    """Largest norm of the gradient; 0 for any."""
    monitor: Monitor = "auto"
    """Validation metric that decides which epoch is the best; auto is accuracy, micro_f1, mae, or hits50 for links."""
    patience: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Stop after this many epochs without a better one; 0 for never."""
    precision: Literal["float32", "bf16", "float64"] = "float32"
    """bf16 computes linear maps in half the bits, with weights in float32; faster where the processor supports it.
    float64 has weights and all else in twice the bits, to compare runs digit by digit."""
    evaluate_every: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Epochs from one validation to the next."""
    checkpoint_every: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Epochs from one checkpoint to the next."""
    cache: Literal["memory", "disk", "none"] = "memory"
    """Where the scopes of a deterministic extractor are kept between epochs; disk is the run's own folder."""
    cache_megabytes: Annotated[int, Field(ge=0, le=10_000_000)] = 2048
    """Most that the cache holds; what does not fit is extracted anew."""
    pack: bool = False
    """Keep every batch of training whole, features included, in one file in the run's folder, and read it in one piece:
    a batch keeps its targets, the order of batches changes from epoch to epoch; for deterministic extractors."""
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where the model runs; auto takes the best that is there."""


class SaintRecipe(Record):
    """The subgraphs of GraphSAINT, for training.method = "saint"."""

    sampler: Literal["node", "edge", "rw", "mrw"] = "rw"
    """What is drawn: nodes, edges, random walks from training nodes, or the walk of a whole frontier of them."""
    num_nodes: Annotated[int, Field(ge=1, le=100_000_000)] = 6000
    """node, mrw: nodes drawn for a subgraph."""
    num_edges: Annotated[int, Field(ge=1, le=100_000_000)] = 3000
    """edge: edges drawn for a subgraph, of which both ends come along."""
    num_walks: Annotated[int, Field(ge=1, le=100_000_000)] = 2000
    """rw: walks of a subgraph."""
    walk_length: Annotated[int, Field(ge=0, le=1000)] = 2
    """rw: steps of each walk."""
    frontier: Annotated[int, Field(ge=1, le=100_000_000)] = 1000
    """mrw: nodes that walk at the same time."""
    num_steps: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Subgraphs of an epoch; left out, as many as meet every training target once on average."""


class NeighbourRecipe(Record):
    """The neighbours that are drawn, for training.method = "neighbour"."""

    fanouts: Annotated[tuple[Annotated[int, Field(ge=1, le=1_000_000)], ...], Field(strict=False, max_length=100)] = (
        10,
    )
    """Neighbours drawn for each node, layer by layer from the target outwards; a single one serves all layers."""


class LoggingRecipe(Record):
    """Where metrics go beside metrics.csv."""

    tensorboard: bool = False
    """Write event files for TensorBoard into the run folder."""
    wandb: Literal["off", "offline", "online"] = "off"
    """Log to Weights & Biases: into the run folder, or to its server."""
    wandb_project: Name = "shadow-gnn"
    """Project of that log."""


COMMON_KEYS = ("hidden_dim", "head_norm", "ensemble", "share_weights", "standardise")
"""Keys of [model] that cannot differ between branches."""

EXTRACTOR_TWICE = "extractor: must not be there beside branches, which have an extractor each"

METHOD_TABLES: dict[str, type[Record]] = {"saint": SaintRecipe, "neighbour": NeighbourRecipe}
"""Tables that only one method reads."""


class Recipe(Record):
    """Everything that decides a run."""

    graph: Annotated[str, Field(min_length=1, max_length=4096)]
    """Graph folder, or the name of a built-in graph or of a data set that `shadow data get` made."""
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    """Random seed of weights, shuffling, drawn scopes and dropout."""
    task: TaskRecipe = TaskRecipe()
    """What is predicted."""
    link: LinkRecipe = LinkRecipe()
    """Which links are predicted."""
    extractor: ExtractorRecipe | None = None
    """How scopes are chosen; ppr with its defaults if there is neither this nor branches."""
    branches: Annotated[tuple[BranchRecipe, ...], Field(strict=False, max_length=16)] = ()
    """Several extractors, each with its network, whose embeddings are joined."""
    inputs: InputsRecipe = InputsRecipe()
    """What the model reads beside the features."""
    model: ModelRecipe = ModelRecipe()
    """The network."""
    training: TrainingRecipe = TrainingRecipe()
    """How it is trained; training = "full" is short for a table with that method alone."""
    saint: SaintRecipe = SaintRecipe()
    """Subgraphs of GraphSAINT."""
    neighbour: NeighbourRecipe = NeighbourRecipe()
    """Drawn neighbours."""
    logging: LoggingRecipe = LoggingRecipe()
    """Where metrics go."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        """Complete a table: the default extractor and encoding, and what branches take over from [model]."""
        if not isinstance(value, dict):
            return value
        filled = dict(value)
        if isinstance(filled.get("training"), str):
            filled["training"] = {"method": filled["training"]}
        if _is_normal(filled.get("training")):
            if isinstance(model := filled.get("model", {}), dict):
                filled["model"] = {"encoding": "none", **model}
        elif not filled.get("branches") and filled.get("extractor") is None:
            filled["extractor"] = {}
        common, branches = filled.get("model", {}), filled.get("branches")
        if isinstance(branches, (list, tuple)):
            filled["branches"] = [_with_model(branch, common) for branch in branches]
        return filled

    @model_validator(mode="after")
    def _check_branches(self) -> Recipe:
        if self.branches and self.extractor is not None:
            raise ValueError(EXTRACTOR_TWICE)
        for number, branch in enumerate(self.branches):
            for name in COMMON_KEYS:
                if getattr(branch.model, name, None) != getattr(self.model, name):
                    raise ValueError(f"branches.{number}.model.{name}: must be set in [model], for all branches alike")
        return self

    @model_validator(mode="after")
    def _check_method(self) -> Recipe:
        method = self.training.method
        for name, record in METHOD_TABLES.items():
            if method != name and getattr(self, name) != record():
                raise ValueError(f'{name}: must be left out unless training.method is "{name}", it is "{method}"')
        if not self.is_normal:
            return self
        if self.extractor is not None or self.branches:
            name = "branches" if self.branches else "extractor"
            raise ValueError(f'{name}: must be left out for training.method "{method}", which has no scopes')
        for name, needed in (("encoding", "none"), ("readout", "center")):
            if getattr(self.model, name) != needed:
                raise ValueError(f'model.{name}: must be "{needed}" for training.method "{method}", without scopes')
        if self.inputs.degree or self.inputs.graph_degree or self.inputs.learned_dim:
            raise ValueError(
                f'inputs: degree, graph_degree and learned_dim must be left out for training.method "{method}"'
            )
        if method == "saint" and self.inputs.reads_labels:
            raise ValueError(
                'inputs: labels and smooth_labels must be left out for training.method "saint", as every training '
                "node of a subgraph is a target there, whose label is hidden"
            )
        count = len(self.neighbour.fanouts)
        if count not in (1, self.model.num_layers):
            raise ValueError(f"neighbour.fanouts: must be 1 or {self.model.num_layers}, as many as layers, got {count}")
        return self

    @model_validator(mode="after")
    def _check_links(self) -> Recipe:
        if self.task.kind == "node":
            if self.link != LinkRecipe():
                raise ValueError('link: must be left out unless task.kind is "link", it is "node"')
            return self
        if self.is_normal:
            raise ValueError('task.kind: must be "node" for a normal GNN; training.method "shadow" predicts links')
        if self.task != TaskRecipe(kind="link"):
            raise ValueError('task: target, inductive and class_weights must be left out for task.kind "link"')
        if self.inputs.smooth or self.inputs.reads_labels:
            raise ValueError(
                'inputs: smooth, labels and smooth_labels must be left out for task.kind "link", as what is smoothed '
                "over the graph holds the predicted link"
            )
        return self

    @model_validator(mode="after")
    def _check_scope_graphs(self) -> Recipe:
        """Refuse what could show training what it must not see: the other graph may be made with all of it."""
        if not any(part.extractor is not None and part.extractor.scope_graph for part in self.parts):
            return self
        if self.task.inductive:
            raise ValueError(
                "extractor.scope_graph: must be left out where task.inductive, as it may hold edges of nodes that are "
                "not for training"
            )
        if self.task.kind == "link" and self.link.split != "given":
            raise ValueError(
                'extractor.scope_graph: must be left out for links unless link.split is "given", as it may be made '
                "with the links that a drawn split takes out"
            )
        return self

    @property
    def is_normal(self) -> bool:
        """Whether a normal GNN is trained, without scopes."""
        return self.training.method != "shadow"

    @property
    def parts(self) -> tuple[BranchRecipe, ...]:
        """The branches, each complete; one for a recipe with a single extractor or with none."""
        if self.branches:
            return self.branches
        return (BranchRecipe(extractor=self.extractor, model=self.model),)


def _is_normal(training: Any) -> bool:
    """Tell whether a table or record of [training] asks for a normal GNN."""
    method = training.get("method") if isinstance(training, dict) else getattr(training, "method", None)
    return method in ("full", "saint", "neighbour")


def _with_model(branch: Any, common: Any) -> Any:
    """Return a branch's table with the keys of [model] that it does not set itself."""
    base = common.model_dump() if isinstance(common, ModelRecipe) else common
    if not isinstance(branch, dict) or not isinstance(base, dict):
        if isinstance(branch, BranchRecipe) and branch.model is None and isinstance(base, dict):
            return {"extractor": branch.extractor, "model": base}
        return branch
    own = branch.get("model", {})
    return {**branch, "model": {**base, **own}} if isinstance(own, dict) else branch
