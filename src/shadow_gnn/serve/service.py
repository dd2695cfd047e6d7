"""Service: runs on a live graph, with one thread that predicts and a writer for updates.

Not for: HTTP (app.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.extract import PprExtractor, Seeds
from shadow_gnn.extract.retrieval import retrieve
from shadow_gnn.graph.changes.live_graph import LiveGraph, Made
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.serve.answers import explanation_answer, prediction_rows, scope_answer
from shadow_gnn.serve.following import Following
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.metrics import ServiceMetrics
from shadow_gnn.serve.requests import (
    AddNodesBody,
    ExplainBody,
    LinksBody,
    NewNode,
    PredictBody,
    RemoveEdgesBody,
    RetrieveBody,
    ScopeBody,
    SetEdgesBody,
)
from shadow_gnn.serve.resolve import UpdateBody, new_nodes_update, node_of, nodes_of
from shadow_gnn.serve.scoring import Ask, Asked, Scored, Scorer
from shadow_gnn.serve.served_run import ServedRun
from shadow_gnn.serve.waiting import Job, WaitingWork
from shadow_gnn.serve.writer import LocalWriter, Writer
from shadow_gnn.studies.explain.on_batches import default_method
from shadow_gnn.tasks.links.pairs import check_pairs

Answer = dict[str, Any]
OpenRun = Callable[[str, Graph], ServedRun]
"""Opens a run by its name on a stored graph."""
Reload = Callable[[str | None], Future[Answer]]


@dataclass(frozen=True, eq=False)
class _Score:
    """A request for predictions; several are answered in one batch."""

    ask: Ask
    run: str
    embedding: bool = False


@dataclass(frozen=True, eq=False)
class _Call:
    """A request that is answered by itself."""

    answer: Callable[[], Any]


class Service:
    """Everything that answers requests; its methods return futures and are called from the thread of HTTP."""

    def __init__(
        self,
        runs: Predictor | ServedRun | Mapping[str, ServedRun],
        log: Path | None = None,
        *,
        live: LiveGraph | None = None,
        writer: Writer | None = None,
        limits: Limits | None = None,
        note: Callable[[str], None] = lambda _: None,
        cached: int = 1000,
        open_run: OpenRun | None = None,
    ) -> None:
        """Replay the log and start the thread that predicts.

        runs: by name, the first one answers requests that name none. live: the graph with its updates; None to open it
        with the log. writer: takes updates; None for one in this process. open_run: opens a run again by its name and
        the stored graph, for reload.
        """
        if isinstance(runs, Predictor):
            runs = ServedRun((runs,))
        named = {"default": runs} if isinstance(runs, ServedRun) else dict(runs)
        self.limits, self.metrics = limits or Limits(), ServiceMetrics()
        graph = next(iter(named.values())).first.opened_graph
        self.live = LiveGraph(graph, log, note=note) if live is None else live
        self.writer: Writer = LocalWriter(self.live, self.limits, note=note) if writer is None else writer
        self.reload: Reload = self.reload_here
        """Reads runs again, in all processes of the service."""
        self.reload_listeners: list[Callable[[], object]] = []
        """Called when runs were read again."""
        self._cached, self._open_run, self._opening = cached, open_run, threading.Lock()
        self.scorers = {name: Scorer(run, self.live, cached=cached) for name, run in named.items()}
        self._work: WaitingWork[_Score | _Call] = WaitingWork(
            "predict", self._answer, most_waiting=self.limits.queue, most_size=self.limits.batch
        )
        if isinstance(self.writer, LocalWriter):
            self.writer.beside_predictions = lambda: self._work.busy
        self.ready = True

    @property
    def scorer(self) -> Scorer:
        """The first run on the live graph."""
        return next(iter(self.scorers.values()))

    @property
    def predictor(self) -> Predictor:
        """The model of the first run, of a hybrid its normal GNN."""
        return self.scorer.run.first

    def close(self) -> None:
        """Take no more requests, finish those that wait, and close the log."""
        self.ready = False
        self.writer.close()
        self._work.drain()
        self.live.close()

    def reload_here(self, name: str | None) -> Future[Answer]:
        """Read a run again from its folder, or all of them; requests are answered by the old one until then."""
        names = list(self.scorers) if name is None else [self._name(name)]
        if self._open_run is None:
            raise ValueError("reload: service must have been started from run folders")
        return in_thread("reload", lambda: self._reload(names))

    def _reload(self, names: Sequence[str]) -> Answer:
        assert self._open_run is not None
        with self._opening:
            try:
                found = {name: self._open_run(name, self.live.stored) for name in names}
            except (ShadowError, OSError) as error:
                raise ValueError(f"reload: {error}") from error
            for name, run in found.items():
                before, after = (one.first.trained.config.target for one in (self.scorers[name].run, run))
                if after != before:
                    raise ValueError(f"reload: run {name} must predict {before} as before, it predicts {after}")
            for name, run in found.items():
                with self.live.lock:
                    old, self.scorers[name] = self.scorers[name], Scorer(run, self.live, cached=self._cached)
                    old.close()
        for listener in self.reload_listeners:
            listener()
        return self.state()

    def state(self) -> Answer:
        """Return the versions of runs, graph and graph folder, and the size of the graph."""
        graph = self.live.graph
        return {
            "runs": {name: {"model_version": scorer.run.version} for name, scorer in self.scorers.items()},
            "graph_version": self.live.version,
            "num_nodes": graph.num_nodes,
            "num_edges": graph.num_edges,
            "folder_version": self.live.folder_version,
            "follows": isinstance(self.writer, Following),
        }

    def predict(self, body: PredictBody) -> Future[Answer]:
        """Predict known and new nodes."""
        name, count = self._name(body.run), len(body.nodes) + len(body.new_nodes)
        run = self.scorers[name].run
        if run.first.is_links:
            raise ValueError("predict: run must be one that predicts nodes, this one predicts links; use /v1/links")
        if body.embedding and run.hybrid is not None:
            raise ValueError("predict: embedding must be left out for a hybrid, which has two models")
        _check_count("predict", "nodes and new_nodes", count, 1, self.limits.nodes)
        self._check_new("predict", body.new_nodes)

        def ask(live: LiveGraph) -> Asked:
            return _asked(live, body.nodes, body.new_nodes)

        def answer(scored: Scored) -> Answer:
            return {"predictions": prediction_rows(scored, self.live), **_versions(name, scored)}

        return self._scored(name, ask, answer, count, embedding=body.embedding)

    def explain(self, body: ExplainBody) -> Future[Answer]:
        """Explain the prediction of a known node, a new one or a pair."""
        name = self._name(body.run)
        run = self.scorers[name].run
        links = run.first.is_links
        if any(default_method(member.trained.model) == "occlusion" for member in run.members):
            raise ValueError(
                "explain: run must have layers that gradients explain, those of PyG and transformer take long; "
                "use `shadow explain`"
            )
        if links and (body.pair is None or body.node is not None or body.new_nodes or body.class_ is not None):
            raise ValueError("explain: request must have a pair alone, as the run predicts links")
        if not links and (body.pair is not None or (body.node is None and not body.new_nodes)):
            raise ValueError("explain: request must have a node or new_nodes, and no pair")
        self._check_new("explain", body.new_nodes)

        def ask(live: LiveGraph) -> Asked:
            if body.pair is not None:
                return Asked(check_pairs("explain", live.graph, nodes_of(live, body.pair)[None]))
            return _asked(live, [] if body.node is None else [body.node], body.new_nodes)

        def answer() -> Answer:
            found = self.scorers[name].explain(ask, body.class_)
            return {**explanation_answer(found, self.live, body.top), **_versions(name, found.scored)}

        return self._work.submit(_Call(answer))

    def links(self, body: LinksBody) -> Future[Answer]:
        """Score pairs, or recommend new neighbors of a node."""
        name = self._name(body.run)
        first = self.scorers[name].run.first
        if not first.is_links:
            kind = first.trained.config.target
            raise ValueError(f"links: run must be one that predicts links, this one predicts {kind}")
        if bool(body.pairs) == (body.recommend is not None):
            raise ValueError("links: request must have pairs or recommend, and not both")
        if body.recommend is not None:
            _check_count("links", "num_candidates", body.num_candidates, 1, self.limits.topk)
            return self._work.submit(_Call(lambda: self._recommend(name, body)), self.limits.batch)
        _check_count("links", "pairs", len(body.pairs), 1, self.limits.nodes)

        def ask(live: LiveGraph) -> Asked:
            pairs = np.stack([nodes_of(live, pair) for pair in body.pairs])
            return Asked(check_pairs("links", live.graph, pairs))

        def answer(scored: Scored) -> Answer:
            probability = scored.predictions.probability
            assert probability is not None
            return {"probabilities": probability.tolist(), **_versions(name, scored)}

        return self._scored(name, ask, answer, len(body.pairs))

    def scope(self, body: ScopeBody) -> Future[Answer]:
        """Show the scope of a node, as the model sees it."""
        name = self._name(body.run)
        sources = self.scorers[name].sources
        if body.branch >= len(sources):
            raise ValueError(f"scope: branch must be below {len(sources)}, got {body.branch}")

        def answer() -> Answer:
            with self.live.lock:
                node, source = node_of(self.live, body.node), sources[body.branch]
                extractor = source.extractor.with_common(hide="none", edge_pos=False)
                scope = extractor(self.live.graph, [node], seed=source.seed)
                return {**scope_answer(scope, self.live), "run": name, "graph_version": self.live.version}

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
                versions = {"graph_version": self.live.version}
                if body.format == "text":
                    return {"text": "\n".join(found.lines(names, body.relation)), **versions}
                return {"nodes": found.rows(names), "edges": found.edges.tolist(), **versions}

        return self._work.submit(_Call(answer))

    def update(self, body: UpdateBody) -> Future[Made]:
        """Change the graph; done when the change is safe, and visible to every later prediction."""
        limits = self.limits
        if isinstance(body, (SetEdgesBody, RemoveEdgesBody)):
            _check_count("edges", "edges", len(body.edges), 1, limits.update_edges)
        else:
            _check_count("nodes", "nodes", len(body.nodes), 1, limits.update_nodes)
        if isinstance(body, AddNodesBody):
            edges = sum(len(node.edges) for node in body.nodes)
            _check_count("nodes", "edges of all nodes", edges, 0, limits.update_edges)
        found = self.writer.update(body)
        found.add_done_callback(self._count)
        return found

    def _count(self, found: Future[Made]) -> None:
        error = None if found.cancelled() else found.exception()
        result = "made" if error is None else "refused" if isinstance(error, ValueError) else "failed"
        self.metrics.updates.labels(result).inc()

    def show_metrics(self) -> bytes:
        """Return the metrics, with those of the graph as it is."""
        metrics, graph = self.metrics, self.live.graph
        metrics.queue.set(len(self._work) + len(self.writer))
        caches = [cache for scorer in self.scorers.values() for cache in scorer.caches]
        metrics.cache.labels("yes").set(sum(cache.hits for cache in caches))
        metrics.cache.labels("no").set(sum(cache.misses for cache in caches))
        metrics.version.set(self.live.version)
        metrics.nodes.set(graph.num_nodes)
        metrics.edges.set(graph.num_edges)
        metrics.changed.set(graph.changes.num_rows)
        return metrics.text()

    def _name(self, given: str | None) -> str:
        """Return the name of the run that a request is for."""
        if given is None:
            return next(iter(self.scorers))
        if given not in self.scorers:
            raise ValueError(f"run: must be one of {', '.join(self.scorers)}, got {given!r:.80}")
        return given

    def _check_new(self, owner: str, nodes: Sequence[NewNode]) -> None:
        _check_count(owner, "new_nodes", len(nodes), 0, self.limits.new_nodes)
        most = max((len(node.edges) for node in nodes), default=0)
        _check_count(owner, "edges of a new node", most, 0, self.limits.node_edges)

    def _scored(
        self, name: str, ask: Ask, answer: Callable[[Scored], Answer], count: int, *, embedding: bool = False
    ) -> Future[Answer]:
        done: Future[Answer] = Future()
        waiting = self._work.submit(_Score(ask, name, embedding), count)

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
        groups: dict[tuple[str, bool], list[Job[Any]]] = {}
        for job in jobs:
            if isinstance(job.work, _Score):
                groups.setdefault((job.work.run, job.work.embedding), []).append(job)
        for (name, embedding), group in groups.items():
            try:
                self._score(name, group, embedding)
            except BaseException as error:  # Requests of other runs are answered.
                for job in group:
                    if not job.future.done():
                        job.future.set_exception(error)

    def _score(self, name: str, jobs: Sequence[Job[Any]], embedding: bool) -> None:
        results, stages = self.scorers[name].score([job.work.ask for job in jobs], embedding=embedding)
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

    def _recommend(self, name: str, body: LinksBody) -> Answer:
        """Score the candidates with the highest PPR that are not linked yet; see inference/recommendations.py."""
        assert body.recommend is not None
        with self.live.lock:
            graph, scorer = self.live.graph, self.scorers[name]
            versions = {"run": name, "model_version": scorer.run.version, "graph_version": self.live.version}
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
                (scored,), _ = scorer.score([partial(_given, Asked(part))])
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
        return {"recommended": rows, "num_candidates": len(free), **versions}


def _given(asked: Asked, live: LiveGraph) -> Asked:
    return asked


def _versions(name: str, scored: Scored) -> Answer:
    return {"run": name, "model_version": scored.run_version, "graph_version": scored.version}


def _asked(live: LiveGraph, nodes: Sequence[int | str], new_nodes: Sequence[NewNode]) -> Asked:
    """Return known nodes and then new ones as targets."""
    first = live.graph.num_nodes
    new = np.arange(first, first + len(new_nodes))
    update = new_nodes_update(live, new_nodes, first, needs_names=False) if len(new) else None
    return Asked(np.concatenate((nodes_of(live, nodes), new))[:, None], update)


def in_thread(name: str, work: Callable[[], Answer]) -> Future[Answer]:
    """Do work that takes long in a thread of its own."""
    job: Job[None] = Job(None)
    threading.Thread(target=_finish, args=(job, work), name=name, daemon=True).start()
    return job.future


def _finish(job: Job[Any], answer: Callable[[], Any]) -> None:
    try:
        job.future.set_result(answer())
    except BaseException as error:
        job.future.set_exception(error)


def _check_count(owner: str, name: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        raise ValueError(f"{owner}: {name} must be from {least} to {most}, got {count}")
