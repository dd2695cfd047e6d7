"""ScopeCache: scopes of nodes that are asked for often, dropped as soon as an update can change them.

Not for: scopes on disk (extract/cached.py).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract import FullExtractor, KhopExtractor, NodeExtractor, Subgraphs
from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.graph.changes.update import Update

Ints = NDArray[np.int64]


class ScopeCache:
    """The latest scopes of one extractor by node.

    khop, full and node read only the lists of nodes that end up in the scope: exactly the scopes that hold a node whose
    list has changed are dropped. All other kinds also read lists outside of the scope and, in an undirected graph,
    divide by the number of all edges, so that any update can change the last bits of any score: all are dropped.
    """

    def __init__(self, extractor: Extractor, most: int) -> None:
        """Start empty; most: number of scopes kept."""
        self._local = isinstance(extractor, (KhopExtractor, FullExtractor, NodeExtractor))
        self._most = most
        self._scopes: OrderedDict[int, Subgraphs] = OrderedDict()
        self._holders: defaultdict[int, set[int]] = defaultdict(set)
        self.hits = self.misses = 0

    def __len__(self) -> int:
        return len(self._scopes)

    def get(self, node: int) -> Subgraphs | None:
        """Return the scope of a node, None if it is not there."""
        found = self._scopes.get(node)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._scopes.move_to_end(node)
        return found

    def put(self, node: int, scope: Subgraphs) -> None:
        """Keep a scope; the one that was not asked for longest goes."""
        if self._most == 0:
            return
        self._scopes[node] = _copied(scope)
        if self._local:
            for member in scope.node_id.tolist():
                self._holders[member].add(node)
        while len(self._scopes) > self._most:
            self._forget(next(iter(self._scopes)))

    def drop(self, update: Update | None) -> None:
        """Drop the scopes that an update can change; None: the folder was replaced, and with it positions of edges."""
        if update is None or not self._local:
            self._scopes.clear()
            self._holders.clear()
            return
        changed = np.unique(np.concatenate((update.set_edges.reshape(-1), update.remove_edges.reshape(-1))))
        for node in changed.tolist():
            for holder in list(self._holders.get(node, ())):
                self._forget(holder)

    def _forget(self, node: int) -> None:
        scope = self._scopes.pop(node)
        if self._local:
            for member in scope.node_id.tolist():
                self._holders[member].discard(node)
                if not self._holders[member]:
                    del self._holders[member]


def _copied(scope: Subgraphs) -> Subgraphs:
    """Return a scope with arrays of its own: a part of a batch would keep all of it in memory."""
    arrays = {entry.name: getattr(scope, entry.name) for entry in fields(scope)}
    copies: dict[str, Any] = {name: None if array is None else array.copy() for name, array in arrays.items()}
    return Subgraphs(**copies)
