"""Scoring: scopes and outputs of the model for several requests at once, each as if it were alone.

Not for: queues (waiting.py), or the words of an answer (answers.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.extract import Subgraphs
from shadow_gnn.extract.subgraphs import concat
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.serve.scope_cache import ScopeCache
from shadow_gnn.training.evaluate import forward

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Asked:
    """Targets of one request, with the new nodes that only this request sees."""

    targets: Ints
    """[k, T] ids; new nodes have those after the graph's."""
    new: Update | None = None
    """The new nodes and their edges."""


Ask = Callable[[LiveGraph], Asked]
"""Finds the targets of a request in the graph as it is; a ValueError refuses the request."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Outputs for one request."""

    predictions: Predictions
    num_nodes: Ints
    """[k], nodes looked at: those of the scopes of all branches."""
    first_new: int
    """Ids from here on are of new nodes."""
    version: int
    """Version of the graph."""


@dataclass(frozen=True)
class Stages:
    """Seconds of the stages of a batch, and its sizes."""

    extract: float
    model: float
    num_targets: int
    num_nodes: int


class Scorer:
    """A model on a live graph."""

    def __init__(self, predictor: Predictor, live: LiveGraph, *, cached: int = 1000) -> None:
        """Keep `cached` scopes of each branch."""
        self.predictor, self.live = predictor, live
        self.caches = [ScopeCache(extractor, cached) for extractor in predictor.extractors]
        self._seed = predictor.scope_seed
        live.listeners.append(self._drop)

    def _drop(self, update: Update) -> None:
        for cache in self.caches:
            cache.drop(update)

    def score(self, asks: Sequence[Ask], *, embedding: bool = False) -> tuple[list[Scored | Exception], Stages]:
        """Score the targets of several requests in one batch; a request that is refused has its error."""
        begin = time.monotonic()
        results: list[Scored | Exception] = [ValueError("score: not asked")] * len(asks)
        parts: list[_Part] = []
        with self.live.lock:
            version, first_new = self.live.version, self.live.graph.num_nodes
            place = _Place(self.live)
            for number, ask in enumerate(asks):
                try:
                    asked = ask(self.live)
                    parts.append(_Part(number, asked, self._layer(asked)))
                except ValueError as error:
                    results[number] = error
            if not parts:
                return results, Stages(time.monotonic() - begin, 0.0, 0, 0)
            scopes = [self._scopes(branch, parts, place) for branch in range(len(self.predictor.extractors))]
            look_up = place.graph
        extracted = time.monotonic()
        batches = tuple(self._batch(branch, look_up, found) for branch, found in enumerate(scopes))
        trained = self.predictor.trained
        device = next(trained.model.parameters()).device
        logits, embedded = forward(trained.model, batches, device, trained.config.precision, embedding)
        sizes = np.sum([np.diff(found.ptr) for found in scopes], axis=0)
        done = 0
        for part in parts:
            rows = slice(done, done + len(part.asked.targets))
            done = rows.stop
            targets = part.asked.targets if self.predictor.is_links else part.asked.targets[:, 0]
            found = self.predictor.predictions(targets, logits[rows], None if embedded is None else embedded[rows])
            results[part.number] = Scored(found, sizes[rows], first_new, version)
        stages = Stages(extracted - begin, time.monotonic() - extracted, done, int(sizes.sum()))
        return results, stages

    def _layer(self, asked: Asked) -> ChangedGraph | None:
        if asked.new is None:
            return None
        asked.new.check(self.live.graph, "predict")
        layer = ChangedGraph(self.live.stored, under=self.live.graph)
        asked.new.apply(layer)
        return layer

    def _scopes(self, branch: int, parts: Sequence[_Part], place: _Place) -> Subgraphs:
        """Return the scopes of all parts, in their order, with ids as in the graph that they are looked up in."""
        extractor = self.predictor.extractors[branch]
        found: list[Subgraphs] = []
        waiting: list[_Part] = []

        def extract_waiting() -> None:
            if waiting:
                found.append(self._known(branch, np.concatenate([part.asked.targets for part in waiting])))
                waiting.clear()

        for part in parts:
            if part.layer is None:
                waiting.append(part)
                continue
            extract_waiting()
            scopes = extractor(part.layer, part.asked.targets, seed=self._seed)
            found.append(place.moved(part, scopes))
        extract_waiting()
        return concat(found)

    def _known(self, branch: int, targets: Ints) -> Subgraphs:
        """Return the scopes of targets of the graph, from the cache as far as it has them."""
        extractor, cache = self.predictor.extractors[branch], self.caches[branch]
        if targets.shape[1] != 1:
            return extractor(self.live.graph, targets, seed=self._seed)
        nodes = targets[:, 0].tolist()
        kept = {node: scope for node in set(nodes) if (scope := cache.get(node)) is not None}
        missing = np.array([node for node in dict.fromkeys(nodes) if node not in kept], np.int64)
        if len(missing):
            fresh = extractor(self.live.graph, missing, seed=self._seed)
            if not kept and len(missing) == len(nodes):
                for node, scope in zip(missing.tolist(), fresh, strict=True):
                    cache.put(node, scope)
                return fresh
            for node, scope in zip(missing.tolist(), fresh, strict=True):
                kept[node] = scope
                cache.put(node, scope)
        return concat([kept[node] for node in nodes])

    def _batch(self, branch: int, graph: ChangedGraph, scopes: Subgraphs) -> Batch:
        layout, inputs = self.predictor.trained.model.layouts[branch], self.predictor.inputs
        batch = collate(graph, scopes, order=layout.order, features=inputs is None, edge_arrays=layout.edge_arrays)
        if inputs is not None:
            batch = replace(inputs, graph=graph)(batch)
        device = next(self.predictor.trained.model.parameters()).device
        return batch if device == torch.device("cpu") else batch.to(device)


@dataclass(frozen=True, eq=False)
class _Part:
    """A request of a batch."""

    number: int
    asked: Asked
    layer: ChangedGraph | None
    """The graph with the request's new nodes."""


class _Place:
    """A graph to look features up in, where the new nodes of all requests of a batch have ids of their own."""

    def __init__(self, live: LiveGraph) -> None:
        self._live = live
        self.graph = live.graph
        self._shifts: dict[int, tuple[int, int]] = {}

    def moved(self, part: _Part, scopes: Subgraphs) -> Subgraphs:
        """Return the scopes of a request with the ids and edge positions of its new nodes in this graph."""
        layer = part.layer
        assert layer is not None
        if part.number not in self._shifts:
            self._shifts[part.number] = self._add(layer)
        by_nodes, by_edges = self._shifts[part.number]
        first_node, first_edge = self._live.graph.num_nodes, self._live.graph.num_positions
        edge_pos = scopes.edge_pos
        return replace(
            scopes,
            targets=np.where(scopes.targets >= first_node, scopes.targets + by_nodes, scopes.targets),
            node_id=np.where(scopes.node_id >= first_node, scopes.node_id + by_nodes, scopes.node_id),
            edge_pos=None if edge_pos is None else np.where(edge_pos >= first_edge, edge_pos + by_edges, edge_pos),
        )

    def _add(self, layer: ChangedGraph) -> tuple[int, int]:
        """Add the nodes and edge values of a request; return by how much their ids and positions move."""
        live = self._live.graph
        if self.graph is live:  # The first one needs no copy.
            self.graph = layer
            return 0, 0
        if len(self._shifts) == 1:
            first, self.graph = self.graph, ChangedGraph(self._live.stored, under=live)
            self.graph.take_rows(first)
        shift = self.graph.num_nodes - live.num_nodes, self.graph.num_positions - live.num_positions
        self.graph.take_rows(layer)
        return shift
