"""Service: a run on a live graph with its two threads, one that predicts and one that writes updates.

Not for: HTTP (app.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.errors import WriteError
from shadow_gnn.extract import PprExtractor, Seeds
from shadow_gnn.extract.retrieval import retrieve
from shadow_gnn.graph.changes.live_graph import LiveGraph, Made, Wanted, Wish
from shadow_gnn.graph.changes.update import Update
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.serve.answers import prediction_rows, scope_answer
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.metrics import ServiceMetrics
from shadow_gnn.serve.requests import (
    AddNodesBody,
    LinksBody,
    PredictBody,
    RemoveEdgesBody,
    RemoveNodesBody,
    RetrieveBody,
    ScopeBody,
    SetEdgesBody,
)
from shadow_gnn.serve.resolve import (
    UpdateBody,
    digest_of,
    new_nodes_update,
    node_of,
    nodes_of,
    remove_edges_update,
    remove_nodes_update,
    set_edges_update,
)
from shadow_gnn.serve.scoring import Ask, Asked, Scored, Scorer
from shadow_gnn.serve.servable import check_servable
from shadow_gnn.serve.waiting import Job, WaitingWork
from shadow_gnn.tasks.links.pairs import check_pairs

Answer = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Score:
    """A request for predictions; several are answered in one batch."""

    ask: Ask
    embedding: bool = False


@dataclass(frozen=True, eq=False)
class _Call:
    """A request that is answered by itself."""

    answer: Callable[[], Any]


class Service:
    """Everything that answers requests; its methods return futures and are called from the thread of HTTP."""

    def __init__(
        self,
        predictor: Predictor,
        log: Path | None,
        *,
        limits: Limits | None = None,
        note: Callable[[str], None] = lambda _: None,
        cached: int = 1000,
    ) -> None:
        """Check that the run can be served, replay the log and start the threads."""
        check_servable(predictor)
        self.predictor, self.limits = predictor, limits or Limits()
        self.live = LiveGraph(predictor.graph, log, note=note)
        self.scorer = Scorer(predictor, self.live, cached=cached)
        self.metrics = ServiceMetrics()
        self.model_version = predictor.trained.config.weights_blake2b
        most = self.limits.queue
        self._work: WaitingWork[_Score | _Call] = WaitingWork(
            "predict", self._answer, most_waiting=most, most_size=self.limits.batch
        )
        self._updates: WaitingWork[Wish] = WaitingWork("update", self._commit, most_waiting=most, most_size=1000)
        self.ready = True

    def close(self) -> None:
        """Take no more requests, finish those that wait, and close the log."""
        self.ready = False
        self._updates.drain()
        self._work.drain()
        self.live.close()

    def predict(self, body: PredictBody) -> Future[Answer]:
        """Predict known and new nodes."""
        limits, count = self.limits, len(body.nodes) + len(body.new_nodes)
        if self.predictor.is_links:
            raise ValueError("predict: run must be one that predicts nodes, this one predicts links; use /v1/links")
        _check_count("predict", "nodes and new_nodes", count, 1, limits.nodes)
        _check_count("predict", "new_nodes", len(body.new_nodes), 0, limits.new_nodes)
        most = max((len(node.edges) for node in body.new_nodes), default=0)
        _check_count("predict", "edges of a new node", most, 0, limits.node_edges)

        def ask(live: LiveGraph) -> Asked:
            first = live.graph.num_nodes
            known = nodes_of(live, body.nodes)
            new = np.arange(first, first + len(body.new_nodes))
            update = new_nodes_update(live, body.new_nodes, first, needs_names=False) if len(new) else None
            return Asked(np.concatenate((known, new))[:, None], update)

        def answer(scored: Scored) -> Answer:
            rows = prediction_rows(scored, self.live)
            return {"predictions": rows, **self._versions(scored.version)}

        return self._scored(ask, answer, count, embedding=body.embedding)

    def links(self, body: LinksBody) -> Future[Answer]:
        """Score pairs, or recommend new neighbors of a node."""
        if not self.predictor.is_links:
            kind = self.predictor.trained.config.target
            raise ValueError(f"links: run must be one that predicts links, this one predicts {kind}")
        if bool(body.pairs) == (body.recommend is not None):
            raise ValueError("links: request must have pairs or recommend, and not both")
        if body.recommend is not None:
            _check_count("links", "num_candidates", body.num_candidates, 1, self.limits.topk)
            return self._work.submit(_Call(lambda: self._recommend(body)), self.limits.batch)
        _check_count("links", "pairs", len(body.pairs), 1, self.limits.nodes)

        def ask(live: LiveGraph) -> Asked:
            pairs = np.stack([nodes_of(live, pair) for pair in body.pairs])
            return Asked(check_pairs("links", live.graph, pairs))

        def answer(scored: Scored) -> Answer:
            probability = scored.predictions.probability
            assert probability is not None
            return {"probabilities": probability.tolist(), **self._versions(scored.version)}

        return self._scored(ask, answer, len(body.pairs))

    def scope(self, body: ScopeBody) -> Future[Answer]:
        """Show the scope of a node, as the model sees it."""
        if body.branch >= len(self.predictor.extractors):
            raise ValueError(f"scope: branch must be below {len(self.predictor.extractors)}, got {body.branch}")

        def answer() -> Answer:
            with self.live.lock:
                node = node_of(self.live, body.node)
                extractor = self.predictor.extractors[body.branch].with_common(hide="none", edge_pos=False)
                scope = extractor(self.live.graph, [node], seed=self.predictor.scope_seed)
                return {**scope_answer(scope, self.live), **self._versions(self.live.version)}

        return self._work.submit(_Call(answer))

    def retrieve(self, body: RetrieveBody) -> Future[Answer]:
        """Return the best nodes around weighted seeds and the edges between them."""
        _check_count("retrieve", "seeds", len(body.seeds), 1, self.limits.nodes)
        _check_count("retrieve", "topk", body.topk, 1, self.limits.topk)

        def answer() -> Answer:
            with self.live.lock:
                nodes = nodes_of(self.live, [seed.node for seed in body.seeds])
                seeds = Seeds(nodes, [seed.weight for seed in body.seeds])
                extractor = PprExtractor(topk=body.topk, teleport=body.teleport)
                found = retrieve(self.live.graph, seeds, extractor)
                names = self.live.graph.node_name
                versions = self._versions(self.live.version)
                if body.format == "text":
                    return {"text": "\n".join(found.lines(names, body.relation)), **versions}
                return {"nodes": found.rows(names), "edges": found.edges.tolist(), **versions}

        return self._work.submit(_Call(answer))

    def set_edges(self, body: SetEdgesBody) -> Future[Made]:
        """Add or change edges."""
        _check_count("edges", "edges", len(body.edges), 1, self.limits.update_edges)
        return self._wanted(body, lambda _: set_edges_update(self.live, body))

    def remove_edges(self, body: RemoveEdgesBody) -> Future[Made]:
        """Remove edges."""
        _check_count("edges", "edges", len(body.edges), 1, self.limits.update_edges)
        return self._wanted(body, lambda _: remove_edges_update(self.live, body))

    def add_nodes(self, body: AddNodesBody) -> Future[Made]:
        """Add nodes with their edges."""
        _check_count("nodes", "nodes", len(body.nodes), 1, self.limits.update_nodes)
        edges = sum(len(node.edges) for node in body.nodes)
        _check_count("nodes", "edges of all nodes", edges, 0, self.limits.update_edges)
        return self._wanted(body, lambda first: new_nodes_update(self.live, body.nodes, first, needs_names=True))

    def remove_nodes(self, body: RemoveNodesBody) -> Future[Made]:
        """Remove nodes with their edges and names."""
        _check_count("nodes", "nodes", len(body.nodes), 1, self.limits.update_nodes)
        return self._wanted(body, lambda _: remove_nodes_update(self.live, body))

    def show_metrics(self) -> bytes:
        """Return the metrics, with those of the graph as it is."""
        metrics, graph = self.metrics, self.live.graph
        metrics.queue.set(len(self._work) + len(self._updates))
        metrics.cache.labels("yes").set(sum(cache.hits for cache in self.scorer.caches))
        metrics.cache.labels("no").set(sum(cache.misses for cache in self.scorer.caches))
        metrics.version.set(self.live.version)
        metrics.nodes.set(graph.num_nodes)
        metrics.edges.set(graph.num_edges)
        metrics.changed.set(graph.changes.num_rows)
        return metrics.text()

    def _wanted(self, body: UpdateBody, make: Callable[[int], Update]) -> Future[Made]:
        return self._updates.submit(Wanted(make, body.key, digest_of(body)))

    def _versions(self, graph_version: int) -> Answer:
        return {"model_version": self.model_version, "graph_version": graph_version}

    def _scored(
        self, ask: Ask, answer: Callable[[Scored], Answer], count: int, *, embedding: bool = False
    ) -> Future[Answer]:
        done: Future[Answer] = Future()
        waiting = self._work.submit(_Score(ask, embedding), count)

        def finish(found: Future[Scored]) -> None:
            if not done.set_running_or_notify_cancel():
                return
            try:
                done.set_result(answer(found.result()))
            except BaseException as error:
                done.set_exception(error)

        waiting.add_done_callback(finish)
        return done

    def _answer(self, jobs: Sequence[Job[_Score | _Call]]) -> None:
        """Answer what waits: all predictions in one batch, everything else by itself."""
        begin = time.monotonic()
        for job in jobs:
            self.metrics.stages.labels("queue").observe(begin - job.begin)
            if isinstance(job.work, _Call):
                _finish(job, job.work.answer)
        for embedding in (False, True):
            scores = [job for job in jobs if isinstance(job.work, _Score) and job.work.embedding == embedding]
            if scores:
                self._score(scores, embedding)

    def _score(self, jobs: Sequence[Job[Any]], embedding: bool) -> None:
        results, stages = self.scorer.score([job.work.ask for job in jobs], embedding=embedding)
        self.metrics.stages.labels("extract").observe(stages.extract)
        if stages.num_targets:
            self.metrics.stages.labels("model").observe(stages.model)
            self.metrics.batch.observe(stages.num_targets)
            self.metrics.scope.observe(stages.num_nodes / stages.num_targets)
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)

    def _recommend(self, body: LinksBody) -> Answer:
        """Score the candidates with the highest PPR that are not linked yet; see inference/recommendations.py."""
        assert body.recommend is not None
        with self.live.lock:
            graph, version = self.live.graph, self.live.version
            node = node_of(self.live, body.recommend)
            linked = graph.list_of(node)[0].astype(np.int64)
            most = min(1 + len(linked) + body.num_candidates, graph.num_nodes)
            scope = PprExtractor(topk=most)(graph, [node])
            best = scope.node_id[1:][np.argsort(-scope.score[1:], kind="stable")]
            free = best[~np.isin(best, linked)]
            if graph.directed:
                back = np.array([node not in graph.list_of(other)[0] for other in free.tolist()], bool)
                free = free[back]
            free = free[: body.num_candidates]
            pairs = np.stack((np.full(len(free), node), free), axis=1)
            found = [np.zeros(0, np.float32)]
            for start in range(0, len(pairs), self.limits.batch):
                part = check_pairs("links", graph, pairs[start : start + self.limits.batch])
                (scored,), _ = self.scorer.score([partial(_given, Asked(part))])
                if isinstance(scored, Exception):
                    raise scored
                assert scored.predictions.probability is not None
                found.append(scored.predictions.probability)
            names = graph.node_name
        scores = np.concatenate(found)
        order = np.argsort(-scores, kind="stable")[: body.top]
        rows = [
            {"id": int(free[at]), **({} if names is None else {"name": names[int(free[at])]}), "probability": float(p)}
            for at, p in zip(order.tolist(), scores[order].tolist(), strict=True)
        ]
        return {"recommended": rows, "num_candidates": len(free), **self._versions(version)}

    def _commit(self, jobs: Sequence[Job[Wish]]) -> None:
        """Commit all waiting updates together."""
        try:
            results = self.live.commit([job.work for job in jobs])
        except WriteError:
            self.metrics.updates.labels("failed").inc(len(jobs))
            raise
        for job, result in zip(jobs, results, strict=True):
            refused = isinstance(result, Exception)
            self.metrics.updates.labels("refused" if refused else "made").inc()
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)


def _given(asked: Asked, live: LiveGraph) -> Asked:
    return asked


def _finish(job: Job[Any], answer: Callable[[], Any]) -> None:
    try:
        job.future.set_result(answer())
    except BaseException as error:
        job.future.set_exception(error)


def _check_count(owner: str, name: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        raise ValueError(f"{owner}: {name} must be from {least} to {most}, got {count}")
