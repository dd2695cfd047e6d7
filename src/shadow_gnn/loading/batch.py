"""Batch: scopes joined to one graph of tensors, with features and labels.

Not for: choosing scopes (extract) or the order of targets (loader.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shadow_gnn.base.short_repr import as_html, as_line
from shadow_gnn.extract.gather import Joined, array_rows, collate_scopes, feature_rows
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

Order = Literal["hop", "subgraph"]
EdgeArray = Literal["id", "weight", "attr"]


@dataclass(frozen=True)
class BatchLayout:
    """How a batch must be laid out for its reader."""

    order: Order = "hop"
    """The fastest order of rows for the reader; the other one works too."""
    edge_arrays: tuple[EdgeArray, ...] = ()
    """Edge arrays that the batch must hold."""


class BatchReader(Protocol):
    """A model, or one branch of it, as a loader sees it."""

    @property
    def layouts(self) -> tuple[BatchLayout, ...]:
        """The layout of each branch's batches."""
        ...


def layout_for(
    owner: str, model: BatchReader | None, order: Order | None, edge_arrays: Sequence[EdgeArray]
) -> BatchLayout:
    """Return a model's layout, with another order or more edge arrays if given; hop order by default."""
    layout = BatchLayout()
    if model is not None:
        if len(model.layouts) != 1:
            raise ValueError(
                f"{owner}: model must have one branch, got {len(model.layouts)}; "
                "make one for each branch, with model=model.branches[0] and so on"
            )
        (layout,) = model.layouts
    if isinstance(edge_arrays, str):
        raise ValueError(f"{owner}: edge_arrays must be a sequence of 'id', 'weight' and 'attr', got {edge_arrays!r}")
    more = [name for name in edge_arrays if name not in layout.edge_arrays]
    return BatchLayout(order or layout.order, (*layout.edge_arrays, *more))


@dataclass(frozen=True, eq=False)
class Batch:
    """B scopes with T targets each as one graph of N nodes and E edges; no edge joins two scopes.

    A joined batch is one graph that all targets share, for normal GNNs: subgraph is 0 everywhere, rows are in hop order
    from the nearest target, and rows of the last hop may be empty where nothing reads them.

    >>> batch
    Batch(scopes: 2; nodes: 12; edges: 36; order: hop; features: 2; labels: 2; device: cpu)
    >>> batch.node_id[batch.target_node[:, 0]]
    tensor([0, 7])
    >>> batch.to_pyg().num_graphs
    2
    """

    targets: Tensor
    """[B, T] node ids; T is 1 for nodes, 2 for pairs."""
    target_row: Tensor
    """[B], the row of the loader's targets that each scope is of."""
    target_node: Tensor
    """[B, T], the row of each target in this batch; both ends of a pair of a node with itself share one."""
    node_id: Tensor
    """[N], ids in the whole graph."""
    hop: Tensor
    """[N], distance to the nearest target inside the scope, against message direction."""
    score: Tensor
    """[N], importance by the extractor's metric, larger is better."""
    subgraph: Tensor
    """[N], the scope of each node, 0 to B - 1."""
    indptr: Tensor
    """[N + 1], where each node's row begins in indices."""
    indices: Tensor
    """[E], senders of messages to each node as rows of this batch, ascending in each row."""
    order: Order
    """hop: all targets first, scope by scope, then all 1-hop nodes, ...; subgraph: scope after scope."""
    hop_ptr: tuple[int, ...] | None
    """Number of nodes within h hops, so that those are the rows up to hop_ptr[h]; None in subgraph order."""
    ptr: Tensor | None
    """[B + 1], scope b has the rows ptr[b] to ptr[b + 1]; None in hop order."""
    x: Tensor | None = None
    """[N, F] float32 features, or None."""
    y: Tensor | None = None
    """[B] or [B, C] labels of the targets; None for pairs or a graph without labels."""
    edge_id: Tensor | None = None
    """[E], the row of the source's edge list, or of the graph's indices where it kept none; None if not asked for."""
    edge_weight: Tensor | None = None
    """[E] float32, or None if not asked for."""
    edge_attr: Tensor | None = None
    """[E, D] float32, or None if not asked for."""
    degree: Tensor | None = None
    """[N] float32, the degrees that weights are divided by, sums of weights in a weighted graph: those of the
    graph, which may be larger than the batch. None: the degrees inside the batch."""
    edge_scale: Tensor | None = None
    """[E] float32, factor of each edge after the division, to make sums over drawn edges unbiased; None: all 1."""
    edge_mask: Tensor | None = None
    """[E], factor of each message in every layer, for saliency by its gradient; None: all 1."""
    target_weight: Tensor | None = None
    """[B] float32, factor of each target's loss; None: all 1."""
    filler: bool = False
    """Placeholder for a process without targets in this step; its loss does not count."""

    def __repr__(self) -> str:
        return as_line("Batch", self._facts())

    def _repr_html_(self) -> str:
        return as_html("Batch", self._facts())

    def _facts(self) -> dict[str, str]:
        """Return sizes, order, arrays and device."""
        facts = {
            "scopes": f"{len(self):,}" + (" of pairs" if self.targets.shape[1] == 2 else ""),
            "nodes": f"{self.num_nodes:,}",
            "edges": f"{self.num_edges:,}",
            "order": self.order,
            "features": "none" if self.x is None else f"{self.x.shape[1]:,}",
            "labels": "none" if self.y is None else "x".join(map(str, self.y.shape)),
        }
        arrays = [name for name in ("edge_id", "edge_weight", "edge_attr") if getattr(self, name) is not None]
        if arrays:
            facts["edge arrays"] = ", ".join(arrays)
        return {**facts, "device": str(self.node_id.device)}

    def __len__(self) -> int:
        """Return the number of scopes B."""
        return len(self.targets)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N of all scopes together."""
        return len(self.node_id)

    @property
    def num_edges(self) -> int:
        """Number of edges E of all scopes together."""
        return len(self.indices)

    @property
    def joined(self) -> bool:
        """Whether all targets share one graph, as for normal GNNs."""
        return len(self) > 1 and not bool(self.subgraph.any())

    def num_within(self, num_hops: int) -> int:
        """Return how many rows, from the first, are within num_hops of their targets; needs hop order."""
        if self.hop_ptr is None:
            raise ValueError("Batch: order must be 'hop' to count rows by hop, got 'subgraph'")
        return self.hop_ptr[min(num_hops, len(self.hop_ptr) - 1)]

    def edge_index(self) -> Tensor:
        """Return the edges as [2, E]: senders above, receivers below, sorted by receiver."""
        return torch.stack((self.indices, _owner(self.indptr, self.num_edges)))

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> Batch:
        """Return the batch with all tensors on `device`."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Batch:
        """Return the batch in page-locked memory, for asynchronous copies to an accelerator."""
        return self._each(lambda tensor: tensor.pin_memory())

    def in_subgraph_order(self) -> Batch:
        """Return the same scopes one after the other; a joined batch has none."""
        if self.order == "subgraph":
            return self
        if self.joined:
            raise ValueError("Batch: targets must have scopes of their own for subgraph order, got a joined batch")
        source = torch.argsort(self.subgraph, stable=True)
        place = torch.empty_like(source)
        place[source] = torch.arange(self.num_nodes, device=source.device)
        indptr = _offsets(self.indptr.diff()[source])
        row = _owner(indptr, self.num_edges)
        edge = self.indptr[source[row]] + torch.arange(self.num_edges, device=row.device) - indptr[row]
        moved: dict[str, Any] = {
            name: None if (value := getattr(self, name)) is None else value[index]
            for index, names in ((source, _PER_NODE), (edge, _PER_EDGE))
            for name in names
        }
        return replace(
            self,
            **moved,
            indptr=indptr,
            indices=place[self.indices[edge]],
            target_node=place[self.target_node],
            order="subgraph",
            hop_ptr=None,
            ptr=_offsets(torch.bincount(self.subgraph, minlength=len(self))),
        )

    def to_pyg(self) -> Any:
        """Return a torch_geometric.data.Batch with PyG's own names, in subgraph order.

        root_n_id is the row of each target, [B] or [B, 2]; y is of the targets; hop and score are per node.
        """
        batch = self.in_subgraph_order()
        assert batch.ptr is not None
        scopes = torch.arange(len(batch) + 1)
        single = batch.targets.shape[1] == 1
        per_scope = {
            "y": batch.y,
            "input_id": batch.target_row,
            "root_n_id": batch.target_node[:, 0] if single else batch.target_node,
        }
        per_node = {"x": batch.x, "n_id": batch.node_id, "hop": batch.hop, "score": batch.score}
        per_edge = {
            "edge_index": batch.edge_index(),
            "e_id": batch.edge_id,
            "edge_weight": batch.edge_weight,
            "edge_attr": batch.edge_attr,
        }
        ptr = batch.ptr.cpu()
        return _pyg_batch(
            {**per_node, **per_edge, **per_scope, "batch": batch.subgraph, "ptr": batch.ptr},
            slices={
                **dict.fromkeys(per_node, ptr),
                **dict.fromkeys(per_edge, batch.indptr.cpu()[ptr]),
                **dict.fromkeys(per_scope, scopes),
            },
            first=ptr[:-1],
        )

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        changed: dict[str, Any] = {name: change(value) for name, value in values.items() if isinstance(value, Tensor)}
        return replace(self, **changed)


_PER_NODE = ("node_id", "hop", "score", "subgraph", "x", "degree")
_PER_EDGE = ("edge_id", "edge_weight", "edge_attr", "edge_scale", "edge_mask")


def collate(
    graph: Graph,
    subgraphs: Subgraphs,
    *,
    model: BatchReader | None = None,
    order: Order | None = None,
    features: bool = True,
    edge_arrays: Sequence[EdgeArray] = (),
    edge_graph: Graph | None = None,
    target_row: NDArray[np.int64] | None = None,
) -> Batch:
    """Join scopes to a Batch and look up their features, labels and edge arrays.

    model: the model, or branch, that will read the batch; it sets the order of rows and the edge arrays. order,
    edge_arrays: another order, and more edge arrays. edge_graph: the graph of the scopes' edges, if it is not `graph`.
    target_row [B]: the rows of these targets in a longer list.

    >>> batch = sg.collate(graph, extract.PprExtractor(topk=6)(graph, [0, 7]))
    >>> batch.num_nodes, batch.x.shape
    (12, torch.Size([12, 2]))
    """
    edge_graph, layout = graph if edge_graph is None else edge_graph, layout_for("collate", model, order, edge_arrays)
    check_layout("collate", edge_graph, layout)
    order, edge_arrays = layout.order, layout.edge_arrays
    if edge_arrays and subgraphs.edge_pos is None:
        raise ValueError("collate: subgraphs must hold edge positions, got none; make the extractor with edge_pos=True")
    joined = collate_scopes(subgraphs, by_hop=order == "hop")
    node_id = subgraphs.node_id[joined.source]
    single = subgraphs.targets.shape[1] == 1
    return Batch(
        targets=torch.from_numpy(subgraphs.targets.copy()),
        target_row=torch.arange(len(subgraphs)) if target_row is None else torch.from_numpy(target_row.copy()),
        target_node=torch.from_numpy(_target_nodes(subgraphs, joined)),
        node_id=torch.from_numpy(node_id),
        hop=torch.from_numpy(subgraphs.hop[joined.source].astype(np.int64)),
        score=torch.from_numpy(subgraphs.score[joined.source]),
        subgraph=torch.from_numpy(joined.subgraph),
        indptr=torch.from_numpy(joined.indptr),
        indices=torch.from_numpy(joined.indices),
        order=order,
        hop_ptr=tuple(joined.hop_ptr.tolist()) if order == "hop" else None,
        ptr=torch.from_numpy(subgraphs.ptr.copy()) if order == "subgraph" else None,
        x=tensor_of(feature_rows(graph, node_id)) if features else None,
        y=tensor_of(array_rows(graph, "y", np.ascontiguousarray(subgraphs.targets[:, 0]))) if single else None,
        **_scope_edge_arrays(edge_graph, subgraphs, joined, edge_arrays),
    )


def check_layout(owner: str, graph: Graph, layout: BatchLayout) -> None:
    """Raise unless the order is known and the graph has the edge arrays."""
    if layout.order not in ("hop", "subgraph"):
        raise ValueError(f"{owner}: order must be 'hop' or 'subgraph', got {layout.order!r}")
    arrays = {"id": True, "weight": graph.edge_weight is not None, "attr": graph.edge_attr is not None}
    for name in layout.edge_arrays:
        if name not in arrays:
            raise ValueError(f"{owner}: edge_arrays must be a sequence of 'id', 'weight' and 'attr', got {name!r}")
        if not arrays[name]:
            raise ValueError(f"{owner}: edge_arrays must be arrays of the graph, got {name!r}; it has no edge_{name}")


def _target_nodes(subgraphs: Subgraphs, joined: Joined) -> NDArray[np.int64]:
    """Find the row of each target: a scope begins with its distinct targets in the given order."""
    targets = subgraphs.targets
    rank = np.zeros(targets.shape, dtype=np.int64)
    num_distinct = np.ones(len(targets), dtype=np.int64)
    for column in range(1, targets.shape[1]):
        same = targets[:, :column] == targets[:, column : column + 1]
        seen = same.any(axis=1)
        rank[:, column] = np.where(seen, rank[np.arange(len(targets)), same.argmax(axis=1)], num_distinct)
        num_distinct += ~seen
    position = subgraphs.ptr[:-1, None] + rank
    if (position >= len(subgraphs.node_id)).any() or (subgraphs.node_id[position] != targets).any():
        raise ValueError("collate: subgraphs must begin with their targets, one of them does not")
    nodes: NDArray[np.int64] = joined.place[position]
    return nodes


def _scope_edge_arrays(
    graph: Graph, subgraphs: Subgraphs, joined: Joined, names: Sequence[EdgeArray]
) -> dict[str, Any]:
    if not names:
        return {}
    assert subgraphs.edge_pos is not None
    return look_up_edge_arrays(graph, subgraphs.edge_pos[joined.edge_source], names)


def look_up_edge_arrays(graph: Graph, position: NDArray[np.int64], names: Sequence[EdgeArray]) -> dict[str, Any]:
    """Return edge arrays by name, as fields of a Batch; position [E]: of each edge in the graph."""
    found: dict[str, Tensor | None] = {}
    if "id" in names:
        found["edge_id"] = tensor_of(position if graph.edge_id is None else array_rows(graph, "edge_id", position))
    if "weight" in names:
        found["edge_weight"] = tensor_of(array_rows(graph, "edge_weight", position))
    if "attr" in names:
        found["edge_attr"] = tensor_of(array_rows(graph, "edge_attr", position))
    return found


def tensor_of(array: NDArray[Any] | None) -> Tensor | None:
    """Return an array as a tensor; None stays None."""
    return None if array is None else torch.from_numpy(array)


def _offsets(sizes: Tensor) -> Tensor:
    """Return where each of consecutive ranges of these sizes begins, and where the last one ends."""
    return torch.cat((sizes.new_zeros(1), sizes.cumsum(0)))


def _owner(indptr: Tensor, num_edges: int) -> Tensor:
    """Return the row that each edge of a CSR belongs to."""
    return torch.repeat_interleave(indptr.diff(), output_size=num_edges)


def _pyg_batch(values: dict[str, Tensor | None], slices: dict[str, Tensor], first: Tensor) -> Any:
    """Fill a PyG Batch as its from_data_list does, so that PyG can separate the examples again.

    slices: where each scope begins in every value; first [B]: the first row of each scope.
    """
    from torch_geometric.data import Batch as PygBatch

    present = {name: value for name, value in values.items() if value is not None}
    batch = PygBatch(**present)
    batch._num_graphs = len(first)
    batch._slice_dict = {name: part for name, part in slices.items() if name in present}
    rows = ("edge_index", "root_n_id")
    batch._inc_dict = {name: first if name in rows else torch.zeros_like(first) for name in batch._slice_dict}
    return batch
