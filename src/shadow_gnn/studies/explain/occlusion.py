"""Occlusion: the exact effect of each node, edge and column: the scope without it, predicted again.

Not for: many targets in little time (gradients.py); a scope of n nodes and m edges costs n + m predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.contributions import Parts
from shadow_gnn.studies.explain.copies import copies_of, copies_without, single_scopes
from shadow_gnn.studies.explain.line import baseline
from shadow_gnn.studies.explain.saliency import frozen

_BLOCK_NODES = 1 << 16
_BLOCK_NUMBERS = 1 << 24

Scope = Sequence[Batch]
"""The scope of one target in each branch."""


def occlusion_parts(model: ShadowGNN, batches: Sequence[Batch], answer: Answer, *, directed: bool = False) -> Parts:
    """Return the answer minus that without each part; all versions of a scope of 200 nodes run as one batch.

    A node goes with all its edges, from every branch; of a target, the messages that it sends go. The two directions of
    an edge of an undirected graph go together, and each has half of the effect. A column is set to its mean in all
    nodes. Other nodes keep their inputs, hops and scores.
    """
    scopes = list(zip(*(single_scopes(batch) for batch in batches), strict=True))
    edges = [batch.indices.new_zeros(batch.num_edges, dtype=torch.float64) for batch in batches]
    nodes = [batch.indices.new_zeros(batch.num_nodes, dtype=torch.float64) for batch in batches]
    columns: list[Tensor] = []
    with frozen(model), torch.no_grad():
        for number, scope in enumerate(scopes):
            occluded = _Occluded(model, scope, answer.row(number))
            node, edge = occluded.nodes(), occluded.edges(directed)
            for branch, batch in enumerate(batches):
                nodes[branch][batch.subgraph == number] = node[branch]
                edges[branch][batch.subgraph[batch.edge_index()[1]] == number] = edge[branch]
            if batches[0].x is not None:
                columns.append(occluded.columns())
    return Parts(tuple(edges), tuple(nodes), torch.stack(columns) if columns else None)


class _Occluded:
    """The effects of the parts of one target's scope."""

    def __init__(self, model: ShadowGNN, scope: Scope, answer: Answer) -> None:
        self._model, self._scope, self._answer = model, scope, answer
        self._ids = torch.unique(torch.cat([batch.node_id for batch in scope]))
        self._whole = self._answers(scope, 1)[0]
        width = 1 if scope[0].x is None else scope[0].x.shape[1]
        size = sum(batch.num_nodes for batch in scope)
        self._block = max(1, min(_BLOCK_NODES, _BLOCK_NUMBERS // width) // max(1, size))

    def nodes(self) -> list[Tensor]:
        """Return the effect of each node. [N] for each branch"""
        targets = self._scope[0].targets[0]

        def versions(some: Tensor) -> list[Batch]:
            made = []
            for batch in self._scope:
                gone = batch.node_id[None] == some[:, None]  # [K, N]
                stays = ~gone | torch.isin(batch.node_id, targets)[None]
                made.append(copies_without(batch, stays, ~gone[:, batch.indices]))
            return made

        effect = self._effects(self._ids, versions)
        return [effect[torch.searchsorted(self._ids, batch.node_id)] for batch in self._scope]

    def edges(self, directed: bool) -> list[Tensor]:
        """Return the effect of each edge. [E] for each branch"""
        keys = [_edge_keys(batch, self._ids, directed) for batch in self._scope]
        ids, count = torch.unique(torch.cat(keys), return_counts=True)

        def versions(some: Tensor) -> list[Batch]:
            made = []
            for batch, key in zip(self._scope, keys, strict=True):
                every = torch.ones(len(some), batch.num_nodes, dtype=torch.bool, device=key.device)
                made.append(copies_without(batch, every, key[None] != some[:, None]))
            return made

        share = self._effects(ids, versions) / count
        return [share[torch.searchsorted(ids, key)] for key in keys]

    def columns(self) -> Tensor:
        """Return the effect of each column; columns that are at their means everywhere have none. [F]"""
        means = [baseline(self._model, batch) for batch in self._scope]
        inputs = [batch.x for batch in self._scope if batch.x is not None]
        apart = [(x != mean).any(dim=0) for x, mean in zip(inputs, means, strict=True)]
        differs = torch.stack(apart).any(dim=0)

        def versions(some: Tensor) -> list[Batch]:
            made = []
            for batch, mean in zip(self._scope, means, strict=True):
                copies = copies_of(batch, len(some))
                assert copies.x is not None
                x, column = copies.x.clone(), some[copies.subgraph]
                x[torch.arange(len(x), device=x.device), column] = mean[column]
                made.append(replace(copies, x=x))
            return made

        effect = torch.zeros(len(differs), dtype=torch.float64, device=differs.device)
        effect[differs] = self._effects(differs.nonzero()[:, 0], versions)
        return effect

    def _effects(self, parts: Tensor, versions: Callable[[Tensor], list[Batch]]) -> Tensor:
        """Return the answer minus that of each version of the scope, block by block. [K]"""
        found = [
            self._whole - self._answers(versions(some), len(some))
            for some in torch.split(parts, self._block)
            if len(some)
        ]
        return torch.cat(found) if found else self._whole.new_zeros(0)

    def _answers(self, batches: Sequence[Batch], count: int) -> Tensor:
        answers: Tensor = self._answer.row(0, count)(self._model(batches)).double()
        return answers


def _edge_keys(batch: Batch, ids: Tensor, directed: bool) -> Tensor:
    """Return a number for each edge, the same for both directions unless directed; ids: all nodes, ascending. [E]"""
    ends = torch.searchsorted(ids, batch.node_id)[batch.edge_index()]
    if not directed:
        ends = ends.sort(dim=0).values
    key: Tensor = ends[0] * len(ids) + ends[1]
    return key
