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
from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.extract.subgraphs import concat
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.serve.scope_cache import ScopeCache
from shadow_gnn.serve.served_run import Outputs, ServedRun
from shadow_gnn.studies.explain.explanation import Explanation
from shadow_gnn.studies.explain.members import ExplainedMember, explain_members
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
    run_version: str
    """Version of the weights."""


@dataclass(frozen=True)
class Stages:
    """Seconds of the stages of a batch, and its sizes."""

    extract: float
    model: float
    num_targets: int
    num_nodes: int


@dataclass(frozen=True, eq=False)
class Explained:
    """The explanation of one target."""

    explanation: Explanation
    scored: Scored
    """The prediction that is explained."""


class Scorer:
    """A run on a live graph."""

    def __init__(self, run: ServedRun, live: LiveGraph, *, cached: int = 1000) -> None:
        """Keep `cached` scopes of each extractor; members with the same one share its scopes."""
        self.run, self.live = run, live
        keys = [[(extractor, member.scope_seed) for extractor in member.extractors] for member in run.members]
        distinct = list(dict.fromkeys(key for each in keys for key in each))
        self.sources = [_Source(*key, ScopeCache(key[0], cached)) for key in distinct]
        self._source_of = [[distinct.index(key) for key in each] for each in keys]
        live.listeners.append(self._drop)

    def close(self) -> None:
        """Leave the live graph."""
        self.live.listeners.remove(self._drop)

    @property
    def caches(self) -> list[ScopeCache]:
        """The cache of each extractor."""
        return [source.cache for source in self.sources]

    def _drop(self, update: Update | None) -> None:
        for cache in self.caches:
            cache.drop(update)

    def score(self, asks: Sequence[Ask], *, embedding: bool = False) -> tuple[list[Scored | Exception], Stages]:
        """Score the targets of several requests in one batch; a request that is refused has its error."""
        begin = time.monotonic()
        found = self._extract(asks)
        results: list[Scored | Exception] = list(found.errors)
        extracted = time.monotonic()
        if not found.parts:
            return results, Stages(extracted - begin, 0.0, 0, 0)
        outputs = [
            forward(member.trained.model, batches, _device(member), member.trained.config.precision, embedding)
            for member, batches in zip(self.run.members, self._batches(found), strict=True)
        ]
        done = 0
        for part in found.parts:
            rows = slice(done, done + len(part.asked.targets))
            done = rows.stop
            own = [(logits[rows], None if inner is None else inner[rows]) for logits, inner in outputs]
            results[part.number] = self._scored(part, own, found, rows)
        stages = Stages(extracted - begin, time.monotonic() - extracted, done, int(found.sizes.sum()))
        return results, stages

    def explain(self, ask: Ask, wanted: int | str | None) -> Explained:
        """Explain the first target of a request: the contributions of nodes, edges and columns to its answer.

        wanted: the class or label to explain; None for the predicted one.
        """
        found = self._extract([ask], first_only=True)
        if not found.parts:
            raise found.errors[0]
        part, members = found.parts[0], self.run.members
        given = [
            ExplainedMember(member, batches, weight)
            for member, batches, weight in zip(members, self._batches(found), self.run.weights, strict=True)
        ]
        answer: Scored | None = None

        def predict(logits: Sequence[torch.Tensor]) -> Predictions:
            nonlocal answer
            answer = self._scored(part, [(part_logits, None) for part_logits in logits], found, slice(0, 1))
            return answer.predictions

        explanation = explain_members(given, predict, wanted=wanted, graph=found.graph)
        assert answer is not None
        return Explained(explanation, answer)

    def _scored(self, part: _Part, outputs: Outputs, found: _Extracted, rows: slice) -> Scored:
        targets = part.asked.targets[: rows.stop - rows.start]
        given = targets if self.run.first.is_links else targets[:, 0]
        predictions = self.run.predictions(given, outputs)
        return Scored(predictions, found.sizes[rows], found.first_new, found.version, self.run.version)

    def _extract(self, asks: Sequence[Ask], *, first_only: bool = False) -> _Extracted:
        """Find the targets of requests and their scopes in the graph as it is."""
        errors = [ValueError("score: not asked")] * len(asks)
        parts: list[_Part] = []
        with self.live.lock:
            version, first_new = self.live.version, self.live.graph.num_nodes
            place = _Place(self.live)
            for number, ask in enumerate(asks):
                try:
                    asked = ask(self.live)
                    layer = self._layer(asked)
                    parts.append(
                        _Part(number, replace(asked, targets=asked.targets[:1]) if first_only else asked, layer)
                    )
                except ValueError as error:
                    errors[number] = error
            scopes = [self._scopes(source, parts, place) for source in self.sources] if parts else []
            graph = place.graph
        sizes = np.zeros(sum(len(part.asked.targets) for part in parts), np.int64)
        for found in scopes:
            sizes += np.diff(found.ptr)
        return _Extracted(parts, errors, scopes, sizes, graph, first_new, version)

    def _layer(self, asked: Asked) -> ChangedGraph | None:
        if asked.new is None:
            return None
        asked.new.check(self.live.graph, "predict")
        layer = ChangedGraph(self.live.stored, under=self.live.graph)
        asked.new.apply(layer)
        return layer

    def _scopes(self, source: _Source, parts: Sequence[_Part], place: _Place) -> Subgraphs:
        """Return the scopes of all parts, in their order, with ids as in the graph that they are looked up in."""
        found: list[Subgraphs] = []
        waiting: list[_Part] = []

        def extract_waiting() -> None:
            if waiting:
                found.append(self._known(source, np.concatenate([part.asked.targets for part in waiting])))
                waiting.clear()

        for part in parts:
            if part.layer is None:
                waiting.append(part)
                continue
            extract_waiting()
            scopes = source.extractor(part.layer, part.asked.targets, seed=source.seed)
            found.append(place.moved(part, scopes))
        extract_waiting()
        return concat(found)

    def _known(self, source: _Source, targets: Ints) -> Subgraphs:
        """Return the scopes of targets of the graph, from the cache as far as it has them."""
        extractor, cache = source.extractor, source.cache
        if targets.shape[1] != 1:
            return extractor(self.live.graph, targets, seed=source.seed)
        nodes = targets[:, 0].tolist()
        kept = {node: scope for node in set(nodes) if (scope := cache.get(node)) is not None}
        missing = np.array([node for node in dict.fromkeys(nodes) if node not in kept], np.int64)
        if len(missing):
            fresh = extractor(self.live.graph, missing, seed=source.seed)
            if not kept and len(missing) == len(nodes):
                for node, scope in zip(missing.tolist(), fresh, strict=True):
                    cache.put(node, scope)
                return fresh
            for node, scope in zip(missing.tolist(), fresh, strict=True):
                kept[node] = scope
                cache.put(node, scope)
        return concat([kept[node] for node in nodes])

    def _batches(self, found: _Extracted) -> list[tuple[Batch, ...]]:
        """Return the batch of each branch of each member."""
        return [
            tuple(_batch(member, branch, found.graph, found.scopes[source]) for branch, source in enumerate(sources))
            for member, sources in zip(self.run.members, self._source_of, strict=True)
        ]


def _batch(member: Predictor, branch: int, graph: ChangedGraph, scopes: Subgraphs) -> Batch:
    layout, inputs = member.trained.model.layouts[branch], member.inputs
    batch = collate(graph, scopes, order=layout.order, features=inputs is None, edge_arrays=layout.edge_arrays)
    if inputs is not None:
        batch = replace(inputs, graph=graph)(batch)
    device = _device(member)
    return batch if device == torch.device("cpu") else batch.to(device)


def _device(member: Predictor) -> torch.device:
    return next(member.trained.model.parameters()).device


@dataclass(frozen=True, eq=False)
class _Source:
    """Scopes that one or several branches read."""

    extractor: Extractor
    seed: int
    cache: ScopeCache


@dataclass(frozen=True, eq=False)
class _Extracted:
    """Requests of a batch with their scopes."""

    parts: list[_Part]
    """Requests that were not refused."""
    errors: list[ValueError]
    """For each request, why it was refused, if it was."""
    scopes: list[Subgraphs]
    """Of all targets, for each source."""
    sizes: Ints
    """Nodes of all scopes of each target."""
    graph: ChangedGraph
    """Where to look up features."""
    first_new: int
    version: int


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
