"""Any extractor as a torch_geometric BaseSampler, for PyG's NodeLoader, LinkLoader and Lightning data modules.

Not for: a Batch as a PyG Batch (batch.py), or importing PyG data (graph/importing).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    NegativeSampling,
    NodeSamplerInput,
    SamplerOutput,
)
from torch_geometric.utils import is_undirected

from shadow_gnn.extract.options import check_int
from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.graph.importing.build import build_graph
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate


class ExtractorSampler(BaseSampler):  # type: ignore[misc]
    """An extractor bound to its graph, giving one scope per target in hop order: the targets are the first rows.

    `edge` of the output is the graph's edge_id, the column of the edge_index that it was built from (see from_data),
    or the position in its indices where it has no edge_id. `batch` is the scope of each node.

    >>> from torch_geometric.loader import NodeLoader
    >>> sampler = sg.ExtractorSampler(graph, extract.PprExtractor(topk=6))
    >>> loader = NodeLoader(graph.to_pyg(), sampler, input_nodes=torch.tensor([0, 7]), batch_size=2)
    >>> next(iter(loader)).n_id[:2]
    tensor([0, 7])
    """

    def __init__(
        self, graph: Graph, extractor: Extractor, *, seed: int | None = None, num_layers: int | None = None
    ) -> None:
        """Check and store.

        seed: an integer for the same random scopes in every epoch; None to draw from torch's generator for every
        batch, as PyG's own samplers do. num_layers: layers of the model, if it uses PyG's trim_to_layer; for scopes
        with fewer hops, num_sampled_nodes and num_sampled_edges end in zeros, which keeps trimming exact.
        """
        if not isinstance(graph, Graph):
            raise TypeError(
                f"ExtractorSampler: graph must be a shadow_gnn Graph, got {type(graph).__name__}; "
                "for PyG Data use ExtractorSampler.from_data"
            )
        if num_layers is not None:
            check_int("ExtractorSampler", "num_layers", num_layers, 1)
        if extractor.edge_graph(graph) is not graph:
            raise ValueError("ExtractorSampler: extractor must give edges of the graph, got scope_edges='scope_graph'")
        self.graph = graph
        self.extractor = extractor
        self.seed = seed
        self.num_layers = num_layers

    @classmethod
    def from_data(
        cls,
        data: Any,
        extractor: Extractor,
        *,
        undirected: bool = False,
        seed: int | None = None,
        num_layers: int | None = None,
    ) -> ExtractorSampler:
        """Bind an extractor to the edges of a PyG Data, weighted by its edge_weight if it has one.

        Self-loops are left out, and of repeated edges the first column stands for all. undirected: also follow every
        edge against its direction, with the features of the column that it comes from.
        """
        return cls(graph_of_data(data, undirected=undirected), extractor, seed=seed, num_layers=num_layers)

    def sample_from_nodes(self, index: NodeSamplerInput) -> SamplerOutput:
        """Extract one scope for each node of `index`; row i of the output is its node i."""
        _refuse_types_and_times(index)
        output = self._output(self._batch(index.node.numpy()))
        output.metadata = (index.input_id, None)
        return output

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None) -> SamplerOutput:
        """Extract one scope for each pair of `index`, from both of its ends.

        Binary negatives are further pairs with scopes of their own; the negatives of a triplet share the scope of its
        positive pair. An extractor with hide="before" chooses that scope as if the positive pair were not linked, and
        removes any link between the source and a negative from it.
        """
        _refuse_types_and_times(index)
        negatives = NegativeSampling.cast(neg_sampling)
        if negatives is not None and negatives.is_triplet():
            return self._triplets(index, negatives)
        pairs, label = torch.stack((index.row, index.col), dim=1), index.label
        if negatives is not None:
            pairs, label = _with_negative_pairs(pairs, label, negatives, self.graph.num_nodes)
        batch = self._batch(pairs.numpy())
        output = self._output(batch)
        output.metadata = (index.input_id, batch.target_node.t().contiguous(), label, None)
        return output

    def _triplets(self, index: EdgeSamplerInput, negatives: NegativeSampling) -> SamplerOutput:
        if index.label is not None:
            raise ValueError("ExtractorSampler: label must be None for triplets, got a tensor")
        num_pairs = len(index.row)
        drawn = negatives.sample(num_pairs * negatives.amount, "dst", self.graph.num_nodes)
        groups = torch.cat((torch.stack((index.row, index.col), dim=1), drawn.view(num_pairs, negatives.amount)), dim=1)
        batch = self._batch(groups.numpy())
        output = self._output(batch)
        source, positive, negative = batch.target_node.tensor_split((1, 2), dim=1)
        output.metadata = (index.input_id, source[:, 0], positive[:, 0], negative.squeeze(-1), None)
        return output

    def _batch(self, targets: NDArray[np.int64]) -> Batch:
        seed = self.seed
        if seed is None:
            seed = 0 if self.extractor.deterministic else int(torch.randint(2**62, ()))
        subgraphs = self.extractor.with_common(edge_pos=True)(self.graph, targets, seed=seed)
        return collate(self.graph, subgraphs, order="hop", features=False, edge_arrays=("id",))

    def _output(self, batch: Batch) -> SamplerOutput:
        row, col = batch.edge_index()
        num_nodes, num_edges = sizes_by_hop(batch, self.num_layers)
        return SamplerOutput(
            node=batch.node_id,
            row=row,
            col=col,
            edge=batch.edge_id,
            batch=batch.subgraph,
            num_sampled_nodes=num_nodes,
            num_sampled_edges=num_edges,
        )


def graph_of_data(data: Any, *, undirected: bool = False) -> Graph:
    """Build the topology of a PyG Data; edge_id is the column of its edge_index that each edge comes from."""
    if not isinstance(data, Data):
        raise TypeError(f"ExtractorSampler: data must be a torch_geometric Data, got {type(data).__name__}")
    if data.edge_index is None:
        raise ValueError("ExtractorSampler: data must have an edge_index, got none; adj_t is not read")
    source, receiver = data.edge_index.detach().cpu().numpy()
    weight = getattr(data, "edge_weight", None)
    graph, _ = build_graph(
        source,
        receiver,
        int(data.num_nodes),
        weight=None if weight is None else weight.detach().cpu().numpy(),
        undirected=undirected,
        keep_edge_id=True,
    )
    # Built edge by edge, so both directions keep their own features; undirected is faster to extract from.
    return replace(graph, directed=False) if graph.directed and _is_symmetric(graph) else graph


def sizes_by_hop(batch: Batch, num_layers: int | None) -> tuple[list[int], list[int]]:
    """Count nodes and received edges per hop, as PyG's trim_to_layer takes them off from the end.

    With H hops these are H + 1 and H numbers: edges to the last hop count with the hop before.
    """
    assert batch.hop_ptr is not None
    ends = list(batch.hop_ptr)
    if len(ends) == 1:
        ends.append(ends[0])
    edge_ends = [int(batch.indptr[end]) for end in ends[:-2]] + [batch.num_edges]
    num_nodes = np.diff(ends, prepend=0).tolist()
    num_edges = np.diff(edge_ends, prepend=0).tolist()
    missing = max(0, (num_layers or 0) - len(num_edges))
    return num_nodes + [0] * missing, num_edges + [0] * missing


def _with_negative_pairs(
    pairs: Tensor, label: Tensor | None, negatives: NegativeSampling, num_nodes: int
) -> tuple[Tensor, Tensor]:
    """Append random pairs with label 0; pairs without a label have label 1."""
    num_negatives = math.ceil(len(pairs) * negatives.amount)
    drawn = [negatives.sample(num_negatives, endpoint, num_nodes) for endpoint in ("src", "dst")]
    label = torch.ones(len(pairs)) if label is None else label
    zeros = label.new_zeros((num_negatives, *label.shape[1:]))
    return torch.cat((pairs, torch.stack(drawn, dim=1))), torch.cat((label, zeros))


def _is_symmetric(graph: Graph) -> bool:
    receiver = np.repeat(np.arange(graph.num_nodes), np.diff(graph.lists[0]))
    edge_index = torch.from_numpy(np.stack((graph.lists[1].astype(np.int64), receiver)))
    weight = None if graph.edge_weight is None else torch.from_numpy(graph.edge_weight)
    return bool(is_undirected(edge_index, weight, graph.num_nodes))


def _refuse_types_and_times(index: NodeSamplerInput | EdgeSamplerInput) -> None:
    if index.input_type is not None:
        raise ValueError(f"ExtractorSampler: data must be homogeneous, got inputs of type {index.input_type!r}")
    if index.time is not None:
        raise ValueError("ExtractorSampler: time must be None, got timestamps; extractors do not support them")
