"""FileExtractor: scopes from the nodes in a scope file.

Not for: the file itself (scope_file.py), or nodes in arrays (induce.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.induce import induce
from shadow_gnn.extract.kinds.node import NodeExtractor
from shadow_gnn.extract.kinds.ppr import PprExtractor
from shadow_gnn.extract.options import NamesPath, Topk
from shadow_gnn.extract.scope_file import ScopeFile, ScopeNodes, read_scope_file
from shadow_gnn.extract.subgraphs import Subgraphs, concat, offsets, select
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class FileExtractor(BaseExtractor):
    """The best-scored nodes that a scope file has for the target, if a path joins them to it.

    Several targets in a row share one scope: the score of a node is the mean of those it has for each of them. A node
    with no path to a target inside the scope gives way to the next in rank. The file is opened when first needed.
    For pairs, hide before and after are the same here.

    >>> chosen = extract.sorted_nodes(scopes.targets[:, 0], scopes.ptr, scopes.node_id, scopes.score)
    >>> origin = extract.Origin(graph.num_nodes, graph.fingerprint, "example")
    >>> extract.write_scope_file("chosen.scopes", [chosen], origin)
    >>> sorted(extract.FileExtractor("chosen.scopes", topk=3)(graph, [7])[0].node_id.tolist())
    [6, 7, 8]
    """

    kind = "file"

    path: Annotated[str | Path, NamesPath()]
    """The scope file, such as one of `shadow learn-scope`."""
    topk: Topk = 200
    missing: Literal["error", "node", "ppr"] = "error"
    """Scope of a target that is not in the file: a fault, the target alone, or the topk nodes of PPR."""
    other_graph: bool = False
    """Allow a graph with other edges than the file was made for, such as an inductive training graph."""

    @cached_property
    def _file(self) -> ScopeFile:
        return read_scope_file(self.path)

    def __getstate__(self) -> dict[str, object]:
        """Drop the mapped file: another process opens its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_file"}

    @property
    def key(self) -> str:
        """Everything that decides a scope; the file is identified by its content, not by its path."""
        return self._key_with(path=self._file.checksum)

    def choose(self, graph: Graph, targets: Ints, seed: int) -> Subgraphs:
        """Take the nodes that the file has."""
        self._check_graph(graph)
        rows = self._file.find(targets)
        absent = (rows < 0).any(axis=1)
        if not absent.any():
            return self._stored(graph, targets, rows)
        parts = [self._stored(graph, targets[~absent], rows[~absent])] if not absent.all() else []
        parts.append(self._fallback(targets, rows)(graph, targets[absent]))
        return select(concat(parts), np.argsort(np.argsort(absent, kind="stable"), kind="stable"))

    def _check_graph(self, graph: Graph) -> None:
        origin = self._file.origin
        if graph.num_nodes != origin.num_nodes:
            raise ValueError(
                f"FileExtractor: graph must have {origin.num_nodes} nodes, as that of {self.path}, "
                f"got {graph.num_nodes}"
            )
        if not self.other_graph and graph.fingerprint != origin.fingerprint:
            raise ValueError(
                f"FileExtractor: graph must be the one that {self.path} was made for, its edges differ; "
                "other_graph = true allows it"
            )

    def _fallback(self, groups: Ints, rows: Ints) -> BaseExtractor:
        """Return the extractor of targets that are not in the file."""
        if self.missing == "error":
            first = groups[rows < 0][0]
            raise ValueError(
                f"FileExtractor: targets must be in {self.path}, got node {first}; "
                'make the file for all nodes, or set missing to "node" or "ppr"'
            )
        if self.missing == "node":
            return NodeExtractor(**self.common)
        return PprExtractor(self.topk, **self.common)

    def _stored(self, graph: Graph, groups: Ints, rows: Ints) -> Subgraphs:
        """Induce the scopes of targets whose rows in the file are known. [B, T] each"""
        is_new = _first_seen(groups)
        offers = self._file.take(rows[is_new])
        if groups.shape[1] > 1:
            offers = _joined(offers, np.nonzero(is_new)[0], is_new.sum(axis=1))
        return induce(graph, groups, offers.ptr, offers.node_id, offers.score, topk=self.topk, **self.common)


def _first_seen(groups: Ints) -> NDArray[np.bool_]:
    """Tell which targets of each group are the first of their kind in it. [B, T]"""
    columns = [~(groups[:, :column] == groups[:, column : column + 1]).any(axis=1) for column in range(groups.shape[1])]
    return np.stack(columns, axis=1)


def _joined(nodes: ScopeNodes, group: Ints, num_distinct: Ints) -> ScopeNodes:
    """Join the nodes of several targets to one list per group, with mean scores, best first.

    group: of each scope in nodes, ascending; num_distinct [B]: distinct targets of each group.
    """
    owner = np.repeat(group, np.diff(nodes.ptr))
    order = np.lexsort((nodes.node_id, owner))
    owner, node_id = owner[order], nodes.node_id[order]
    begins = np.flatnonzero(np.r_[len(owner) > 0, (np.diff(owner) != 0) | (np.diff(node_id) != 0)][: len(owner)])
    owner, node_id = owner[begins], node_id[begins]
    total = np.add.reduceat(nodes.score[order], begins) if len(begins) else nodes.score
    score = (total / num_distinct[owner]).astype(np.float32)
    order = np.lexsort((node_id, -score, owner))
    ptr = offsets(np.bincount(owner, minlength=len(num_distinct)))
    return ScopeNodes(np.arange(len(num_distinct)), ptr, node_id[order], score[order])
