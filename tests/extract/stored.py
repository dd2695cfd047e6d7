"""StoredScopes: FileExtractor on any graph, from a scope file that is written for it when it is first asked for."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.extract import BaseExtractor, FileExtractor, Subgraphs
from shadow_gnn.extract.options import Topk
from shadow_gnn.extract.scope_file import Origin, ScopeNodes, sorted_nodes, write_scope_file
from shadow_gnn.graph.record import Graph

_FOLDER = tempfile.TemporaryDirectory()
_EMPTY = Graph(np.zeros(2, np.int64), np.zeros(0, np.int32))


@dataclass(frozen=True)
class StoredScopes(BaseExtractor):
    """What FileExtractor gives where every node has ranked all nodes, whatever the edges."""

    kind = "file"

    topk: Topk = 15

    @property
    def key(self) -> str:
        return f"{super().key} {self._extractor(_EMPTY).key}"

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        return self._extractor(graph)(graph, targets, seed=seed)

    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        return self._extractor(graph).choose(graph, targets, seed)

    def _extractor(self, graph: Graph) -> FileExtractor:
        path = Path(_FOLDER.name) / f"{graph.fingerprint}.safetensors"
        if not path.exists():
            write_scope_file(path, [any_nodes(graph)], Origin(graph.num_nodes, graph.fingerprint, "numbers"))
        return FileExtractor(path, topk=self.topk, edge_pos=self.edge_pos, hide=self.hide, num_threads=self.num_threads)


def any_nodes(graph: Graph) -> ScopeNodes:
    """Rank all nodes, or 64 of many, for every node by numbers that know nothing of the edges."""
    count = graph.num_nodes
    width = min(count, 64)
    target, place = np.divmod(np.arange(count * width), width)
    node = place if count == width else (target * 7 + place * 37) % count  # 37 divides the size of no graph here.
    score = ((target * 7919 + node * 104729) % 1009 + 1).astype(np.float32) / 1009
    return sorted_nodes(np.arange(count), np.arange(count + 1) * width, node, score)
