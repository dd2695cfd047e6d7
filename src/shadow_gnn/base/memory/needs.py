"""How many bytes each way of training needs at its most, from counts alone.

Not for: the counts of a recipe on a graph (training/footprint.py), nor for measuring a process.
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
"""What Python, torch and their libraries take before there is any data."""
BATCHES_AHEAD = 3
"""Batches that the loader's thread has ready or in hand while the model works on another."""

LAYERS = ("gcn", "sage", "gat", "gatconv", "gin", "sgc", "mlp")


@dataclass(frozen=True)
class GraphCounts:
    """The numbers of a graph that decide what it takes."""

    num_nodes: int
    """Nodes N."""
    num_edges: int
    """CSR entries E: an undirected edge counts twice."""
    in_dim: int
    """Columns of the features; 0 for none."""
    out_dim: int
    """Classes, or labels of each node."""
    mapped: bool = True
    """Whether features and edges stay in a folder, mapped, so that the system may drop them at any time."""

    @property
    def mean_degree(self) -> float:
        """Edges of a node on average."""
        return self.num_edges / max(self.num_nodes, 1)


@dataclass(frozen=True)
class Network:
    """The numbers of a model that decide what it takes."""

    layer: str = "sage"
    """gcn, sage, gat, gatconv, gin, sgc or mlp; any other name is counted as gat, the heaviest."""
    num_layers: int = 3
    """Layers of message passing."""
    hidden_dim: int = 256
    """Width of every layer."""
    num_heads: int = 4
    """Attention heads, for layers that have them."""
    dropedge: bool = False
    """Whether edges are dropped in training, which takes a factor for each."""
    half: bool = False
    """Whether linear maps are computed in bf16."""

    def __post_init__(self) -> None:
        for name in ("num_layers", "hidden_dim", "num_heads"):
            if getattr(self, name) < 1:
                raise ValueError(f"Network: {name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class BatchCounts:
    """The numbers of one batch that decide what it takes."""

    row_counts: tuple[int, ...]
    """Rows that the first layer reads and each layer returns: [L + 1], all alike without trimming."""
    num_nodes: int
    """Rows of the batch."""
    num_edges: int
    """Edges of the batch."""
    num_alive: int = 1 + BATCHES_AHEAD
    """Batches that are there at a time: one in use, others made ahead as far as an epoch has so many."""


@dataclass(frozen=True)
class Prediction:
    """Bytes at the moment when most are in use, by what they hold."""

    name: str
    """The way of training: full, saint, neighbour, shadow, sgc, sign(3,3,3), ..."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each part."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", MappingProxyType({name: int(size) for name, size in self.parts.items()}))

    @property
    def total(self) -> int:
        """Bytes of all parts together."""
        return sum(self.parts.values())


def predict_full(
    graph: GraphCounts, network: Network, *, batch: BatchCounts | None = None, keeps_freed: bool = True
) -> Prediction:
    """Predict full-batch training: every node's activations of every layer are kept for the backward pass.

    batch: what the training targets hear of, layer by layer; None for all nodes in all layers. keeps_freed: whether
    freed memory stays with the process, as in our commands (allocator.py). Huge blocks of about the same size seldom
    fit into each other's places: as much again as is in use was measured where all layers have all nodes, and almost
    nothing where later layers are much smaller.
    """
    batch = batch or whole_counts(graph, network.num_layers)
    parts = _training(graph, network, batch)
    if keeps_freed:
        alike = batch.row_counts[-1] / max(batch.row_counts[0], 1)
        moving = sum(parts[name] for name in ("features", "activations", "logits", "gradients"))
        parts["freed and kept"] = int(alike * moving)
    return Prediction("full", {**_held_graph(graph), **parts, "program": PROGRAM})


def predict_batches(
    name: str,
    graph: GraphCounts,
    network: Network,
    batch: BatchCounts,
    *,
    evaluation: BatchCounts | None = None,
    most_in_evaluation: int | None = None,
    cached: int = 0,
    counted: int = 0,
) -> Prediction:
    """Predict training in minibatches, of scopes (shadow) or of joined graphs (saint, neighbour).

    evaluation: its batches, which may be larger but need no activations for a backward pass; the moment that takes more
    counts. most_in_evaluation: bytes above which it goes in blocks. cached: bytes of scopes kept between epochs.
    counted: bytes of GraphSAINT's counts.
    """
    worst = _training(graph, network, batch)
    if evaluation is not None:
        other = _evaluation(graph, network, evaluation)
        if most_in_evaluation is not None and sum(other.values()) > most_in_evaluation:
            other = {"evaluation in blocks": most_in_evaluation}
        worst = max(worst, {**other, "weights": worst["weights"]}, key=lambda parts: sum(parts.values()))
    kept = {name: size for name, size in (("cached scopes", cached), ("counts", counted)) if size}
    return Prediction(name, {**_held_graph(graph), **worst, **kept, "program": PROGRAM})


def whole_counts(graph: GraphCounts, num_layers: int) -> BatchCounts:
    """Return the numbers of the whole graph as one batch, all of it in every layer."""
    return BatchCounts((graph.num_nodes,) * (num_layers + 1), graph.num_nodes, graph.num_edges, num_alive=1)


def neighbour_counts(graph: GraphCounts, num_layers: int, batch_size: int, fanout: int) -> BatchCounts:
    """Return the numbers of a batch of neighbour sampling if no two drawn neighbours are the same node."""
    drawn = min(float(fanout), graph.mean_degree)
    rows = [min(batch_size, graph.num_nodes)]
    num_edges = 0
    for _ in range(num_layers):
        num_edges += int(rows[-1] * drawn)
        rows.append(min(int(rows[-1] * (1 + drawn)), graph.num_nodes))
    return BatchCounts(tuple(reversed(rows)), rows[-1], min(num_edges, graph.num_edges))


def saint_counts(graph: GraphCounts, num_layers: int, num_nodes: int) -> BatchCounts:
    """Return the numbers of a GraphSAINT subgraph of so many nodes, if those have all their edges inside it."""
    nodes = min(num_nodes, graph.num_nodes)
    return BatchCounts((nodes,) * (num_layers + 1), nodes, int(nodes * graph.mean_degree))


def scope_counts(graph: GraphCounts, num_layers: int, batch_size: int, nodes_per_scope: int) -> BatchCounts:
    """Return the numbers of a batch of scopes that are all as large as they may be, with all their nodes' edges."""
    nodes = batch_size * min(nodes_per_scope, graph.num_nodes)
    edges_per_node = min(graph.mean_degree, nodes_per_scope - 1)
    return BatchCounts((nodes,) * (num_layers + 1), nodes, int(nodes * edges_per_node))


def predict_sgc(graph: GraphCounts) -> Prediction:
    """Predict SGC by the paper's count: the features twice (Â^k X and Â^(k+1) X), and 8 bytes for each CSR entry."""
    features = graph.num_nodes * graph.in_dim * FLOAT
    return Prediction("sgc", {"features": features, "smoothed": features, "adjacency": ID * graph.num_edges})


def predict_sign(graph: GraphCounts, powers: tuple[int, int, int], *, raw_copies: int = 3) -> Prediction:
    """Predict SIGN(p, s, t) by the paper's equation: M = N f ((p + 1) + (s + 1) + (t + 1)) numbers.

    raw_copies: how often the raw features are kept; the equation has them beside each kind of operator, 1 suffices.
    """
    if len(powers) != 3 or min(powers) < 0:
        raise ValueError(f"predict_sign: powers must be three numbers of at least 0, got {powers}")
    one = graph.num_nodes * graph.in_dim * FLOAT
    names = ("adjacency powers", "PPR powers", "triangle powers")
    parts = {name: power * one for name, power in zip(names, powers, strict=True)}
    return Prediction(f"sign{powers}".replace(" ", ""), {"features": raw_copies * one, **parts})


def predict_logistic(graph: GraphCounts, num_targets: int) -> Prediction:
    """Predict logistic regression on features as they are, of the targets of all splits alone."""
    weights = graph.in_dim * graph.out_dim * FLOAT
    # L-BFGS keeps up to 60 pairs of vectors as long as the weights.
    parts = {"features": 2 * num_targets * graph.in_dim * FLOAT, "weights": 120 * weights}
    return Prediction("raw", parts)


def predict_label_propagation(graph: GraphCounts, num_kept: int = 1) -> Prediction:
    """Predict label propagation: scores of now and of the step before, and the sums that are kept."""
    one = graph.num_nodes * graph.out_dim * FLOAT
    return Prediction("lp", {"scores": (2 + num_kept) * one, "adjacency": (ID + FLOAT) * graph.num_edges})


def layer_floats(network: Network, in_dim: int) -> int:
    """Return how many float32 of each row a layer keeps for the backward pass, without what it keeps of edges.

    In terms of the layer's input (after dropout) and of what goes into its norms. Where the input is not wider than
    what follows, the sum along the edges comes before the linear map and is kept for it: beside the input, or (GCN) in
    its place.
    """
    width = network.hidden_dim
    summed = in_dim if in_dim <= width else 0
    return {
        "gcn": in_dim + width,
        "sage": in_dim + summed + 2 * width,
        "gatconv": in_dim + 2 * width,
        "gin": in_dim + summed + 2 * width,
        "sgc": in_dim,
        "mlp": in_dim + width,
    }.get(network.layer, in_dim + 3 * width)


def layer_weights(network: Network, in_dim: int) -> int:
    """Return how many numbers a layer learns."""
    width = network.hidden_dim
    linear, norm = (in_dim + 1) * width, 2 * width
    return {
        "gcn": linear + norm,
        "gatconv": linear + 2 * width + norm,
        "gin": linear + (width + 1) * width + norm + 1,
        "sgc": in_dim * width,
        "mlp": linear + norm,
    }.get(network.layer, 2 * (linear + norm) + (2 * width if network.layer == "gat" else 0))


def _held_graph(graph: GraphCounts) -> dict[str, int]:
    if graph.mapped:
        return {}
    size = graph.num_nodes * (graph.in_dim * FLOAT + ID) + graph.num_edges * FLOAT
    return {"graph": size}


def _evaluation(graph: GraphCounts, network: Network, batch: BatchCounts) -> dict[str, int]:
    """Return the parts of an evaluation step, but for the weights."""
    return {
        "features": (batch.num_alive * batch.num_nodes + batch.row_counts[0]) * graph.in_dim * FLOAT,
        "adjacency": _edge_bytes(network, batch, backward=False) + (batch.num_alive - 1) * _structure(batch),
        "activations": _widest(graph, network, batch) + _attention(network, batch),
    }


def _training(graph: GraphCounts, network: Network, batch: BatchCounts) -> dict[str, int]:
    """Return the parts of a training step at the beginning of its backward pass."""
    dims = _in_dims(graph, network)
    kept = sum((rows * layer_floats(network, dim)) * FLOAT for rows, dim in zip(batch.row_counts, dims, strict=False))
    weights = sum(layer_weights(network, dim) for dim in dims) + (network.hidden_dim + 1) * graph.out_dim
    attention = network.num_layers * _attention(network, batch)
    number = FLOAT // 2 if network.half else FLOAT
    # Beside the batch's own features there is what the first layer is given: shifted, scaled, encoded.
    return {
        "features": (batch.num_alive * batch.num_nodes + batch.row_counts[0]) * graph.in_dim * FLOAT,
        "adjacency": _edge_bytes(network, batch, backward=True) + (batch.num_alive - 1) * _structure(batch),
        "activations": kept * number // FLOAT + attention,
        # What the loss makes of the logits: normalised, their logarithms, and the gradient.
        "logits": 4 * batch.row_counts[-1] * graph.out_dim * FLOAT,
        "gradients": 3 * max(batch.row_counts[:-1]) * network.hidden_dim * FLOAT,
        # The weights, their gradient, two averages of the optimizer, and those of the best epoch.
        "weights": 5 * weights * FLOAT,
    }


def _in_dims(graph: GraphCounts, network: Network) -> list[int]:
    return [max(graph.in_dim, 1), *[network.hidden_dim] * (network.num_layers - 1)]


def _widest(graph: GraphCounts, network: Network, batch: BatchCounts) -> int:
    """Return the bytes of what the largest layer makes, all that is alive without a backward pass."""
    rows = zip(batch.row_counts, _in_dims(graph, network), strict=False)
    return max(count * (layer_floats(network, dim) + network.hidden_dim) * FLOAT for count, dim in rows)


def _structure(batch: BatchCounts) -> int:
    """Return the bytes of a batch without features: ids, hops, scores, scopes, indptr and indices."""
    return (4 * ID + FLOAT) * batch.num_nodes + ID * batch.num_edges


def _edge_bytes(network: Network, batch: BatchCounts, *, backward: bool) -> int:
    """Return the bytes of the edges as the sums along them need it: by receiver, by sender, and with factors."""
    if network.layer == "mlp":
        return _structure(batch)
    per_edge, per_node = FLOAT, ID + FLOAT
    if backward:  # The same edges by sender, with their positions.
        per_edge, per_node = per_edge + FLOAT + ID, per_node + ID
    if network.layer in ("gcn", "sage", "sgc"):  # The receiver and the factor of each edge.
        per_edge += ID + FLOAT
    if network.dropedge and backward:
        per_edge += FLOAT
    return _structure(batch) + per_edge * batch.num_edges + per_node * batch.num_nodes


def _attention(network: Network, batch: BatchCounts) -> int:
    """Return the bytes of one layer's attention: a number for each edge, self-edge and head, and the scores."""
    if network.layer in LAYERS and network.layer not in ("gat", "gatconv"):
        return 0
    return network.num_heads * (batch.num_edges + 3 * batch.num_nodes) * FLOAT
