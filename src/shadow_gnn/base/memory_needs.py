"""Memory needs: peak bytes of each training method, from counts alone.

Not for: the counts of a recipe on a graph (training/footprint.py) or measuring a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

FLOAT = 4
"""Bytes of a float32."""
ID = 8
"""Bytes of a node id or an offset."""
PROGRAM = 300 * 2**20
"""Bytes of Python, torch and their libraries before any data is loaded."""
BATCHES_AHEAD = 3
"""Batches that the loader's thread holds while the model works on another."""

LAYERS = ("gcn", "sage", "gat", "gatconv", "gin", "sgc", "mlp", "transformer")


@dataclass(frozen=True)
class GraphCounts:
    """Counts of a graph that determine the memory need.

    >>> sg.GraphCounts(num_nodes=1000, num_edges=5000, in_dim=64, out_dim=7).mapped
    True
    """

    num_nodes: int
    """Nodes N."""
    num_edges: int
    """CSR entries E: an undirected edge counts twice."""
    in_dim: int
    """Columns of the features; 0 for none."""
    out_dim: int
    """Classes, or labels of each node."""
    mapped: bool = True
    """Whether features and edges are memory-mapped: the system may then drop them at any time."""

    @property
    def mean_degree(self) -> float:
        """Edges of a node on average."""
        return self.num_edges / max(self.num_nodes, 1)


@dataclass(frozen=True)
class ModelCounts:
    """Counts of a model that determine the memory need.

    >>> sg.ModelCounts(layer="gat", num_layers=5).hidden_dim
    256
    """

    layer: str = "sage"
    """gcn, sage, gat, gatconv, gin, sgc, mlp or transformer; any other name is counted as gat, the heaviest."""
    num_layers: int = 3
    """Layers of message passing."""
    hidden_dim: int = 256
    """Width of every layer."""
    num_heads: int = 4
    """Attention heads, for layers that have them."""
    dropedge: bool = False
    """Whether edges are dropped in training, which needs a factor for each edge."""
    half: bool = False
    """Whether linear maps are computed in bf16."""
    residual: bool = False
    """Whether layers add to their input, which a linear map makes from the features."""

    def __post_init__(self) -> None:
        for name in ("num_layers", "hidden_dim", "num_heads"):
            if getattr(self, name) < 1:
                raise ValueError(f"ModelCounts: {name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class BatchCounts:
    """Counts of one batch that determine the memory need."""

    row_counts: tuple[int, ...]
    """Rows of the first layer's input and of each layer's output: [L + 1], all equal without trimming."""
    num_nodes: int
    """Rows of the batch."""
    num_edges: int
    """Edges of the batch."""
    num_alive: int = 1 + BATCHES_AHEAD
    """Batches in memory at a time: one in use, others made ahead if the epoch has that many."""


@dataclass(frozen=True)
class MemoryNeed:
    """Peak memory of one training method, by part."""

    name: str
    """The method: full, joint, saint, neighbor, shadow, sgc, sign(3,3,3), ..."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each part."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", MappingProxyType({name: int(size) for name, size in self.parts.items()}))

    @property
    def total(self) -> int:
        """Bytes of all parts together."""
        return sum(self.parts.values())


def full_batch_need(
    graph: GraphCounts, model: ModelCounts, *, batch: BatchCounts | None = None, keeps_freed: bool = True
) -> MemoryNeed:
    """Estimate full-batch training: every node's activations of every layer are kept for the backward pass.

    batch: rows that the training targets need, layer by layer; None for all nodes in all layers. keeps_freed: whether
    freed memory stays with the process, as in our commands (allocator.py). Huge blocks of similar size rarely fit into
    each other's places: measurements showed twice the memory in use if all layers have all nodes, and almost no extra
    if later layers are much smaller.

    >>> need = sg.full_batch_need(sg.GraphCounts(10**6, 10**7, 128, 40), sg.ModelCounts(num_layers=5))
    >>> need.total > 10**9
    True
    """
    batch = batch or whole_counts(graph, model.num_layers)
    parts = _training(graph, model, batch)
    if keeps_freed:
        alike = batch.row_counts[-1] / max(batch.row_counts[0], 1)
        moving = sum(parts[name] for name in ("features", "activations", "logits", "gradients"))
        parts["freed and kept"] = int(alike * moving)
    return MemoryNeed("full", {**_held_graph(graph), **parts, "program": PROGRAM})


def minibatch_need(
    name: str,
    graph: GraphCounts,
    model: ModelCounts,
    batch: BatchCounts,
    *,
    evaluation: BatchCounts | None = None,
    most_in_evaluation: int | None = None,
    cached: int = 0,
    counted: int = 0,
) -> MemoryNeed:
    """Estimate training in minibatches of scopes (shadow) or of joined graphs (joint, saint, neighbor).

    evaluation: its batches, which may be larger but keep no activations for a backward pass; the larger of both
    counts. most_in_evaluation: bytes above which evaluation runs in blocks. cached: bytes of scopes kept between
    epochs. counted: bytes of GraphSAINT's counts.
    """
    worst = _training(graph, model, batch)
    if evaluation is not None:
        other = _evaluation(graph, model, evaluation)
        if most_in_evaluation is not None and sum(other.values()) > most_in_evaluation:
            other = {"evaluation in blocks": most_in_evaluation}
        worst = max(worst, {**other, "weights": worst["weights"]}, key=lambda parts: sum(parts.values()))
    kept = {name: size for name, size in (("cached scopes", cached), ("counts", counted)) if size}
    return MemoryNeed(name, {**_held_graph(graph), **worst, **kept, "program": PROGRAM})


def whole_counts(graph: GraphCounts, num_layers: int) -> BatchCounts:
    """Return the counts of the whole graph as one batch, with all nodes in every layer."""
    return BatchCounts((graph.num_nodes,) * (num_layers + 1), graph.num_nodes, graph.num_edges, num_alive=1)


def neighbor_counts(graph: GraphCounts, num_layers: int, batch_size: int, fanout: int) -> BatchCounts:
    """Return the counts of a batch of neighbor sampling if no two sampled neighbors are the same node."""
    drawn = min(float(fanout), graph.mean_degree)
    rows = [min(batch_size, graph.num_nodes)]
    num_edges = 0
    for _ in range(num_layers):
        num_edges += int(rows[-1] * drawn)
        rows.append(min(int(rows[-1] * (1 + drawn)), graph.num_nodes))
    return BatchCounts(tuple(reversed(rows)), rows[-1], min(num_edges, graph.num_edges))


def saint_counts(graph: GraphCounts, num_layers: int, num_nodes: int) -> BatchCounts:
    """Return the counts of a GraphSAINT subgraph of num_nodes nodes, if all their edges are inside it."""
    nodes = min(num_nodes, graph.num_nodes)
    return BatchCounts((nodes,) * (num_layers + 1), nodes, int(nodes * graph.mean_degree))


def scope_counts(graph: GraphCounts, num_layers: int, batch_size: int, nodes_per_scope: int) -> BatchCounts:
    """Return the counts of a batch of scopes of the largest possible size, with all edges of their nodes."""
    nodes = batch_size * min(nodes_per_scope, graph.num_nodes)
    edges_per_node = min(graph.mean_degree, nodes_per_scope - 1)
    return BatchCounts((nodes,) * (num_layers + 1), nodes, int(nodes * edges_per_node))


def sgc_need(graph: GraphCounts) -> MemoryNeed:
    """Estimate SGC by the paper's count: the features twice (Â^k X and Â^(k+1) X), and 8 bytes for each CSR entry."""
    features = graph.num_nodes * graph.in_dim * FLOAT
    return MemoryNeed("sgc", {"features": features, "smoothed": features, "adjacency": ID * graph.num_edges})


def sign_need(graph: GraphCounts, powers: tuple[int, int, int], *, raw_copies: int = 3) -> MemoryNeed:
    """Estimate SIGN(p, s, t) by the paper's equation: M = N f ((p + 1) + (s + 1) + (t + 1)) numbers.

    raw_copies: copies of the raw features; the equation counts one for each kind of operator, but 1 is enough.

    >>> sg.sign_need(sg.GraphCounts(10**6, 10**7, 128, 40), (3, 3, 0)).total > 10**9
    True
    """
    if len(powers) != 3 or min(powers) < 0:
        raise ValueError(f"sign_need: powers must be three numbers of at least 0, got {powers}")
    one = graph.num_nodes * graph.in_dim * FLOAT
    names = ("adjacency powers", "PPR powers", "triangle powers")
    parts = {name: power * one for name, power in zip(names, powers, strict=True)}
    return MemoryNeed(f"sign{powers}".replace(" ", ""), {"features": raw_copies * one, **parts})


def logistic_need(graph: GraphCounts, num_targets: int) -> MemoryNeed:
    """Estimate logistic regression on the raw features of the targets of all splits."""
    weights = graph.in_dim * graph.out_dim * FLOAT
    # L-BFGS keeps up to 60 pairs of vectors as long as the weights.
    parts = {"features": 2 * num_targets * graph.in_dim * FLOAT, "weights": 120 * weights}
    return MemoryNeed("raw", parts)


def label_propagation_need(graph: GraphCounts, num_kept: int = 1) -> MemoryNeed:
    """Estimate label propagation: scores of this step and of the previous one, and the kept sums."""
    one = graph.num_nodes * graph.out_dim * FLOAT
    return MemoryNeed("lp", {"scores": (2 + num_kept) * one, "adjacency": (ID + FLOAT) * graph.num_edges})


def layer_floats(model: ModelCounts, in_dim: int) -> int:
    """Return the float32 values per row that a layer keeps for the backward pass, without values of edges.

    These are the layer's input (after dropout) and the inputs of its norms. If the input is not wider than the output,
    the sum along the edges comes before the linear map and is kept for it: in addition to the input, or (GCN) in its
    place. A residual layer also keeps its sum so far and the change that it adds.
    """
    width = model.hidden_dim
    summed = in_dim if in_dim <= width else 0
    added = 2 * width if model.residual else 0
    return added + {
        "gcn": in_dim + width,
        "sage": in_dim + summed + 2 * width,
        "gatconv": in_dim + 2 * width,
        "gin": in_dim + summed + 2 * width,
        "sgc": in_dim,
        "mlp": in_dim + width,
        "transformer": in_dim + 14 * width,
    }.get(model.layer, in_dim + 3 * width)


def layer_weights(model: ModelCounts, in_dim: int) -> int:
    """Return the number of a layer's parameters."""
    width = model.hidden_dim
    linear, norm = (in_dim + 1) * width, 2 * width
    added = norm + width if model.residual else 0
    return {
        "gcn": linear + norm,
        "gatconv": linear + 2 * width + norm,
        "gin": linear + (width + 1) * width + norm + 1,
        "sgc": in_dim * width,
        "mlp": linear + norm,
        "transformer": (0 if in_dim == width else linear) + 8 * width**2 + 11 * width + 9 * model.num_heads,
    }.get(model.layer, 2 * (linear + norm) + (2 * width if model.layer == "gat" else 0)) + added


def _held_graph(graph: GraphCounts) -> dict[str, int]:
    if graph.mapped:
        return {}
    size = graph.num_nodes * (graph.in_dim * FLOAT + ID) + graph.num_edges * FLOAT
    return {"graph": size}


def _evaluation(graph: GraphCounts, model: ModelCounts, batch: BatchCounts) -> dict[str, int]:
    """Return the parts of an evaluation step, without the weights."""
    return {
        "features": (batch.num_alive * batch.num_nodes + batch.row_counts[0]) * graph.in_dim * FLOAT,
        "adjacency": _edge_bytes(model, batch, backward=False) + (batch.num_alive - 1) * _structure(batch),
        "activations": _widest(graph, model, batch) + _attention(model, batch),
    }


def _training(graph: GraphCounts, model: ModelCounts, batch: BatchCounts) -> dict[str, int]:
    """Return the parts of a training step at the beginning of its backward pass."""
    dims = _in_dims(graph, model)
    kept = sum((rows * layer_floats(model, dim)) * FLOAT for rows, dim in zip(batch.row_counts, dims, strict=False))
    weights = sum(layer_weights(model, dim) for dim in dims) + (model.hidden_dim + 1) * graph.out_dim
    if model.residual:  # The map of the features.
        kept += batch.row_counts[0] * graph.in_dim * FLOAT
        weights += (graph.in_dim + 1) * model.hidden_dim
    attention = model.num_layers * _attention(model, batch)
    number = FLOAT // 2 if model.half else FLOAT
    # The first layer's input (shifted, scaled, encoded) comes on top of the batch's own features.
    return {
        "features": (batch.num_alive * batch.num_nodes + batch.row_counts[0]) * graph.in_dim * FLOAT,
        "adjacency": _edge_bytes(model, batch, backward=True) + (batch.num_alive - 1) * _structure(batch),
        "activations": kept * number // FLOAT + attention,
        # The loss needs the normalized logits, their logarithms and the gradient.
        "logits": 4 * batch.row_counts[-1] * graph.out_dim * FLOAT,
        "gradients": 3 * max(batch.row_counts[:-1]) * model.hidden_dim * FLOAT,
        # The weights, their gradient, two averages of the optimizer, and the best weights or the mean of all.
        "weights": 5 * weights * FLOAT,
    }


def _in_dims(graph: GraphCounts, model: ModelCounts) -> list[int]:
    first = model.hidden_dim if model.residual else max(graph.in_dim, 1)
    return [first, *[model.hidden_dim] * (model.num_layers - 1)]


def _widest(graph: GraphCounts, model: ModelCounts, batch: BatchCounts) -> int:
    """Return the bytes of the largest layer's output and intermediates, the peak without a backward pass."""
    rows = zip(batch.row_counts, _in_dims(graph, model), strict=False)
    return max(count * (layer_floats(model, dim) + model.hidden_dim) * FLOAT for count, dim in rows)


def _structure(batch: BatchCounts) -> int:
    """Return the bytes of a batch without features: ids, hops, scores, scopes, indptr and indices."""
    return (4 * ID + FLOAT) * batch.num_nodes + ID * batch.num_edges


def _edge_bytes(model: ModelCounts, batch: BatchCounts, *, backward: bool) -> int:
    """Return the bytes of the edges as aggregation reads them: by receiver, by sender, and with factors."""
    if model.layer == "mlp":
        return _structure(batch)
    per_edge, per_node = FLOAT, ID + FLOAT
    if backward:  # The same edges by sender, with their positions.
        per_edge, per_node = per_edge + FLOAT + ID, per_node + ID
    if model.layer in ("gcn", "sage", "sgc"):  # The receiver and the factor of each edge.
        per_edge += ID + FLOAT
    if model.dropedge and backward:
        per_edge += FLOAT
    return _structure(batch) + per_edge * batch.num_edges + per_node * batch.num_nodes


def _attention(model: ModelCounts, batch: BatchCounts) -> int:
    """Return the bytes of one layer's attention: a number for each edge, self-edge and head, and the scores."""
    if model.layer == "transformer":  # All pairs of nodes of a scope: biases, products, shares.
        return 3 * model.num_heads * batch.num_nodes**2 // max(batch.row_counts[-1], 1) * FLOAT
    if model.layer in LAYERS and model.layer not in ("gat", "gatconv"):
        return 0
    return model.num_heads * (batch.num_edges + 3 * batch.num_nodes) * FLOAT
